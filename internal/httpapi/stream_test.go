package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/limit"
)

const shopEvents = base + "/spaces/shop/events"

// A fresh stream begins with what is there and goes on with what happens.
func TestStreamBeginsWithASnapshot(t *testing.T) {
	w, ann, bot := conversation(t)
	w.post(ann, "shop", "before")
	l := w.follow(bot, shopEvents)
	snapshot := data[shoal.SnapshotData](t, l.wants("snapshot"))
	if len(snapshot.Messages) != 1 || snapshot.Messages[0].Text() != "before" || len(snapshot.Members) != 2 ||
		snapshot.Space.UnreadCount != 1 || snapshot.Cursor == "" || string(snapshot.Cursor) != l.last {
		t.Errorf("the snapshot = %+v", snapshot)
	}
	posted := w.post(ann, "shop", "after", "bot")
	got := data[shoal.MessageData](t, l.wants("message.created"))
	if got.Message.ID != posted.ID || *got.SpaceID != "shop" || got.At.IsZero() {
		t.Errorf("the event = %+v", got)
	}
	w.entity("default", "cam")
	w.do(ann, "PUT", base+"/spaces/shop/members/cam", nil).wants(200)
	l.wants("member.joined", "message.created") // the message contains the entity that added cam
	w.do(ann, "DELETE", base+"/spaces/shop/members/cam", nil).wants(200)
	l.wants("member.left")
	w.do(ann, "PATCH", base+"/spaces/shop", `{"name": "Shop"}`).wants(200)
	l.wants("space.updated")
	w.do(ann, "POST", base+"/spaces/shop/close", `{"summary": "done"}`).wants(200)
	l.wants("message.created", "space.closed")
}

// Every event is what the OpenAPI document says.
func TestEventsAreDocumented(t *testing.T) {
	w, ann, _ := conversation(t)
	l := w.follow(ann, base+"/events")
	w.post(ann, "shop", "one")
	w.do(ann, "PATCH", base+"/entities/ann", `{"name": "Ann"}`).wants(200)
	w.do(ann, "POST", base+"/spaces/shop/close", `{"summary": "done"}`).wants(200)
	seen := map[string]bool{}
	for !seen["entity.updated"] || !seen["space.closed"] {
		ev, ok := l.take()
		if !ok {
			t.Fatal("the stream has ended")
		}
		if ev.comment != "" {
			continue
		}
		seen[ev.name] = true
		kind := data[shoal.EventHead](t, ev).Type
		if string(kind) != ev.name {
			t.Errorf("the event %s has the type %s", ev.name, kind)
		}
		// An entity's state passes by, and a follower that is cut off among the snapshots
		// must get them all again.
		if nameless := ev.name == "entity.updated" || ev.name == "delivery.updated" || ev.name == "snapshot"; nameless != (ev.id == "") {
			t.Errorf("the event %s has the id %q", ev.name, ev.id)
		}
		w.documentedEvent(ev, spaceEventTypes)
	}
	for _, name := range []string{"snapshot", "snapshot.end", "message.created", "space.closed"} {
		if !seen[name] {
			t.Errorf("there was no %s", name)
		}
	}
}

// documentedEvent holds an event to the schema of its type, which must be one of
// those.
func (w *world) documentedEvent(ev event, types []reflect.Type) {
	w.Helper()
	for _, of := range types {
		if slices.Contains(eventEnums[of.Name()], any(shoal.EventType(ev.name))) {
			w.fits(ev.name, &jsonschema.Schema{Ref: schemaRefs + schemaName(of)}, ev.data)
			return
		}
	}
	w.Errorf("an event %s is not documented", ev.name)
}

// Cut off and connected again, a follower has every event once and in order.
func TestStreamResumesWithoutGapOrDouble(t *testing.T) {
	w, ann, bot := conversation(t)
	l := w.follow(bot, shopEvents)
	l.wants("snapshot")
	const last = 60
	posted := make(chan struct{})
	go func() {
		defer close(posted)
		for i := range last {
			w.post(ann, "shop", fmt.Sprint(i))
		}
	}()
	byHeader := true
	for want := int64(1); want <= last; want++ {
		if got := data[shoal.MessageData](t, l.wants("message.created")).Message.Seq; got != want {
			t.Fatalf("the message %d follows on %d", got, want-1)
		}
		if want%7 == 0 {
			l.cancel()
			id := l.last
			if byHeader = !byHeader; byHeader {
				// The header wins over the parameter.
				l = w.follow(bot, shopEvents+"?after=made.up", "Last-Event-ID", id)
			} else {
				l = w.follow(bot, shopEvents+"?after="+id)
			}
			l.last = id
		}
	}
	<-posted
}

