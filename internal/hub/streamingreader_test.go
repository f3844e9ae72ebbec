package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/feed"
)

// streamReader is a client that builds messages from events.
type streamReader struct {
	*streamSim
	kind     string
	on       func() *hub.Hub // the server that it connects to
	node     int             // its number
	follower *feed.Follower
	cursor   shoal.Cursor
	place    int64
	queue    []shoal.Event
	messages map[shoal.MessageID]*shoal.Message
	text     map[string]string // of streaming parts
	log      []string
}

func newStreamReader(p *streamSim, kind string, on func() *hub.Hub) *streamReader {
	return &streamReader{streamSim: p, kind: kind, on: on, messages: map[shoal.MessageID]*shoal.Message{}, text: map[string]string{}}
}

func (r *streamReader) act() {
	switch n := r.rnd.IntN(10); {
	case r.follower == nil:
		if r.rnd.IntN(6) == 0 { // as a new client
			r.cursor, r.place, r.messages, r.text, r.log = "", 0, map[shoal.MessageID]*shoal.Message{}, map[string]string{}, nil
		}
		r.connect()
	case n < 6:
		r.drain()
	case n < 8:
		r.readEvents()
		r.cut(r.rnd.IntN(len(r.queue) + 1))
	default:
		r.readEvents()
	}
}

func (r *streamReader) connect() {
	if r.follower != nil {
		return
	}
	caller := shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "ann", KeyID: "reader"}
	req := feed.FollowRequest{Session: shoal.DefaultSession, After: r.cursor}
	switch r.kind {
	case "space":
		req.Space = "shop"
	case "run":
		req.Run, caller = "run_1", shoal.Principal{Role: shoal.RoleAdmin}
	case "session":
		caller = shoal.Principal{Role: shoal.RoleAdmin}
	}
	if part := r.streamingPart(); part != nil && r.rnd.IntN(2) == 0 {
		// A delta and a reset happen between the end of the window and the snapshot. The
		// feed is notified of them later.
		synctest.Wait()
		r.store.beforeRead(2, func() {
			r.delta(part)
			synctest.Wait()
			r.bus.hold(true)
			r.reset(part)
		})
		defer r.store.beforeRead(0, nil)
	}
	f, err := r.on().Events.Follow(context.Background(), caller, req)
	r.must(err)
	r.follower = f
}

// readEvents reads all available events.
func (r *streamReader) readEvents() {
	for r.follower != nil {
		events, err := r.follower.Next(context.Background(), time.Now().Add(time.Millisecond))
		r.must(err)
		if len(events) == 0 {
			return
		}
		r.queue = append(r.queue, events...)
	}
}

func (r *streamReader) drain() {
	r.bus.hold(false)
	synctest.Wait()
	r.readEvents()
	r.handle(len(r.queue))
	r.checkCurrent()
}

// checkCurrent checks that the reader has the current texts. What the bus has dropped
// arrives with a later event.
func (r *streamReader) checkCurrent() {
	if r.nodes || r.open == nil || r.messages[r.open.ID] == nil {
		return
	}
	for _, part := range r.open.Parts {
		want, streaming := r.partTexts[part.ID]
		have, known := r.text[string(r.open.ID)+"/"+string(part.ID)]
		if streaming && (!known || !strings.HasPrefix(want, have) || r.bus.rate == 0 && want != have) {
			r.fail("has %q (%v) of %s, want %q", have, known, part.ID, want)
		}
	}
}

// cut ends the connection after the given number of the events that were read is handled.
func (r *streamReader) cut(handled int) {
	if r.follower == nil {
		return
	}
	r.handle(min(handled, len(r.queue)))
	r.follower.Close()
	r.follower, r.queue = nil, nil
}

func (r *streamReader) fail(format string, args ...any) {
	r.t.Helper()
	r.t.Fatalf("%s: %s\n%s", r.kind, fmt.Sprintf(format, args...), strings.Join(r.log, "\n"))
}

func (r *streamReader) handle(n int) {
	for _, ev := range r.queue[:n] {
		r.log = append(r.log, fmt.Sprintf("%s %s %s", ev.Cursor, ev.Type, ev.Data))
		if len(ev.Cursor) > shoal.MaxCursor {
			r.fail("a cursor of %d bytes: %s", len(ev.Cursor), ev.Cursor)
		}
		r.event(ev)
		if ev.Cursor != "" {
			r.cursor = ev.Cursor
		}
	}
	r.queue = r.queue[n:]
}

