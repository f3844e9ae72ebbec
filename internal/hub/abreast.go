package hub

import (
	"context"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
)

// How a follower gets abreast of what grows: in a snapshot, and behind what it has
// caught up with.

// takeMessages returns the messages of a snapshot at a place as the follower may
// see them, those in progress with their text so far, and notes what it knows then.
func (f *Follower) takeMessages(messages []shoal.Message, place int64) []shoal.Message {
	out := make([]shoal.Message, len(messages))
	for i, m := range messages {
		if m.Status == shoal.MessageStreaming {
			m.Parts = f.parts(m, place)
		}
		out[i] = m.For(reader(f.who))
		for _, p := range out[i].Parts {
			key := partKey{m.SessionID, string(m.ID), p.ID}
			switch {
			case p.Private:
			case p.Status == shoal.PartStreaming:
				f.known[key] = len(p.Text)
			case p.Status == shoal.PartInputStreaming:
				f.known[key] = 0
			}
		}
	}
	return out
}

// parts returns the parts of a message in progress, with what has passed since it
// was stored. Of a text that is being cut back right now nothing is shown: what
// there is of it follows.
func (f *Follower) parts(m shoal.Message, place int64) []shoal.Part {
	l := f.events.live
	parts := append([]shoal.Part{}, m.Parts...)
	for _, p := range l.opened(m.SessionID, m.ID, place) {
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
		key := partKey{m.SessionID, string(m.ID), p.ID}
		if p.Status != shoal.PartStreaming || !l.has(key) {
			continue
		}
		now, ok := l.state(key, place)
		switch {
		case !ok:
			p.Text = ""
		case now.start <= len(p.Text):
			p.Text = p.Text[:now.start] + string(now.text)
		}
	}
	return parts
}

// update brings the parts in progress up to date: with the text that has passed
// already, for who comes late or comes back. A draft that a crash has lost is cut
// back to what is there.
func (f *Follower) update(ctx context.Context) error {
	f.current = true
	for key := range f.known {
		if err := f.updatePart(ctx, key); err != nil {
			return err
		}
	}
	for _, p := range f.events.live.passing(f.req.Session) {
		if err := f.updateLoose(&p); err != nil {
			return err
		}
	}
	return nil
}

func (f *Follower) updatePart(ctx context.Context, key partKey) error {
	l := f.events.live
	p, ok := l.state(key, f.after)
	loose := strings.HasPrefix(key.owner, shoal.PrefixRun)
	switch {
	case loose && !l.has(key): // it ended meanwhile
		n := passing{key: key, space: f.req.Space, run: shoal.RunID(key.owner), what: shoal.EventReasoningDelta, loose: true}
		delete(f.known, key)
		return f.tellLoose(&n, "end")
	case ok && !f.seesDelta(p.Space, p.Target, loose, p.Show && p.Space != ""): // a cursor says what its bearer likes
		delete(f.known, key)
		return nil
	case !loose && (ok && f.known[key] < p.start || !l.has(key)):
		if err := f.fromDraft(ctx, key, f.known[key]); err != nil {
			return err
		}
	}
	have, open := f.known[key]
	switch {
	case !ok || !open:
		return nil
	case have > p.end():
		return f.cutBack(p.head(), key, p.end(), f.after)
	case have < p.start || have == p.end():
		return nil
	}
	return f.tell(p.eventType(), f.after, key, shoal.DeltaData{
		PartHead: p.head(), ToolCallID: p.Call, ToolName: p.Tool, Offset: have, Delta: string(p.text[have-p.start:]),
	})
}

// updateLoose tells what there is of something that is in no message, to whoever
// has nothing of it.
func (f *Follower) updateLoose(p *livePart) error {
	key := partKey{f.req.Session, p.owner(p.run), p.Part}
	if _, open := f.known[key]; open || !f.concerns(p) || !f.seesDelta(p.Space, p.Target, true, p.Show && p.Space != "") {
		return nil
	}
	n := passing{key: key, space: p.Space, run: p.run, target: p.Target, what: p.eventType(), loose: true}
	f.known[key] = 0
	if err := f.tellLoose(&n, "start"); err != nil || len(p.text) == 0 {
		return err
	}
	return f.tell(n.what, f.after, key, shoal.DeltaData{PartHead: p.head(), ToolCallID: p.Call, ToolName: p.Tool, Delta: string(p.text)})
}

// concerns reports whether what is in no message belongs to what is followed.
func (f *Follower) concerns(p *livePart) bool {
	switch {
	case p.start != 0:
		return false
	case f.req.Run != "":
		return p.run == f.req.Run
	case f.req.Space != "":
		return p.Space == f.req.Space
	}
	return true
}

// cutBack tells that less of a part is there than the follower had.
func (f *Follower) cutBack(h shoal.PartHead, key partKey, offset int, place int64) error {
	h.Type = shoal.EventPartReset
	f.known[key] = offset
	body, err := shoal.EncodeJSON(shoal.PartResetData{PartHead: h, Offset: offset})
	if err == nil {
		f.pending = append(f.pending, shoal.Event{Type: h.Type, Cursor: f.cursor(place), Data: body})
	}
	return err
}

// fromDraft brings a text in line with its draft, when nobody on this server writes
// it now. What was in no message and is gone has ended.
func (f *Follower) fromDraft(ctx context.Context, key partKey, have int) error {
	var found *shoal.Part
	var in shoal.Message
	err := f.events.store.View(ctx, func(tx Tx) error {
		found, in = nil, shoal.Message{}
		open, err := tx.Streaming(key.session, f.req.Space)
		for _, m := range open {
			if string(m.ID) != key.owner {
				continue
			}
			in = m
			for i, p := range m.Parts {
				if p.ID == key.part {
					found = &m.Parts[i]
				}
			}
		}
		return err
	})
	if err != nil || in.ID == "" {
		return err
	}
	if !f.seesDelta(in.SpaceID, "", false, true) || found != nil && !f.maySee(found.Target) {
		delete(f.known, key)
		return nil
	}
	h := shoal.PartHead{MessageID: in.ID, PartID: key.part, EventHead: shoal.EventHead{SpaceID: &in.SpaceID, RunID: in.RunID, At: shoal.Now()}}
	switch {
	case found == nil:
		return f.withdraw(StoredEvent{Space: in.SpaceID, Run: *in.RunID}, key, f.after)
	case found.Status != shoal.PartStreaming:
	case have > len(found.Text):
		return f.cutBack(h, key, len(found.Text), f.after)
	case have < len(found.Text):
		h.Type = shoal.EventTextDelta
		return f.tell(h.Type, f.after, key, shoal.DeltaData{PartHead: h, Offset: have, Delta: found.Text[have:]})
	}
	return nil
}
