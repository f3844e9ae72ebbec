package mcpapi_test

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"sync"
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

// A wait for agents counts as one of its caller's four waits, not as one of its concurrent
// calls: a fifth wait of any kind ends the oldest as timed out.
func TestWaitsForAgentsAreWaits(t *testing.T) {
	w := newWorld(t, func(w *world) {
		w.opts.Limits = limit.NewPrincipals(limit.Bounds{CallsEach: 1, Calls: 1}, metrics.New())
	})
	ann := w.key("ann")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	ended := make(chan string, 8)
	var all sync.WaitGroup
	for i := range 4 {
		tool, in := "wait_for_agents", inputs{"count": 9, "timeoutMs": 60_000}
		if i == 2 {
			tool, in = "wait_for_mentions", inputs{"timeoutMs": 60_000}
		}
		all.Go(func() {
			if _, _, text, err := w.post(ctx, ann, rpc(10+i, tool, in)); err == nil {
				ended <- text
			}
		})
		for w.hub.Inbox.Waits().Count() <= int64(i) && t.Context().Err() == nil {
			runtime.Gosched()
		}
	}
	if _, _, text, err := w.post(t.Context(), ann, rpc(2, "list_agents", inputs{})); err != nil || !strings.Contains(text, "ID: ann") {
		t.Errorf("beside four waits: %v %s", err, text)
	}
	all.Go(func() {
		if _, _, text, err := w.post(ctx, ann, rpc(14, "wait_for_agents", inputs{"agentIds": []string{"late"}, "timeoutMs": 60_000})); err == nil {
			ended <- text
		}
	})
	if text := <-ended; !strings.Contains(text, `"id":10`) || !strings.Contains(text, `"timedOut":true`) {
		t.Errorf("the fifth wait ends %s, want the first as timed out", text)
	}
	w.key("late") // an id that nobody had when the wait began
	if _, _, text, err := w.post(t.Context(), w.key("late"), rpc(3, "register_agent", inputs{})); err != nil || strings.Contains(text, `"isError":true`) {
		t.Errorf("late registers: %v %s", err, text)
	}
	if text := <-ended; !strings.Contains(text, `"id":14`) || !strings.Contains(text, `"timedOut":false`) {
		t.Errorf("when late has come, %s ends", text)
	}
	leave()
	all.Wait()
}
