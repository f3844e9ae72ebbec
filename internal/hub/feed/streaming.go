package feed

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Streaming parts. Follower.offsets contains the number of bytes of each streaming part
// that were delivered. Every delta, and every event that ends or resets a part, is
// adjusted to that before it is delivered.

// partEvent is what a stored event does to a part. text is the complete text of the part if
// the event ends it.
type partEvent struct {
	key    live.PartKey
	what   shoal.EventType
	text   string
	offset int
	head   shoal.PartHead
	call   string
	tool   string
}

// partEventOf returns what a stored event does to a part, or nil for nothing.
func partEventOf(ev storage.Event) *partEvent {
	switch ev.Type {
	case shoal.EventMessageCompleted:
		var d struct {
			Message struct{ ID shoal.MessageID } `json:"message"`
		}
		if json.Unmarshal(ev.Data, &d) != nil {
			return nil
		}
		return &partEvent{key: live.PartKey{Session: ev.Session, Owner: string(d.Message.ID)}, what: ev.Type}
	case shoal.EventTextStart, shoal.EventTextEnd, shoal.EventToolInputStart, shoal.EventToolInputAvailable,
		shoal.EventToolOutputAvailable, shoal.EventToolOutputError, shoal.EventPartReset, shoal.EventPartRemoved:
	default:
		return nil
	}
	var d struct {
		shoal.PartHead
		ToolCallID string          `json:"toolCallId"`
		ToolName   string          `json:"toolName"`
		Text       string          `json:"text"`
		Args       json.RawMessage `json:"args"`
		Offset     int             `json:"offset"`
	}
	if json.Unmarshal(ev.Data, &d) != nil {
		return nil
	}
	p := &partEvent{
		key: live.PartKey{Session: ev.Session, Owner: string(d.MessageID), Part: d.PartID}, what: ev.Type, text: d.Text, offset: d.Offset, head: d.PartHead, call: d.ToolCallID, tool: d.ToolName,
	}
	if ev.Type == shoal.EventToolInputAvailable {
		p.text = string(d.Args)
	}
	return p
}

// partEvent is partEventOf for an event that was read from the store: this server may learn
// from it that another executes the run.
func (e *Events) partEvent(ev storage.Event) *partEvent {
	p := partEventOf(ev)
	if p != nil && p.what == shoal.EventPartReset {
		e.live.ObserveReset(p.key, ev.Position)
	}
	return p
}

// begins reports whether the text of the part begins anew, empty or with the first bytes that
// it had.
func (p *partEvent) begins() bool {
	return p.what == shoal.EventTextStart || p.what == shoal.EventToolInputStart || p.what == shoal.EventPartReset
}

// cursor returns the cursor of a follower that has received the events up to a position,
// and of the streaming parts what offsets says.
func (f *Follower) cursor(position int64) shoal.Cursor {
	return f.events.cursorAt(cursorPosition{position: position, ahead: f.ahead, offsets: f.offsets})
}

// maxCursorParts is the number of streaming parts with long ids that fit into a cursor.
const maxCursorParts = 8

// deltaCursor returns the cursor of a delta that all followers receive. It is empty if a
// cursor has no room for all streaming parts: a follower that resumes after an earlier one
// may receive deltas again, which their offsets show.
func (f *Follower) deltaCursor() shoal.Cursor {
	if len(f.offsets) > maxCursorParts {
		return ""
	}
	cursor := f.cursor(f.after)
	if strings.HasSuffix(string(cursor), incompleteMark) {
		return ""
	}
	return cursor
}

