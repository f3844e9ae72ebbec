package httpapi

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
)

// conversation is a world with ann and bot in the space shop.
func conversation(t testing.TB, change ...func(*Options)) (w *world, ann, bot string) {
	t.Helper()
	w = newWorld(t, change...)
	ann, bot = w.entity("default", "ann"), w.entity("default", "bot")
	w.space(ann, "shop", "bot")
	return w, ann, bot
}

// wait makes bot wait.
func (w *world) wait(bot, body string) shoal.WaitResult {
	w.Helper()
	return into[shoal.WaitResult](w.do(bot, "POST", base+"/entities/bot/wait", body).wants(200))
}

// delivered lists the texts and delivery counts of a wait's answer.
func delivered(r shoal.WaitResult) string {
	var out []string
	for _, item := range r.Items {
		for _, m := range item.Messages {
			out = append(out, fmt.Sprintf("%s/%d", m.Text(), m.Delivery))
		}
	}
	return strings.Join(out, " ")
}

// opened returns once bot's open wait that ends last ends at or after a time.
func (w *world) opened(secret string, ends time.Time) {
	w.Helper()
	w.until("bot waits", func() bool {
		e := into[shoal.Entity](w.do(secret, "GET", base+"/entities/bot", nil).wants(200))
		return e.WaitEndsAt != nil && !e.WaitEndsAt.Before(ends)
	})
}

// until asks again and again until it is so.
func (w *world) until(what string, so func() bool) {
	w.Helper()
	limit := time.After(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-limit:
			w.Fatalf("not within %v: %s", patience, what)
		case <-tick.C:
		}
	}
}

func TestWaitAnswersAtOnceWithWhatIsThere(t *testing.T) {
	w, ann, bot := conversation(t)
	w.post(ann, "shop", "one", "bot")
	w.post(ann, "shop", "two")
	if got := w.wait(bot, `{"kind": "mentions"}`); delivered(got) != "one/1" || got.TimeoutMs != 30000 || got.TimedOut {
		t.Errorf("mentions: %s %+v", delivered(got), got)
	}
	if got := w.wait(bot, `{"kind": "messages", "timeoutMs": 1e999}`); delivered(got) != "two/1" || got.TimeoutMs != 600000 {
		t.Errorf("messages: %s %+v", delivered(got), got)
	}
}

func TestWaitTimesOut(t *testing.T) {
	w, _, bot := conversation(t)
	for _, timeout := range []string{"0", "-7", "0.5", "25"} {
		a := w.do(bot, "POST", base+"/entities/bot/wait", `{"kind": "mentions", "timeoutMs": `+timeout+`}`).wants(200)
		if got := into[shoal.WaitResult](a); !got.TimedOut || got.Cursor != nil || !strings.Contains(string(a.body), `"items":[]`) {
			t.Errorf("timeoutMs %s: %s", timeout, a.body)
		}
	}
}

func TestWaitIsWokenByAMessage(t *testing.T) {
	w, ann, bot := conversation(t)
	got := make(chan shoal.WaitResult)
	go func() { got <- w.wait(bot, `{"kind": "mentions", "timeoutMs": 60000}`) }()
	w.opened(ann, time.Now())
	w.post(ann, "shop", "not for bot")
	w.post(ann, "shop", "for bot", "bot")
	if r := <-got; delivered(r) != "for bot/1" {
		t.Errorf("the wait answers %s", delivered(r))
	}
}

func TestWaitNarrowed(t *testing.T) {
	w, ann, bot := conversation(t)
	cam := w.entity("default", "cam")
	w.space(cam, "other", "bot")
	w.post(cam, "other", "from cam")
	w.post(ann, "shop", "from ann")
	if got := delivered(w.wait(bot, `{"kind": "messages", "from": ["ann"], "timeoutMs": 0}`)); got != "from ann/1" {
		t.Errorf("from ann: %s", got)
	}
	if got := delivered(w.wait(bot, `{"kind": "messages", "spaceId": "other", "timeoutMs": 0}`)); got != "from cam/1" {
		t.Errorf("in other: %s", got)
	}
	w.do(ann, "POST", base+"/entities/ann/wait", `{"kind": "messages", "spaceId": "other"}`).refuses(shoal.NotFound)
}