func (r *streamReader) event(ev shoal.Event) {
	var d struct {
		shoal.PartHead
		Message  shoal.Message   `json:"message"`
		Messages []shoal.Message `json:"messages"`
		Delta    *string         `json:"delta"`
		Offset   int             `json:"offset"`
		Text     string          `json:"text"`
		Args     json.RawMessage `json:"args"`
		Call     string          `json:"toolCallId"`
		Tool     string          `json:"toolName"`
	}
	if err := json.Unmarshal(ev.Data, &d); err != nil {
		r.fail("%v in %s", err, ev.Data)
	}
	key := string(d.MessageID) + "/" + string(d.PartID)
	if d.Delta == nil && ev.Type != shoal.EventSnapshot && ev.Type != shoal.EventSnapshotEnd {
		r.checkOrder(ev)
	}
	switch ev.Type {
	case shoal.EventSnapshot:
		r.messages, r.text = map[shoal.MessageID]*shoal.Message{}, map[string]string{}
		for _, m := range d.Messages {
			r.messages[m.ID] = &m
			for _, p := range m.Parts {
				if p.Status == shoal.PartStreaming || p.Status == shoal.PartInputStreaming {
					r.text[string(m.ID)+"/"+string(p.ID)] = p.Text
				}
			}
		}
	case shoal.EventMessageCreated, shoal.EventMessageCompleted:
		r.applyMessage(ev, d.Message)
	case shoal.EventReasoningStart, shoal.EventTextStart, shoal.EventToolInputStart:
		if _, there := r.text[key]; there {
			r.fail("%s starts twice", key)
		}
		r.text[key] = ""
		part := shoal.Part{ID: d.PartID, Type: shoal.TextPart, Status: shoal.PartStreaming, ToolCallID: d.Call, ToolName: d.Tool}
		if m := r.messages[d.MessageID]; m != nil {
			m.Parts = append(m.Parts, part)
		} else if d.MessageID != "" {
			r.fail("%s starts in an unknown message", key)
		}
	case shoal.EventTextDelta, shoal.EventToolInputDelta, shoal.EventReasoningDelta:
		have, there := r.text[key]
		if !there || len(have) != d.Offset || *d.Delta == "" {
			r.fail("delta %q at %d of %s, which has %q (%v)", *d.Delta, d.Offset, key, have, there)
		}
		r.text[key] += *d.Delta
		if r.nodes && d.MessageID != "" && !slices.ContainsFunc(r.versions[d.PartID], func(v string) bool { return strings.HasPrefix(v, r.text[key]) }) {
			r.fail("%s has %q, which it never had: %q", key, r.text[key], r.versions[d.PartID])
		}
	case shoal.EventReasoningEnd:
		if _, there := r.text[key]; !there {
			r.fail("%s ends but has not started", key)
		}
		delete(r.text, key)
	case shoal.EventTextEnd, shoal.EventToolInputAvailable:
		if have := r.text[key]; have != d.Text+string(d.Args) {
			r.fail("%s ends with %q, the deltas were %q", key, d.Text+string(d.Args), have)
		}
		delete(r.text, key)
		p := r.part(d.MessageID, d.PartID)
		p.Text, p.Args, p.Status = d.Text, d.Args, shoal.PartDone
	case shoal.EventPartReset:
		r.text[key] = r.text[key][:min(len(r.text[key]), d.Offset)]
	case shoal.EventPartRemoved:
		delete(r.text, key)
		m := r.messages[d.MessageID]
		m.Parts = slices.DeleteFunc(m.Parts, func(p shoal.Part) bool { return p.ID == d.PartID })
	}
}

// checkOrder checks that a stored event arrives once and in order.
func (r *streamReader) checkOrder(ev shoal.Event) {
	if ev.Cursor == "" || strings.HasPrefix(string(ev.Type), "reasoning") {
		return
	}
	number, _, _ := strings.Cut(strings.TrimPrefix(string(ev.Cursor), r.store.Epoch()+"."), ",")
	place, err := strconv.ParseInt(number, 10, 64)
	isSynthetic := ev.Type == shoal.EventPartReset || ev.Type == shoal.EventPartRemoved
	if err != nil || place < r.place || place == r.place && !isSynthetic {
		r.fail("event %s came after position %d", ev.Cursor, r.place)
	}
	r.place = place
}

func (r *streamReader) part(message shoal.MessageID, id shoal.PartID) *shoal.Part {
	if m := r.messages[message]; m != nil {
		for i := range m.Parts {
			if m.Parts[i].ID == id {
				return &m.Parts[i]
			}
		}
	}
	r.fail("unknown part %s of message %s", id, message)
	return nil
}

// applyMessage applies a created or completed message. A completed one must equal what the
// reader has already.
func (r *streamReader) applyMessage(ev shoal.Event, m shoal.Message) {
	if have := r.messages[m.ID]; have != nil && ev.Type == shoal.EventMessageCompleted {
		for key := range r.text {
			if strings.HasPrefix(key, string(m.ID)+"/") {
				r.fail("message %s is completed, but %s is streaming", m.ID, key)
			}
		}
		if len(have.Parts) != len(m.Parts) {
			r.fail("message %s has %d parts, received were %s", m.ID, len(m.Parts), asJSON(have.Parts))
		}
		for i, p := range m.Parts {
			if q := have.Parts[i]; p.ID != q.ID || p.Text != q.Text || p.Type == shoal.ToolPart && string(p.Args) != string(q.Args) {
				r.fail("part %d of message %s is %s, received was %s", i, m.ID, asJSON(p), asJSON(q))
			}
		}
	}
	r.messages[m.ID] = &m
}