// A client that was disconnected for too long, or that has a cursor of another database, starts again.
func TestStreamBeginsAnewWhereItCannotResume(t *testing.T) {
	w := newWorldWith(t, hub.Options{KeepEvents: 10})
	ann := w.entity("default", "ann")
	w.space(ann, "shop")
	l := w.follow(ann, shopEvents)
	l.wants("snapshot")
	old := l.last
	l.cancel()
	for i := range 300 { // events are trimmed now and then
		w.post(ann, "shop", fmt.Sprint(i))
	}
	l = w.follow(ann, shopEvents, "Last-Event-ID", old)
	if snapshot := data[shoal.SnapshotData](t, l.wants("snapshot")); len(snapshot.Messages) != 50 || snapshot.Messages[49].Seq != 300 {
		t.Errorf("the snapshot has %d messages", len(snapshot.Messages))
	}
	recent := l.last
	w.post(ann, "shop", "one more")
	l = w.follow(ann, shopEvents, "Last-Event-ID", recent)
	l.wants("message.created")

	other, cam, _ := conversation(t)
	foreign := other.follow(cam, shopEvents)
	foreign.wants("snapshot")
	w.follow(ann, shopEvents, "Last-Event-ID", foreign.last).wants("snapshot")
}

// The stream over all spaces takes in those that are joined later, and lets go
// of those that are left.
func TestStreamOverAllSpaces(t *testing.T) {
	w, ann, bot := conversation(t)
	w.space(ann, "other")
	l := w.follow(bot, base+"/events")
	if s := data[shoal.SnapshotData](t, l.wants("snapshot")); s.Space.ID != "shop" {
		t.Errorf("the snapshot is of %s", s.Space.ID)
	}
	l.wants("snapshot.end")
	w.post(ann, "other", "unheard")
	w.do(ann, "PUT", base+"/spaces/other/members/bot", nil).wants(200)
	if s := data[shoal.SnapshotData](t, l.wants("snapshot")); s.Space.ID != "other" || len(s.Messages) != 2 {
		t.Errorf("the snapshot of the joined space = %+v", s)
	}
	w.post(ann, "other", "heard")
	for {
		ev := l.next()
		if ev.name == "message.created" {
			if m := data[shoal.MessageData](t, ev).Message; m.Text() != "heard" {
				t.Errorf("the first message after the snapshot is %q", m.Text())
			}
			break
		}
	}
	w.do(ann, "DELETE", base+"/spaces/other/members/bot", nil).wants(200)
	w.post(ann, "other", "unheard again")
	w.post(ann, "shop", "heard again")
	l.wants("member.left")
	if m := data[shoal.MessageData](t, l.wants("message.created")).Message; m.Text() != "heard again" {
		t.Errorf("after leaving comes %q", m.Text())
	}
}

// A removed member sees its removal, and then its stream ends.
func TestStreamEndsWithTheMembership(t *testing.T) {
	w, ann, bot := conversation(t)
	l := w.follow(bot, shopEvents)
	l.wants("snapshot")
	w.do(ann, "DELETE", base+"/spaces/shop/members/bot", nil).wants(200)
	l.wants("member.left")
	l.ends()
	w.do(bot, "GET", shopEvents, nil, "Last-Event-ID", l.last).refuses(shoal.NotFound)
}

// A stream ends when its key is revoked, without another event, and at the next
// heartbeat when its key has expired.
func TestStreamEndsWithItsKey(t *testing.T) {
	for name, c := range map[string]struct {
		heartbeat, life time.Duration
		cookie          bool
	}{
		"expired": {20 * time.Millisecond, 2 * time.Second, false}, "revoked": {time.Hour, time.Hour, false},
		"expired in a cookie": {20 * time.Millisecond, 2 * time.Second, true}, "revoked in a cookie": {time.Hour, time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, ann, _ := conversation(t, func(o *Options) { o.Heartbeat = c.heartbeat })
			ends := shoal.At(time.Now().Add(c.life))
			key := into[shoal.Key](w.do(w.admin, "POST", "/v1/keys", shoal.NewKey{Role: shoal.RoleEntity, EntityID: "bot", ExpiresAt: &ends}).wants(201))
			secret, header := *key.Secret, []string{}
			if c.cookie {
				secret, header = "", w.page(secret)
			}
			l := w.follow(secret, shopEvents, header...)
			l.wants("snapshot")
			revoked := c.life == time.Hour
			if revoked {
				w.do(w.admin, "DELETE", "/v1/keys/"+string(key.ID), nil).wants(204)
				w.post(ann, "shop", "not for a revoked key")
			}
			for {
				ev, ok := l.take()
				if !ok {
					return
				}
				if ev.name != "" && (revoked || ev.name != "entity.updated" && ev.name != "delivery.updated") {
					t.Fatalf("the revoked key gets %s %s", ev.name, ev.data)
				}
			}
		})
	}
}

