package live

import (
	"cmp"
	"slices"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Parts holds the text of the parts in progress that this server has relayed so far. It is
// not stored: it provides the text of deltas that a follower missed, and the text that a
// snapshot's last stored draft does not have yet.
//
// Another server may take a run over without this one knowing it. Its claim resets the
// streaming parts of the run (see runs.Work.ClaimFor), and lost is the lowest generation of
// such a run that may still relay here.
type Parts struct {
	mu    sync.Mutex
	parts map[PartKey]*Part
	lost  map[runKey]int64
}

// New returns Parts without parts.
func New() *Parts { return &Parts{parts: map[PartKey]*Part{}, lost: map[runKey]int64{}} }

// PartKey identifies a part: of a message, or, if it is not stored, of a run.
type PartKey struct {
	Session shoal.SessionID
	Owner   string
	Part    shoal.PartID
}

// Part is a part in progress. Bytes start at offset Start; the text before that
// is only in the store. resetAt is the position of the part's last reset: a follower that
// has not received that event cannot use the text. openedAt is the position of the event that
// opened it, 0 if this server did not see it. pendingChanges counts the open
// transactions that reset or end the part.
type Part struct {
	Delta
	openedAt       int64
	Run            shoal.RunID
	generation     int64
	Start          int
	Bytes          []byte
	resetAt        int64
	pendingChanges int
	ended          bool // it was completed or removed: later deltas of it are ignored
}

// End returns the offset after the last known byte.
func (p *Part) End() int { return p.Start + len(p.Bytes) }

// base returns the position of the event that the part's text begins with: its opening or
// its last reset.
func (p *Part) base() int64 { return max(p.openedAt, p.resetAt) }

// Add adds a delta of a generation of a run and returns the base of its part. ok is false when
// the part has ended or the sender has lost its lease.
func (l *Parts) Add(generation int64, run shoal.RunID, key PartKey, d Delta) (base int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lost) > 0 && generation < l.lost[runKey{key.Session, run}] {
		return 0, false
	}
	p := l.parts[key]
	if p == nil || p.generation < generation && d.Message == "" {
		p = &Part{Start: d.Offset}
		l.parts[key] = p
	}
	if p.ended || p.generation > generation {
		return 0, false
	}
	p.Delta, p.Run, p.generation = d, run, generation
	p.Text = ""
	switch at := d.Offset - p.Start; {
	case at < 0 || at > len(p.Bytes):
		p.Start, p.Bytes = d.Offset, []byte(d.Text)
	default:
		p.Bytes = append(p.Bytes[:at], d.Text...)
	}
	if d.Last {
		delete(l.parts, key)
	}
	return p.base(), true
}

// TextSince returns the bytes of a part from an offset on, for a follower that has received
// the stored events up to a position. ok is false if this server does not have them.
func (l *Parts) TextSince(key PartKey, offset int, position int64) (text string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.parts[key]
	if p == nil || p.ended || p.pendingChanges > 0 || p.resetAt > position || offset < p.Start || offset > p.End() {
		return "", false
	}
	return string(p.Bytes[offset-p.Start:]), true
}

// State returns the state of a part for a follower that has received the stored events up
// to a position.
func (l *Parts) State(key PartKey, position int64) (Part, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.parts[key]
	if p == nil || p.ended || p.pendingChanges > 0 || p.resetAt > position {
		return Part{}, false
	}
	out := *p
	out.Bytes = append([]byte(nil), p.Bytes...)
	return out, true
}

// Has reports whether a part is in progress.
func (l *Parts) Has(key PartKey) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.parts[key] != nil
}

// Head returns the fields that a delta of the part has in common with its other events.
func (p *Part) Head() shoal.PartHead {
	return shoal.PartHead{
		EventHead: core.EventHead(storage.Event{Space: p.Space, Run: p.Run, Type: p.EventType()}, shoal.Now()),
		MessageID: p.Message, PartID: p.Part, TargetEntityID: p.Target,
	}
}

// Unstored returns the parts of a session that belong to no message.
func (l *Parts) Unstored(session shoal.SessionID) (out []Part) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, p := range l.parts {
		if key.Session == session && p.Message == "" {
			one := *p
			one.Bytes = append([]byte(nil), p.Bytes...)
			out = append(out, one)
		}
	}
	return out
}

// Drop removes the parts that matches selects, because their message is closed, or
// their run has ended or is suspended.
func (l *Parts) Drop(matches func(*Part) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, p := range l.parts {
		if matches(p) {
			delete(l.parts, key)
		}
	}
}

// changePart marks a part as changing until the transaction ends, and then calls do with it
// if the transaction was committed.
func (l *Parts) changePart(ch *core.Change, key PartKey, do func(*Part)) {
	l.mu.Lock()
	p := l.parts[key]
	if p != nil {
		p.pendingChanges++
	}
	l.mu.Unlock()
	ch.OnEnd(func(committed bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if p != nil {
			p.pendingChanges--
		}
		if p = l.parts[key]; p != nil && committed {
			do(p)
		}
	})
}

// Open adds a new part, or one that another generation of its run has opened.
func (l *Parts) Open(key PartKey, run *storage.Run, d Delta, position int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parts[key] = &Part{Delta: d, openedAt: position, Run: run.ID, generation: run.Generation}
}

// Resume adds a part that a generation of its run continues from offset on, unless the part
// is there.
func (l *Parts) Resume(key PartKey, run *storage.Run, d Delta, offset int, position int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.parts[key]; p == nil || p.generation < run.Generation {
		l.parts[key] = &Part{Delta: d, Run: run.ID, generation: run.Generation, Start: offset, resetAt: position}
	}
}

// OpenedParts returns the parts of a message that were opened at a position or before it,
// in that order.
func (l *Parts) OpenedParts(session shoal.SessionID, message shoal.MessageID, position int64) (out []Part) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, p := range l.parts {
		if key.Session == session && p.Message == message && 0 < p.openedAt && p.openedAt <= position && p.pendingChanges == 0 && !p.ended {
			out = append(out, *p)
		}
	}
	slices.SortFunc(out, func(a, b Part) int { return cmp.Compare(a.openedAt, b.openedAt) })
	return out
}

// Reset removes the text of a part from offset on when the transaction is committed, as of
// the reset at the given position.
func (l *Parts) Reset(ch *core.Change, key PartKey, offset int, position int64) {
	l.changePart(ch, key, func(p *Part) { p.truncate(offset, position) })
}

// Finish ignores later deltas of a part when the transaction, in which it was completed or
// removed, is committed.
func (l *Parts) Finish(ch *core.Change, key PartKey) {
	l.changePart(ch, key, func(p *Part) { p.ended, p.Bytes = true, nil })
}

// truncate removes the text from offset on, as of the reset at the given position.
func (p *Part) truncate(offset int, position int64) {
	p.resetAt = position
	if offset < p.Start {
		p.Start, p.Bytes = offset, nil
		return
	}
	p.Bytes = p.Bytes[:min(offset-p.Start, len(p.Bytes))]
}
