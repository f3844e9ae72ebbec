package mcpapi_test

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// A call of a tool that is over a limit is a result like every failure of a tool,
// in both eras; anything else is refused with 429.
func TestCallsAreLimited(t *testing.T) {
	set := metrics.New()
	w := newWorld(t, func(w *world) {
		w.opts.Limits, w.opts.Metrics = limit.NewPrincipals(limit.Bounds{CallsPerSecond: .01, StreamsEach: 20}, set), set
	})
	ann := w.key("ann")
	ask := func(body string, header ...string) (int, http.Header, string) {
		t.Helper()
		status, h, text, err := w.post(t.Context(), ann, body, header...)
		if err != nil {
			t.Fatal(err)
		}
		return status, h, text
	}
	if status, _, text := ask(rpc(1, "list_agents", nil)); status != 200 || strings.Contains(text, "rate_limited") {
		t.Fatalf("the first call: %d %s", status, text)
	}
	body, header := modernRPC(7, "list_agents", inputs{})
	for name, call := range map[string]func() (int, http.Header, string){
		"the older era": func() (int, http.Header, string) { return ask(rpc(7, "list_agents", nil)) },
		"the newer era": func() (int, http.Header, string) {
			return ask(body, header...)
		},
	} {
		status, h, text := call()
		if status != 200 || !strings.Contains(text, `"isError":true`) || !strings.Contains(text, `"rate_limited: You make more calls`) ||
			!strings.Contains(text, `"id":7`) || h.Get("Retry-After") == "" || strings.Contains(text, "structuredContent") {
			t.Errorf("%s: %d %s %s", name, status, h, text)
		}
	}
	status, h, text := ask(rpcMethod(8, "tools/list", nil))
	if status != http.StatusTooManyRequests || !strings.Contains(text, "rate_limited: ") || h.Get("Retry-After") == "" {
		t.Errorf("tools/list: %d %s %s", status, h, text)
	}
	if status, _, text, err := w.post(t.Context(), w.key("bob"), rpc(1, "list_agents", nil)); err != nil || strings.Contains(text, "rate_limited") {
		t.Errorf("somebody else: %d %s %v", status, text, err)
	}
	var figures strings.Builder
	if err := set.Write(&figures); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`shoal_mcp_calls_total{tool="list_agents",outcome="rate_limited"} 2`, `shoal_mcp_calls_total{tool="list_agents",outcome="ok"} 2`,
		`shoal_mcp_seconds_count{tool="list_agents"} 4`, `shoal_limited_total{limit="calls_per_second"} 3`,
	} {
		if !strings.Contains(figures.String(), line+"\n") {
			t.Errorf("the metrics lack %s:\n%s", line, figures.String())
		}
	}
}

// A wait for agents is one of the calls that are under way: nothing else bounds
// how many of them one caller has. Waits of the inbox have a bound of their own.
func TestWaitsForAgentsAreLimited(t *testing.T) {
	set := metrics.New()
	w := newWorld(t, func(w *world) { w.opts.Limits = limit.NewPrincipals(limit.Bounds{CallsEach: 1}, set) })
	ann := w.key("ann")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	left := make(chan struct{})
	go func() {
		defer close(left)
		_, _, text, err := w.post(ctx, ann, rpc(1, "wait_for_agents", inputs{"count": 9, "timeoutMs": 60_000}))
		if err == nil {
			t.Errorf("the first wait ends with %s", text)
		}
	}()
	figures := func() string {
		var text strings.Builder
		if err := set.Write(&text); err != nil {
			t.Error(err)
		}
		return text.String()
	}
	for !strings.Contains(figures(), "shoal_calls_under_way 1\n") && t.Context().Err() == nil {
		runtime.Gosched()
	}
	for tool, refused := range map[string]bool{"wait_for_agents": true, "list_agents": true, "wait_for_mentions": false} {
		in := inputs{"timeoutMs": 0, "count": 9}
		if tool != "wait_for_agents" {
			delete(in, "count")
		}
		if tool == "list_agents" {
			in = inputs{}
		}
		_, _, text, err := w.post(t.Context(), ann, rpc(2, tool, in))
		if err != nil || strings.Contains(text, `"rate_limited: You have 1 calls under way`) != refused {
			t.Errorf("%s: %v %s, want it refused: %v", tool, err, text, refused)
		}
	}
	leave()
	<-left
}