// Signing out ends the streams of the browser, though the key that was pasted lives on, and
// those of another browser with the same key go on.
func TestStreamEndsWithTheSignIn(t *testing.T) {
	w, ann, _ := conversation(t, func(o *Options) { o.Heartbeat = time.Hour })
	page := w.page(ann)
	own, other, key := w.follow("", shopEvents, page...), w.follow("", shopEvents, w.page(ann)...), w.follow(ann, shopEvents)
	for _, l := range []*listener{own, other, key} {
		l.wants("snapshot")
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, w.server.URL+"/console/logout", http.NoBody)
	for i := 0; i < len(page); i += 2 {
		r.Header.Set(page[i], page[i+1])
	}
	r.Header.Set("Origin", w.server.URL)
	w.must(w.auth.SignOut(httptest.NewRecorder(), r))
	own.ends()
	w.post(ann, "shop", "hello")
	other.wants("message.created")
	key.wants("message.created")
	w.do("", "GET", shopEvents, nil, page...).refuses(shoal.Unauthenticated)
}

// What an owner of the session has open in a space that it is not in ends when it is
// no owner any more, and it cannot be opened again.
func TestStreamEndsWithTheRoleThatAllowedIt(t *testing.T) {
	w, ann, _ := conversation(t)
	boss := w.inRole("default", "boss", shoal.SessionOwner)
	l := w.follow(boss, shopEvents)
	l.wants("snapshot")
	w.do(w.admin, "PATCH", "/v1/sessions/default/entities/boss", `{"sessionRole": "member"}`).wants(200)
	w.post(ann, "shop", "not for a member of the session")
	for ev, ok := l.take(); ok; ev, ok = l.take() {
		if ev.name == string(shoal.EventMessageCreated) {
			t.Fatalf("who was an owner gets %s %s", ev.name, ev.data)
		}
	}
	w.do(boss, "GET", "/v1/sessions/default/spaces/shop/messages", nil).wants(404)
	w.do(boss, "PATCH", "/v1/sessions/default/entities/boss", `{"sessionRole": "owner"}`).wants(403)
}

// Silence is broken by comment lines, and they follow the clock, not the
// events.
func TestStreamHasAHeartbeat(t *testing.T) {
	w, _, bot := conversation(t, func(o *Options) { o.Heartbeat = 10 * time.Millisecond })
	l := w.follow(bot, shopEvents)
	for beats := 0; beats < 5; {
		ev, ok := l.take()
		if !ok {
			t.Fatal("the stream has ended")
		}
		if ev.comment != "" {
			beats++
		}
	}
}

