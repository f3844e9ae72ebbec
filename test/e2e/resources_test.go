package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
)

// An agent can read resources without a tool, and is notified of their changes.
func TestResources(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	for _, with := range []client{ts1HTTP, ts1SSE, ts1Stdio, ts2Session, ts2Modern, ts2Stdio} {
		t.Run(with.name, func(t *testing.T) {
			t.Parallel()
			p := meet(t, s, with)
			a := p.agent.(*nodeAgent)
			ask := func(line map[string]any) string {
				t.Helper()
				_, done := a.order(t, line)
				res := (&call{"a resource", done, nil}).answer(t)
				if res.Text != "" && with.era == "modern" && res.CacheScope != "private" {
					t.Errorf("%v may be cached by everybody on the way: its scope is %q", line, res.CacheScope)
				}
				return res.Text
			}
			thread := "shoal://threads/" + string(p.id)
			if me := ask(map[string]any{"read": "shoal://me"}); !contains(me, string(p.id)) {
				t.Errorf("shoal://me is %s", me)
			}
			if threads := ask(map[string]any{"read": "shoal://threads"}); !contains(threads, string(p.id), "A pair") {
				t.Errorf("shoal://threads is %s", threads)
			}
			ask(map[string]any{"subscribe": thread})
			p.post("please check")
			select {
			case uri := <-a.updated:
				if uri != thread {
					t.Errorf("%s is said to have changed, want %s", uri, thread)
				}
			case <-time.After(patience):
				t.Fatalf("nobody says that %s has changed", thread)
			}
			var page, rest struct{ Items []shoal.Message }
			if err := json.Unmarshal([]byte(ask(map[string]any{"read": thread})), &page); err != nil {
				t.Fatal(err)
			}
			s.rest(t, http.MethodGet, p.space+"/messages", nil, &rest)
			if diff := cmp.Diff(rest.Items, page.Items); diff != "" || len(page.Items) != 1 {
				t.Errorf("%s differs from REST (-REST +MCP):\n%s", thread, diff)
			}
		})
	}
}