// Waiting again acknowledges the previous answer, unless it is asked for again.
func TestWaitAcknowledgesImplicitly(t *testing.T) {
	w, ann, bot := conversation(t)
	w.post(ann, "shop", "one", "bot")
	const again = `{"kind": "mentions", "timeoutMs": 0, "redeliver": true}`
	const next = `{"kind": "mentions", "timeoutMs": 0}`
	for i, step := range []struct{ ask, want string }{
		{next, "one/1"}, {again, "one/2"}, {again, "one/3"}, {next, ""}, {again, ""},
	} {
		if got := delivered(w.wait(bot, step.ask)); got != step.want {
			t.Errorf("step %d answers %q, want %q", i, got, step.want)
		}
	}
}

// A cursor handed back acknowledges exactly its batch, and from then on nothing
// is acknowledged in any other way.
func TestWaitAcknowledgesByCursor(t *testing.T) {
	w, ann, bot := conversation(t)
	w.post(ann, "shop", "one", "bot")
	first := w.wait(bot, `{"kind": "mentions"}`)
	w.post(ann, "shop", "two", "bot")
	second := w.wait(bot, `{"kind": "mentions", "ack": "`+*first.Cursor+`"}`)
	if delivered(second) != "two/1" {
		t.Fatalf("after the acknowledgement: %s", delivered(second))
	}
	if got := delivered(w.wait(bot, `{"kind": "mentions", "timeoutMs": 0}`)); got != "two/2" {
		t.Errorf("without a cursor: %q", got)
	}
	if got := delivered(w.wait(bot, `{"kind": "mentions", "timeoutMs": 0, "ack": "`+*second.Cursor+`"}`)); got != "" {
		t.Errorf("after the second acknowledgement: %q", got)
	}
}

// A client that hangs up while waiting has acknowledged nothing and misses nothing.
func TestWaitEndsWithItsConnection(t *testing.T) {
	w, ann, bot := conversation(t)
	w.post(ann, "shop", "before", "bot")
	w.wait(bot, `{"kind": "mentions"}`)

	// This call acknowledges the answer above, then blocks.
	conn := w.raw(bot, base+"/entities/bot/wait", `{"kind": "mentions", "timeoutMs": 60000}`)
	w.opened(ann, time.Now())
	w.must(conn.Close())
	w.until("the wait has ended", func() bool {
		return into[shoal.Entity](w.do(ann, "GET", base+"/entities/bot", nil)).WaitEndsAt == nil
	})
	w.post(ann, "shop", "after", "bot")
	if got := delivered(w.wait(bot, `{"kind": "mentions"}`)); got != "after/1" {
		t.Errorf("the next wait answers %q", got)
	}
}

// raw sends a POST over a connection of its own and reads nothing.
func (w *world) raw(secret, path, body string) net.Conn {
	w.Helper()
	conn, err := net.Dial("tcp", w.server.Listener.Addr().String())
	w.must(err)
	w.Cleanup(func() { conn.Close() })
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		path, secret, len(body), body)
	w.must(err)
	return conn
}

// brokenConn is a client whose connection breaks while the answer is written.
type brokenConn struct {
	*httptest.ResponseRecorder
	writeErr, flushErr error
	onFlush            func()
}

func (b *brokenConn) Write(p []byte) (int, error) {
	if b.writeErr != nil {
		return 0, b.writeErr
	}
	return b.ResponseRecorder.Write(p)
}

func (b *brokenConn) FlushError() error {
	if b.onFlush != nil {
		b.onFlush()
	}
	return b.flushErr
}

func (*brokenConn) SetReadDeadline(time.Time) error  { return nil }
func (*brokenConn) SetWriteDeadline(time.Time) error { return nil }

// An answer counts as read only if it was written whole on a connection that
// was still open; otherwise the next wait gives it again.
func TestWaitKeepsWhatWasNotWrittenWhole(t *testing.T) {
	w, ann, bot := conversation(t)
	w.post(ann, "shop", "one", "bot")
	ctx, hangUp := context.WithCancel(t.Context())
	for i, conn := range []*brokenConn{
		{writeErr: io.ErrClosedPipe}, {flushErr: io.ErrClosedPipe}, {onFlush: hangUp},
	} {
		conn.ResponseRecorder = httptest.NewRecorder()
		r := w.request(ctx, bot, "POST", base+"/entities/bot/wait", `{"kind": "mentions"}`)
		r.RequestURI = r.URL.Path
		w.server.Config.Handler.ServeHTTP(conn, r)
		if conn.Code != http.StatusOK {
			t.Fatalf("case %d answers %d", i, conn.Code)
		}
	}
	if got := delivered(w.wait(bot, `{"kind": "mentions", "timeoutMs": 0}`)); got != "one/4" {
		t.Errorf("after three answers that were lost the wait answers %q", got)
	}
}