// A stream's first line says to clients how soon to come back.
func TestStreamOpensWithRetry(t *testing.T) {
	w, _, bot := conversation(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	res, err := w.server.Client().Do(w.request(ctx, bot, "GET", shopEvents, nil))
	w.must(err)
	defer res.Body.Close()
	first := make([]byte, len("retry: 1000\n\n"))
	_, err = io.ReadFull(res.Body, first)
	w.must(err)
	if string(first) != "retry: 1000\n\n" {
		t.Errorf("the stream opens with %q", first)
	}
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A reader that takes nothing is cut off; nobody else notices, and it resumes.
func TestSlowReaderIsCutOff(t *testing.T) {
	w, ann, bot := conversation(t, func(o *Options) { o.WriteTimeout = 2 * time.Second })
	quick := w.follow(bot, shopEvents)
	quick.wants("snapshot")

	slow, err := net.Dial("tcp", w.server.Listener.Addr().String())
	w.must(err)
	defer slow.Close()
	w.must(slow.(*net.TCPConn).SetReadBuffer(64 << 10))
	_, err = fmt.Fprintf(slow, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", shopEvents, ann)
	w.must(err)
	w.until("the slow reader is connected", func() bool { return w.streams() == 2 })

	// More than fits between the server and a reader that takes nothing.
	const posts = 60
	text := strings.Repeat("x", 200<<10)
	for seq := int64(1); seq <= posts; seq++ {
		w.post(bot, "shop", text)
		if got := data[shoal.MessageData](t, quick.wants("message.created")).Message.Seq; got != seq {
			t.Fatalf("the quick reader gets message %d after %d", got, seq-1)
		}
	}
	w.until("the slow reader is cut off", func() bool { return w.streams() == 1 })

	// What did reach the slow reader leads back to what it missed.
	w.must(slow.SetReadDeadline(time.Now().Add(patience)))
	got, _ := io.ReadAll(slow)                         // cut off in the middle
	got = got[:bytes.LastIndex(got, []byte("\n\n"))+1] // an event counts once it is whole
	at := bytes.LastIndex(got, []byte("id: "))
	id, _, whole := strings.Cut(string(got[at+len("id: "):]), "\n")
	if at < 0 || !whole {
		t.Fatal("nothing whole reached the slow reader")
	}
	l := w.follow(ann, shopEvents, "Last-Event-ID", id)
	for {
		m := data[shoal.MessageData](t, l.wants("message.created")).Message
		if m.Seq == posts {
			break
		}
	}
}

// streams counts the open streams of the server.
func (w *world) streams() int {
	return w.api.Limits.Streams()
}

func TestTwentyStreamsAndNoMore(t *testing.T) {
	w, ann, bot := conversation(t)
	var open []*listener
	for range limit.DefaultBounds.StreamsEach {
		open = append(open, w.follow(bot, shopEvents))
	}
	refused := w.do(bot, "GET", base+"/events", nil)
	refused.refuses(shoal.RateLimited)
	if refused.header.Get("Retry-After") == "" {
		t.Error("429 has no Retry-After")
	}
	w.follow(ann, shopEvents) // another principal
	open[0].cancel()
	w.until("a stream has gone", func() bool { return w.streams() == limit.DefaultBounds.StreamsEach })
	w.follow(bot, shopEvents)
}

// A server that stops ends its streams, so that their readers come back.
func TestStoppingEndsStreams(t *testing.T) {
	w, _, bot := conversation(t)
	l := w.follow(bot, shopEvents)
	l.wants("snapshot")
	w.hub.Stop()
	l.ends()
	if n := w.streams(); n != 0 {
		t.Errorf("%d streams are left", n)
	}
}

// A stream makes its entity connected, and its end is noticed.
func TestStreamIsPresence(t *testing.T) {
	w, ann, bot := conversation(t)
	l := w.follow(bot, shopEvents)
	l.wants("snapshot")
	if e := into[shoal.Entity](w.do(ann, "GET", base+"/entities/bot", nil).wants(200)); e.State != shoal.Connected {
		t.Errorf("bot is %s", e.State)
	}
	l.cancel()
	w.until("the stream has gone", func() bool { return w.streams() == 0 })
}

// Events of every size follow each other whole, those that are not copied, too.
func TestStreamOfLargeEvents(t *testing.T) {
	w, ann, bot := conversation(t)
	l := w.follow(bot, shopEvents)
	l.wants("snapshot")
	for _, size := range []int{1, 100_000, 64 << 10, 2, 200_000, 3} {
		text := strings.Repeat("x", size)
		w.do(ann, "POST", base+"/spaces/shop/messages", map[string]any{"text": text}).wants(201)
		var created shoal.MessageData
		if err := json.Unmarshal([]byte(l.wants("message.created").data), &created); err != nil {
			t.Fatal(err)
		}
		if got := created.Message.Text(); got != text {
			t.Errorf("a text of %d bytes came as %d", size, len(got))
		}
	}
}

func TestAppendEvent(t *testing.T) {
	ev := shoal.Event{Type: shoal.EventMessageCreated, Cursor: "e.1", Data: json.RawMessage(`{"a":1}`)}
	if got, want := string(appendEvent(nil, ev)), "id: e.1\nevent: message.created\ndata: {\"a\":1}\n\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	ev.Cursor = ""
	if got, want := string(appendEvent(nil, ev)), "event: message.created\ndata: {\"a\":1}\n\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