// trackPart records what a stored event does to a part. If the event ends a part, it first
// queues the rest of its text. before is the position that was delivered last.
func (f *Follower) trackPart(en entry, before int64) error {
	p := en.part
	if p == nil || p.head.TargetEntityID != "" && !f.maySee(p.head.TargetEntityID) {
		return nil
	}
	n, open := f.offsets[p.key]
	switch p.what {
	case shoal.EventTextStart, shoal.EventToolInputStart:
		f.offsets[p.key] = 0
	case shoal.EventPartReset:
		if open {
			f.offsets[p.key] = min(n, p.offset)
			f.partsCurrent = f.partsCurrent && n >= p.offset
		}
	case shoal.EventTextEnd, shoal.EventToolInputAvailable:
		if open && n < len(p.text) {
			what := shoal.EventTextDelta
			if p.tool != "" {
				what = shoal.EventToolInputDelta
			}
			h := p.head
			h.Type = what
			if err := f.queueDelta(what, before, p.key, shoal.DeltaData{PartHead: h, ToolCallID: p.call, ToolName: p.tool, Offset: n, Delta: p.text[n:]}); err != nil {
				return err
			}
		}
		if open && n > len(p.text) { // a crash has lost the rest of it
			if err := f.queueReset(p.head, p.key, len(p.text), before); err != nil {
				return err
			}
		}
		delete(f.offsets, p.key)
	case shoal.EventMessageCompleted:
		for key := range f.offsets {
			if key.Owner != p.key.Owner {
				continue
			}
			if err := f.queueRemoval(en.event, key, before); err != nil { // a crash has lost it
				return err
			}
		}
	default:
		delete(f.offsets, p.key)
	}
	return nil
}

// queueRemoval queues part.removed: the part no longer exists.
func (f *Follower) queueRemoval(ev storage.Event, key live.PartKey, position int64) error {
	delete(f.offsets, key)
	ev.Type = shoal.EventPartRemoved
	h := shoal.PartHead{EventHead: core.EventHead(ev, shoal.Now()), MessageID: shoal.MessageID(key.Owner), PartID: key.Part}
	body, err := shoal.EncodeJSON(shoal.PartResetData{PartHead: h})
	f.pending = append(f.pending, shoal.Event{Type: ev.Type, Cursor: f.cursor(position), Data: body})
	return err
}

// queueDelta queues a delta for this follower alone.
func (f *Follower) queueDelta(what shoal.EventType, position int64, key live.PartKey, data shoal.DeltaData) error {
	f.offsets[key] = data.Offset + len(data.Delta)
	body, err := shoal.EncodeJSON(data)
	if err == nil {
		f.pending = append(f.pending, shoal.Event{Type: what, Cursor: f.cursor(position), Data: body})
	}
	return err
}

// queueEphemeralDelta queues the part of a delta that is new to the follower, after the
// text that it has missed. A delta from before the snapshot is dropped: the snapshot
// contains it, or it is lost.
func (f *Follower) queueEphemeralDelta(en entry) error {
	n := en.delta
	if f.ended || en.after < max(f.snapshotAt, f.ahead[n.Space]) || !f.seesDelta(n.Space, n.Target, n.OfRun, n.Show) {
		return nil
	}
	have, open := f.offsets[n.Key]
	if !open && n.OfRun && n.Offset == 0 && (n.First || n.Size > 0) {
		if err := f.endStandalone(n.Key.Owner); err != nil { // the end of an earlier one was lost
			return err
		}
		have, open = 0, true
		f.offsets[n.Key] = 0
		if err := f.queueStandaloneEdge(n, "start"); err != nil {
			return err
		}
	}
	if !open {
		return nil
	}
	if err := f.queueNewText(n, en.event, have); err != nil {
		return err
	}
	if n.OfRun && n.Last {
		delete(f.offsets, n.Key)
		return f.queueStandaloneEdge(n, "end")
	}
	return nil
}

// queueNewText queues what is new in a delta to a follower that has received have bytes of
// its part.
func (f *Follower) queueNewText(n *live.DeltaEvent, ev storage.Event, have int) error {
	end := n.Offset + n.Size
	switch {
	case end <= have:
		return nil
	case n.Offset == have:
		f.offsets[n.Key] = end
		f.pending = append(f.pending, shoal.Event{Type: n.Type, Cursor: f.deltaCursor(), Data: ev.Data})
		return nil
	}
	var data shoal.DeltaData
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return err
	}
	if n.Offset < have {
		data.Delta = data.Delta[have-n.Offset:]
	} else {
		text, ok := f.events.live.TextSince(n.Key, have, f.after)
		if !ok && n.Type == shoal.EventTextDelta && !n.OfRun && !f.events.live.Has(n.Key) {
			f.feed.requestDrafts()
		}
		if !ok || text == "" {
			return nil // a draft, the next delta or the end of the part includes it
		}
		data.Delta = text
	}
	data.Offset = have
	return f.queueDelta(n.Type, f.after, n.Key, data)
}

