package hub

import (
	"cmp"
	"slices"
	"sync"

	"github.com/shoal-dev/shoal"
)

// Live holds what the parts in progress of this node have been told so far.
// Nothing of it is stored: it makes deltas that somebody missed good, and shows
// snapshots what the last draft does not have yet.
type Live struct {
	mu    sync.Mutex
	parts map[partKey]*livePart
}

func NewLive() *Live { return &Live{parts: map[partKey]*livePart{}} }

// partKey names a part: of a message, or, for what passes by without being stored,
// of a run.
type partKey struct {
	session shoal.SessionID
	owner   string
	part    shoal.PartID
}

// livePart is a part in progress. text stands behind start bytes that only the
// store has. base is the place of the part's last reset: who has not had that event
// yet cannot use the text. doubt counts the transactions under way that reset or
// end the part.
type livePart struct {
	Delta
	opened     int64 // the place of the event that opened it; 0 if that was before this server
	run        shoal.RunID
	generation int64
	start      int
	text       []byte
	base       int64
	doubt      int
	over       bool // it has ended or was withdrawn: what is still relayed of it says nothing
}

func (p *livePart) end() int { return p.start + len(p.text) }

// add takes a delta and returns what followers have to know of the part. ok is
// false when whoever sends it has lost its lease.
func (l *Live) add(lease Lease, key partKey, d Delta) (base int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.parts[key]
	if p == nil || p.generation < lease.Generation && d.Message == "" {
		p = &livePart{start: d.Offset}
		l.parts[key] = p
	}
	if p.over || p.generation > lease.Generation {
		return 0, false
	}
	p.Delta, p.run, p.generation = d, lease.Run, lease.Generation
	p.Text = ""
	switch at := d.Offset - p.start; {
	case at < 0 || at > len(p.text):
		p.start, p.text = d.Offset, []byte(d.Text)
	default:
		p.text = append(p.text[:at], d.Text...)
	}
	if d.Last {
		delete(l.parts, key)
	}
	return p.base, true
}

// since returns the bytes of a part from an offset on, for whoever has had the
// stored events up to a place.
func (l *Live) since(key partKey, offset int, place int64) (text string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.parts[key]
	if p == nil || p.over || p.doubt > 0 || p.base > place || offset < p.start || offset > p.end() {
		return "", false
	}
	return string(p.text[offset-p.start:]), true
}

// state returns a part as it is for whoever has had the stored events up to a
// place.
func (l *Live) state(key partKey, place int64) (livePart, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.parts[key]
	if p == nil || p.over || p.doubt > 0 || p.base > place {
		return livePart{}, false
	}
	out := *p
	out.text = append([]byte(nil), p.text...)
	return out, true
}

func (l *Live) has(key partKey) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.parts[key] != nil
}

// head is what a delta of the part has in common with its other events.
func (p *livePart) head() shoal.PartHead {
	return shoal.PartHead{
		EventHead: head(StoredEvent{Space: p.Space, Run: p.run, Type: p.eventType()}, shoal.Now()),
		MessageID: p.Message, PartID: p.Part, TargetEntityID: p.Target,
	}
}

// passing returns what is in no message.
func (l *Live) passing(session shoal.SessionID) (out []livePart) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, p := range l.parts {
		if key.session == session && p.Message == "" {
			one := *p
			one.text = append([]byte(nil), p.text...)
			out = append(out, one)
		}
	}
	return out
}

// drop forgets parts: their message is closed, or their run has ended or waits.
func (l *Live) drop(which func(*livePart) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, p := range l.parts {
		if which(p) {
			delete(l.parts, key)
		}
	}
}

// change notes what a transaction does to a part, at once that it may, and at its
// end that it has.
func (l *Live) change(ch *change, key partKey, do func(*livePart)) {
	l.mu.Lock()
	p := l.parts[key]
	if p != nil {
		p.doubt++
	}
	l.mu.Unlock()
	ch.after(func(committed bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if p != nil {
			p.doubt--
		}
		if p = l.parts[key]; p != nil && committed {
			do(p)
		}
	})
}

// TellPart stores an event of a part in progress: data is the event's own type of
// the root package; its EventHead is filled in. target is the one member who may
// see it, or empty. The message has to be saved in the same transaction, as it is
// with the event: whoever comes later sees it there.
func (c *RunChange) TellPart(space shoal.SpaceID, target shoal.EntityID, what shoal.EventType, data PartEvent) error {
	ev := StoredEvent{Session: c.Run.SessionID, Space: space, Run: c.Run.ID, Private: target != "", Type: what}
	h := data.Head()
	place, err := tellAs(c.change, ev, func(head shoal.EventHead) any {
		h.EventHead, h.TargetEntityID = head, target
		return data
	})
	if err != nil {
		return err
	}
	key := partKey{ev.Session, string(h.MessageID), h.PartID}
	l := c.live
	switch what {
	case shoal.EventTextStart, shoal.EventToolInputStart:
		c.after(func(committed bool) {
			if committed {
				d := Delta{Space: space, Message: h.MessageID, Part: h.PartID, Target: target}
				if input, ok := data.(*shoal.ToolInputData); ok {
					d.Call, d.Tool = input.ToolCallID, input.ToolName
				}
				l.open(key, c.Run, d, place)
			}
		})
	case shoal.EventPartReset:
		offset := data.(*shoal.PartResetData).Offset
		l.change(c.change, key, func(p *livePart) { p.cut(offset, place) })
	case shoal.EventTextEnd, shoal.EventToolInputAvailable, shoal.EventPartRemoved:
		l.change(c.change, key, func(p *livePart) { p.over, p.text = true, nil })
	}
	return nil
}

// open notes a new part, or one that another generation of its run has begun.
func (l *Live) open(key partKey, run *StoredRun, d Delta, place int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parts[key] = &livePart{Delta: d, opened: place, run: run.ID, generation: run.Generation}
}

// opened returns the parts of a message that were opened at a place or before it,
// in that order.
func (l *Live) opened(session shoal.SessionID, message shoal.MessageID, place int64) (out []livePart) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, p := range l.parts {
		if key.session == session && p.Message == message && 0 < p.opened && p.opened <= place && p.doubt == 0 && !p.over {
			out = append(out, *p)
		}
	}
	slices.SortFunc(out, func(a, b livePart) int { return cmp.Compare(a.opened, b.opened) })
	return out
}

// cut takes back what is behind offset.
func (p *livePart) cut(offset int, place int64) {
	p.base = place
	if offset < p.start {
		p.start, p.text = offset, nil
		return
	}
	p.text = p.text[:min(offset-p.start, len(p.text))]
}

// PartEvent is the data of an event of a part.
type PartEvent interface{ Head() *shoal.PartHead }