// A fifth wait ends the oldest as timed out; all others wake together.
func TestFifthWaitEndsTheOldest(t *testing.T) {
	w, ann, bot := conversation(t)
	results := make([]chan shoal.WaitResult, 5)
	for i := range results {
		results[i] = make(chan shoal.WaitResult, 1)
		timeout := time.Duration(i+1) * time.Minute
		ends := time.Now().Add(timeout - time.Second)
		go func() {
			results[i] <- w.wait(bot, fmt.Sprintf(`{"kind": "mentions", "timeoutMs": %d}`, timeout.Milliseconds()))
		}()
		w.opened(ann, ends)
	}
	if first := <-results[0]; !first.TimedOut || len(first.Items) != 0 {
		t.Errorf("the oldest wait answers %+v", first)
	}
	w.post(ann, "shop", "one", "bot")
	for i := 1; i < 5; i++ {
		if got := delivered(<-results[i]); got != "one/1" {
			t.Errorf("wait %d answers %q", i, got)
		}
	}
}

// A server that stops answers its waits instead of breaking them.
func TestStoppingEndsWaitsAsTimedOut(t *testing.T) {
	w, ann, bot := conversation(t)
	got := make(chan shoal.WaitResult)
	go func() { got <- w.wait(bot, `{"kind": "mentions", "timeoutMs": 60000}`) }()
	w.opened(ann, time.Now())
	w.hub.Stop()
	if r := <-got; !r.TimedOut {
		t.Errorf("the wait answers %+v", r)
	}
}

// A program that waits in order to wake a model does not make the entity look present: it stays offline, was never
// seen, and is not said to listen. What the program is given stays unread.
func TestWaitOfAdapter(t *testing.T) {
	w, ann, bot := conversation(t)
	w.do(bot, "GET", "/v1/me", nil).wants(200)
	got := make(chan shoal.WaitResult)
	go func() {
		got <- w.wait(bot, `{"kind": "mentions", "timeoutMs": 60000, "adapter": {"kind": "claude-hook", "sessionRef": "term-1"}}`)
	}()
	w.until("the program waits", func() bool { return w.hub.Inbox.Waits().Count() == 1 })
	m := into[shoal.Message](w.do(ann, "POST", base+"/spaces/shop/messages", `{"text": "one", "mentions": ["bot"]}`).wants(201))
	if len(m.Reach) != 1 || m.Reach[0].State != shoal.ReachUnknown {
		t.Errorf("the sender reads %+v", m.Reach)
	}
	if r := <-got; delivered(r) != "one/1" {
		t.Errorf("the program gets %s", delivered(r))
	}
	if e := into[shoal.Entity](w.do(ann, "GET", base+"/entities/bot", nil).wants(200)); e.State != shoal.Offline || e.LastSeenAt != nil {
		t.Errorf("bot is %s, seen %v", e.State, e.LastSeenAt)
	}
	if r := w.wait(bot, `{"kind": "mentions", "timeoutMs": 0}`); delivered(r) != "one/2" {
		t.Errorf("bot itself gets %s", delivered(r))
	}
	if e := into[shoal.Entity](w.do(ann, "GET", base+"/entities/bot", nil).wants(200)); e.State != shoal.Connected {
		t.Errorf("bot is %s after a wait of its own", e.State)
	}
	for _, wrong := range []string{`{}`, `{"kind": "no id"}`, `{"kind": "x", "sessionRef": "a\nb"}`, `{"kind": "x", "pid": 7}`} {
		w.do(bot, "POST", base+"/entities/bot/wait", `{"kind": "mentions", "timeoutMs": 0, "adapter": `+wrong+`}`).refuses(shoal.InvalidArgument)
	}
}