// endsReasoning reports whether no reasoning of a run is open after an event of it.
func endsReasoning(what shoal.EventType) bool {
	switch what {
	case shoal.EventRunCompleted, shoal.EventRunFailed, shoal.EventRunCanceled, shoal.EventRunWaitingTool, shoal.EventRunWaitingReply:
		return true
	}
	return false
}

// endStandalone queues the ends of the parts that belong to a run and to no message.
func (f *Follower) endStandalone(run string) error {
	for key := range f.offsets {
		if key.Owner == run {
			delete(f.offsets, key)
			n := live.DeltaEvent{Key: key, Space: f.req.Space, Run: shoal.RunID(run), Type: shoal.EventReasoningDelta, OfRun: true}
			if err := f.queueStandaloneEdge(&n, "end"); err != nil {
				return err
			}
		}
	}
	return nil
}

// queueStandaloneEdge queues the start or the end of a part that belongs to no message.
func (f *Follower) queueStandaloneEdge(n *live.DeltaEvent, edge string) error {
	what := standaloneEdgeType(n.Type, edge)
	h := n.Head(shoal.Now())
	h.Type = what
	body, err := shoal.EncodeJSON(h)
	if err == nil {
		more := ""
		if edge == "end" {
			more = "," + n.Key.Owner + "/" + string(n.Key.Part) + "="
		}
		cursor := f.events.cursorWith(cursorPosition{position: f.after, ahead: f.ahead, offsets: f.offsets}, more)
		f.pending = append(f.pending, shoal.Event{Type: what, Cursor: cursor, Data: body})
	}
	return err
}

// standaloneEdgeType returns the type of the event that starts or ends a part with deltas
// of the given type.
func standaloneEdgeType(delta shoal.EventType, edge string) shoal.EventType {
	switch {
	case delta == shoal.EventReasoningDelta && edge == "start":
		return shoal.EventReasoningStart
	case delta == shoal.EventReasoningDelta:
		return shoal.EventReasoningEnd
	case delta == shoal.EventToolInputDelta && edge == "start":
		return shoal.EventToolInputStart
	case delta == shoal.EventToolInputDelta:
		return shoal.EventToolInputAvailable
	case edge == "start":
		return shoal.EventTextStart
	}
	return shoal.EventTextEnd
}

// maySee reports whether the follower may see content for the given member.
func (f *Follower) maySee(target shoal.EntityID) bool {
	own := core.ReaderEntity(f.caller)
	return target == "" || own == "" || own == target
}

// seesDelta reports whether the follower may see a delta: it is in one of its spaces, and
// for all members or for the follower. Deltas that belong to no message are for services
// and admins, unless the space shows them.
func (f *Follower) seesDelta(space shoal.SpaceID, target shoal.EntityID, standalone, show bool) bool {
	own := core.ReaderEntity(f.caller)
	switch {
	case !f.maySee(target):
		return false
	case f.req.Run != "":
		return own == "" || (!standalone || show) && f.runSpaces[space]
	case standalone && !show:
		return false
	case f.req.Space != "":
		return space == f.req.Space
	}
	return f.memberOf == nil || f.memberOf[space]
}

// refreshRunSpaces reads the spaces of an entity that follows a run again after it has
// joined or left one. It fails if the entity may no longer follow the run.
func (f *Follower) refreshRunSpaces(ctx context.Context) error {
	if f.membership == nil {
		return nil
	}
	select {
	case <-f.membership.Ready():
		f.spacesStale = true
	default:
	}
	if !f.spacesStale {
		return nil
	}
	f.spacesStale = false
	f.membership.Take()
	return f.events.core.Store.View(ctx, f.mayFollowRun)
}
