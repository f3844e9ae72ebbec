package httpapi

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// limited is a server with these limits, which counts what it does.
func limited(t *testing.T, b limit.Bounds) (w *world, ann, bot string) {
	t.Helper()
	set := metrics.New()
	w, ann, bot = conversation(t, func(o *Options) {
		o.Limits, o.Metrics = limit.NewPrincipals(b, set), set
	})
	return w, ann, bot
}

// counted fails unless the metrics hold a line.
func (w *world) counted(line string) {
	w.Helper()
	text := string(w.do(w.admin, "GET", "/metrics", nil).wants(200).body)
	if !strings.Contains("\n"+text, "\n"+line+"\n") {
		w.Errorf("the metrics lack the line %q; they have\n%s", line, text)
	}
}

// A caller that calls too often gets an error that says when to come again; others and
// admins go on meanwhile.
func TestCallsAreLimited(t *testing.T) {
	w, ann, bot := limited(t, limit.Bounds{CallsPerSecond: .5})
	refused := 0
	for range 20 {
		a := w.do(bot, "GET", base+"/spaces", nil)
		if a.status == http.StatusOK {
			continue
		}
		refused++
		p := a.refuses(shoal.RateLimited)
		seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
		if err != nil || seconds < 1 || seconds > 2 || !strings.Contains(p.Detail, "Wait 1.") && !strings.Contains(p.Detail, "Wait 2") {
			t.Errorf("Retry-After %q, %q: want about two seconds", a.header.Get("Retry-After"), p.Detail)
		}
	}
	if refused < 14 { // five at once, and one in two seconds
		t.Errorf("%d of 20 calls were refused, want 15", refused)
	}
	w.do(ann, "GET", base+"/spaces", nil).wants(200)
	for range 20 {
		w.do(w.admin, "GET", base+"/spaces", nil).wants(200)
	}
	w.counted(`shoal_limited_total{limit="calls_per_second"} ` + strconv.Itoa(refused))
	w.counted(`shoal_rest_calls_total{route="GET /v1/sessions/{session}/spaces",status="429"} ` + strconv.Itoa(refused))
}

// The number of concurrent calls of one caller is limited. Its waits and streams do not
// count, and other callers are not affected.
func TestCallsUnderWayAreLimited(t *testing.T) {
	w, ann, bot := limited(t, limit.Bounds{CallsEach: 2, StreamsEach: 20})
	stream := w.follow(bot, shopEvents)
	stream.wants("snapshot")
	caller := shoal.Principal{SessionID: shoal.DefaultSession, EntityID: "bot", Role: shoal.RoleEntity}
	for range 2 { // as two calls that are being answered do
		w.must(w.api.Limits.Begin(caller))
	}
	w.do(bot, "GET", base+"/spaces", nil).refuses(shoal.RateLimited)
	w.do(ann, "GET", base+"/spaces", nil).wants(200)
	w.wait(bot, `{"kind": "messages", "timeoutMs": 0}`)
	w.api.Limits.End(caller)
	w.do(bot, "GET", base+"/spaces", nil).wants(200)
	w.api.Limits.End(caller)
	w.counted(`shoal_limited_total{limit="calls_each"} 1`)
}

// All callers together have so many calls under way; one more gets an error
// instead of delaying everybody.
func TestAllCallsUnderWayAreLimited(t *testing.T) {
	w, ann, bot := limited(t, limit.Bounds{CallsEach: 2, Calls: 2, StreamsEach: 20})
	caller := shoal.Principal{SessionID: shoal.DefaultSession, EntityID: "bot", Role: shoal.RoleEntity}
	for range 2 {
		for w.api.Limits.Begin(caller) != nil && t.Context().Err() == nil { // a call of the setting may be ending
		}
	}
	a := w.do(ann, "GET", base+"/spaces", nil)
	if a.refuses(shoal.Busy); a.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
	}
	w.follow(ann, shopEvents).wants("snapshot")
	w.wait(bot, `{"kind": "messages", "timeoutMs": 0}`)
	w.api.Limits.End(caller)
	w.do(ann, "GET", base+"/spaces", nil).wants(200)
}

// All callers together have so many streams open.
func TestAllStreamsAreLimited(t *testing.T) {
	w, ann, bot := limited(t, limit.Bounds{StreamsEach: 2, Streams: 3})
	one, two := w.follow(bot, shopEvents), w.follow(bot, shopEvents)
	one.wants("snapshot")
	two.wants("snapshot")
	w.do(bot, "GET", shopEvents, nil).refuses(shoal.RateLimited)
	w.follow(ann, shopEvents).wants("snapshot")
	a := w.do(ann, "GET", shopEvents, nil)
	if a.refuses(shoal.Busy); a.header.Get("Retry-After") == "" {
		t.Error("503 has no Retry-After")
	}
	w.counted("shoal_streams_open 3")
	w.counted(`shoal_limited_total{limit="streams"} 1`)
	one.cancel()
	w.until("a stream has gone", func() bool { return w.streams() == 2 })
	w.follow(ann, shopEvents).wants("snapshot")
}

// A call is found in the log, in its answer and in a problem by one id, which the
// client may choose.
func TestOneRequestID(t *testing.T) {
	w, _, bot := conversation(t)
	a := w.do(bot, "GET", base+"/spaces/none", nil, "X-Request-Id", "trace-7f")
	if p := a.refuses(shoal.NotFound); p.RequestID != "trace-7f" || a.header.Get("X-Request-Id") != "trace-7f" {
		t.Errorf("the problem says %q, the header %q", p.RequestID, a.header.Get("X-Request-Id"))
	}
	w.until("the call is logged", func() bool { return strings.Contains(w.log.String(), "request=trace-7f") })
	a = w.do(bot, "PUT", base+"/spaces", `{}`)
	if p := into[problem](a); p.RequestID == "" || p.RequestID != a.header.Get("X-Request-Id") {
		t.Errorf("405: the problem says %q, the header %q", p.RequestID, a.header.Get("X-Request-Id"))
	}
}

// The figures are of routes, never of things: no id that a caller has chosen is
// among them.
func TestMetricsNameNobody(t *testing.T) {
	w, ann, bot := limited(t, limit.DefaultBounds)
	w.post(ann, "shop", "hello", "bot")
	w.wait(bot, `{"kind": "messages", "timeoutMs": 1000}`)
	w.do(bot, "GET", base+"/spaces/shop", nil).wants(200)
	w.do(bot, "GET", "/nowhere/canary", nil).refuses(shoal.NotFound)
	began := time.Now()
	var text string
	w.until("the wait is counted", func() bool {
		text = string(w.do(w.admin, "GET", "/metrics", nil).wants(200).body)
		return strings.Contains(text, `/wait",status="200"} 1`) || time.Since(began) > patience
	})
	for _, name := range []string{"shop", "ann", "bot", "canary", "key_"} {
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "#") && strings.Contains(strings.ReplaceAll(line, "shoal_", ""), name) && !strings.Contains(line, `tool="`) {
				t.Errorf("%q is in %s", name, line)
			}
		}
	}
	w.counted(`shoal_rest_calls_total{route="none",status="404"} 1`)
}
