package feed

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/live"
)

// Catch-up: how a follower receives the current state of streaming parts, in a snapshot or
// after the stored events that it has missed.

// snapshotMessages returns the messages of a snapshot at a position as the follower may see
// them, streaming ones with their text so far, and records what the follower then has of
// each streaming part.
func (f *Follower) snapshotMessages(tx Tx, messages []shoal.Message, position int64) ([]shoal.Message, error) {
	out := make([]shoal.Message, len(messages))
	for i, m := range messages {
		if m.Status == shoal.MessageStreaming {
			if err := f.events.live.Confirm(tx, m.SessionID, string(m.ID)); err != nil {
				return nil, err
			}
			m.Parts = f.currentParts(m, position)
		}
		out[i] = m.For(core.ReaderEntity(f.caller))
		for _, p := range out[i].Parts {
			key := live.PartKey{Session: m.SessionID, Owner: string(m.ID), Part: p.ID}
			switch {
			case p.Private:
			case p.Status == shoal.PartStreaming:
				f.offsets[key] = len(p.Text)
			case p.Status == shoal.PartInputStreaming:
				f.offsets[key] = 0
			}
		}
	}
	return out, nil
}

// currentParts returns the parts of a streaming message, including the text that was
// relayed since the message was stored. A text that is being reset at this moment is
// returned empty: the follower receives its content afterwards.
func (f *Follower) currentParts(m shoal.Message, position int64) []shoal.Part {
	l := f.events.live
	parts := append([]shoal.Part{}, m.Parts...)
	for _, p := range l.OpenedParts(m.SessionID, m.ID, position) {
		if slices.ContainsFunc(parts, func(have shoal.Part) bool { return have.ID == p.Part }) {
			continue
		}
		part := shoal.Part{ID: p.Part, Type: shoal.TextPart, Status: shoal.PartStreaming}
		if p.Tool != "" {
			part = shoal.Part{ID: p.Part, Type: shoal.ToolPart, Status: shoal.PartInputStreaming, ToolName: p.Tool, ToolCallID: p.Call, Target: p.Target}
		}
		parts = append(parts, part)
	}
	for i := range parts {
		p := &parts[i]
		key := live.PartKey{Session: m.SessionID, Owner: string(m.ID), Part: p.ID}
		if p.Status != shoal.PartStreaming || !l.Has(key) {
			continue
		}
		now, ok := l.State(key, position)
		switch {
		case !ok:
			p.Text = ""
		case now.Start <= len(p.Text):
			p.Text = p.Text[:now.Start] + string(now.Bytes)
		}
	}
	return parts
}

// catchUpParts brings the follower's streaming parts up to date with the text that was
// relayed before it connected or while it was away.
func (f *Follower) catchUpParts() error {
	first := !f.caughtUp
	f.partsCurrent, f.caughtUp = true, true
	for key := range f.offsets {
		if err := f.catchUpPart(key, first); err != nil {
			return err
		}
	}
	for _, p := range f.events.live.Unstored(f.req.Session) {
		if err := f.catchUpStandalone(&p); err != nil {
			return err
		}
	}
	return nil
}

// catchUpPart brings one part up to date. For a text that this server does not have, it
// requests the drafts.
func (f *Follower) catchUpPart(key live.PartKey, first bool) error {
	l := f.events.live
	p, ok := l.State(key, f.after)
	standalone := strings.HasPrefix(key.Owner, shoal.PrefixRun)
	switch {
	case standalone && !l.Has(key):
		if !first { // another server writes it
			return nil
		}
		n := live.DeltaEvent{Key: key, Space: f.req.Space, Run: shoal.RunID(key.Owner), Type: shoal.EventReasoningDelta, OfRun: true}
		delete(f.offsets, key)
		return f.queueStandaloneEdge(&n, "end")
	case ok && !f.seesDelta(p.Space, p.Target, standalone, p.Show && p.Space != ""): // a client can put any part into a cursor
		delete(f.offsets, key)
		return nil
	case !standalone && (ok && f.offsets[key] < p.Start || !l.Has(key)):
		f.feed.requestDrafts()
	}
	have, open := f.offsets[key]
	switch {
	case !ok || !open:
		return nil
	case have > p.End():
		return f.queueReset(p.Head(), key, p.End(), f.after)
	case have < p.Start || have == p.End():
		return nil
	}
	return f.queueDelta(p.EventType(), f.after, key, shoal.DeltaData{
		PartHead: p.Head(), ToolCallID: p.Call, ToolName: p.Tool, Offset: have, Delta: string(p.Bytes[have-p.Start:]),
	})
}

// catchUpStandalone queues the current content of a part that belongs to no message, if the
// follower has nothing of it yet.
func (f *Follower) catchUpStandalone(p *live.Part) error {
	key := live.PartKey{Session: f.req.Session, Owner: p.Owner(p.Run), Part: p.Part}
	if _, open := f.offsets[key]; open || !f.includesStandalone(p) || !f.seesDelta(p.Space, p.Target, true, p.Show && p.Space != "") {
		return nil
	}
	n := live.DeltaEvent{Key: key, Space: p.Space, Run: p.Run, Target: p.Target, Type: p.EventType(), OfRun: true}
	f.offsets[key] = 0
	if err := f.queueStandaloneEdge(&n, "start"); err != nil || len(p.Bytes) == 0 {
		return err
	}
	return f.queueDelta(n.Type, f.after, key, shoal.DeltaData{PartHead: p.Head(), ToolCallID: p.Call, ToolName: p.Tool, Delta: string(p.Bytes)})
}

// includesStandalone reports whether a part that belongs to no message is part of what the
// follower follows.
func (f *Follower) includesStandalone(p *live.Part) bool {
	switch {
	case p.Start != 0:
		return false
	case f.req.Run != "":
		return p.Run == f.req.Run
	case f.req.Space != "":
		return p.Space == f.req.Space
	}
	return true
}

// queueReset queues part.reset: the part has less text than the follower has received.
func (f *Follower) queueReset(h shoal.PartHead, key live.PartKey, offset int, position int64) error {
	h.Type = shoal.EventPartReset
	f.offsets[key] = offset
	body, err := shoal.EncodeJSON(shoal.PartResetData{PartHead: h, Offset: offset})
	if err == nil {
		f.pending = append(f.pending, shoal.Event{Type: h.Type, Cursor: f.cursor(position), Data: body})
	}
	return err
}

// catchUpDrafts queues what the drafts of the feed have of the follower's parts.
func (f *Follower) catchUpDrafts() error {
	for key, have := range f.offsets {
		d := f.feed.draftOf(key, f.after)
		if d == nil {
			continue
		}
		if !f.seesDelta(d.message.SpaceID, d.part.Target, false, true) {
			delete(f.offsets, key)
			continue
		}
		if have >= len(d.part.Text) {
			continue
		}
		// This server continues the part that another began: it has the rest of the text.
		f.partsCurrent = f.partsCurrent && !f.events.live.Has(key)
		h := d.head()
		if err := f.queueDelta(h.Type, f.after, key, shoal.DeltaData{
			PartHead: h, ToolCallID: d.part.ToolCallID, ToolName: d.part.ToolName, Offset: have, Delta: d.part.Text[have:],
		}); err != nil {
			return err
		}
	}
	return nil
}
