package feed

import (
	"encoding/json"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Parts that other servers write. Their deltas arrive over a bus that may lose some. Then the
// feed reads the stored drafts of the streaming parts, appends the newer deltas in its window,
// and its followers continue from there. Executors store drafts every 250 ms, and half a
// second after the last time when a model pauses, so one that is too old is soon replaced.

// Drafts are read every draftInterval until draftTime after the last request: at least once
// when everything that was written before the request is stored.
const (
	draftInterval = 300 * time.Millisecond
	draftTime     = time.Second
)

// draft is the text of a streaming part at a position of the feed, including the deltas that
// were in the window then. base is the position of the part's last opening or reset that the
// feed has read, or 0.
type draft struct {
	message shoal.Message // without parts
	part    shoal.Part
	base    int64
	readAt  int64
}

func (d *draft) key() live.PartKey {
	return live.PartKey{Session: d.message.SessionID, Owner: string(d.message.ID), Part: d.part.ID}
}

func (d *draft) head() shoal.PartHead {
	ev := storage.Event{Space: d.message.SpaceID, Run: *d.message.RunID, Type: shoal.EventTextDelta}
	if d.part.Type == shoal.ToolPart {
		ev.Type = shoal.EventToolInputDelta
	}
	return shoal.PartHead{EventHead: core.EventHead(ev, shoal.Now()), MessageID: d.message.ID, PartID: d.part.ID, TargetEntityID: d.part.Target}
}

// draftSchedule is when the pump of a feed reads drafts. The pump owns it. asked is set if a
// follower has asked for drafts since a read found none: it may have parts that were opened
// before the feed began.
type draftSchedule struct {
	asked bool
	until time.Time
	last  time.Time
	timer *time.Timer // nil if nothing is scheduled
}

// due returns the channel of the timer, nil if nothing is scheduled.
func (s *draftSchedule) due() <-chan time.Time {
	if s.timer == nil {
		return nil
	}
	return s.timer.C
}

// request schedules reads from now on.
func (s *draftSchedule) request() {
	s.until = time.Now().Add(draftTime)
	if s.timer == nil {
		s.timer = time.NewTimer(time.Until(s.last.Add(draftInterval)))
	}
}

// next schedules the next read, if there is one. some reports whether the last read found
// anything.
func (s *draftSchedule) next(some bool) {
	s.timer, s.last, s.asked = nil, time.Now(), some
	if some && s.last.Add(draftInterval).Before(s.until) {
		s.timer = time.NewTimer(draftInterval)
	}
}

func (s *draftSchedule) stop() {
	if s.timer != nil {
		s.timer.Stop()
	}
}

// requestDrafts makes the pump read the drafts of the parts that other servers write.
func (f *feed) requestDrafts() {
	select {
	case f.draftRequests <- struct{}{}:
	default:
	}
}

// maxDraftSpaces is the number of spaces up to which the drafts of an entity's spaces are read
// one by one, and not those of the whole session.
const maxDraftSpaces = 16

// streamingMessages reads the messages with streaming parts that the feed may deliver, and
// maybe others.
func (f *feed) streamingMessages(tx Tx) ([]shoal.Message, error) {
	if f.key.run != "" {
		composed, err := tx.Composed(f.key.session, f.key.run)
		out := make([]shoal.Message, len(composed))
		for i, m := range composed {
			out[i] = m.Message
		}
		return out, err
	}
	if f.key.entity == "" || len(f.memberOf) > maxDraftSpaces {
		return tx.Streaming(f.key.session, f.key.space)
	}
	var out []shoal.Message
	for space, in := range f.memberOf {
		if !in {
			continue
		}
		some, err := tx.Streaming(f.key.session, space)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

// setDrafts replaces the drafts by those of messages, which were read at the position f.last,
// and puts an entry that says so into the window. It returns whether another server writes one
// of them.
func (e *Events) setDrafts(f *feed, messages []shoal.Message) (some bool) {
	drafts := map[live.PartKey]*draft{}
	for _, m := range messages {
		if m.RunID == nil {
			continue
		}
		parts := m.Parts
		m.Parts = nil
		for _, p := range parts {
			if p.Status == shoal.PartStreaming || p.Status == shoal.PartInputStreaming {
				d := &draft{message: m, part: p, readAt: f.last}
				d.base = f.bases[d.key()]
				drafts[d.key()] = d
				some = some || !e.live.Has(d.key())
			}
		}
	}
	f.mu.Lock()
	for _, en := range f.window {
		if en.delta != nil {
			drafts[en.delta.Key].add(en)
		}
	}
	f.drafts = drafts
	f.mu.Unlock()
	if len(drafts) > 0 {
		f.push(entry{drafts: true})
	}
	return some
}

// add appends what is new in a delta, if nothing is missing before it.
func (d *draft) add(en entry) {
	n := en.delta
	have := 0
	if d != nil {
		have = len(d.part.Text)
	}
	if d == nil || n.Base < d.base || n.Offset > have || n.Offset+n.Size <= have {
		return
	}
	var data shoal.DeltaData
	if json.Unmarshal(en.event.Data, &data) == nil {
		d.part.Text += data.Delta[have-n.Offset:]
	}
}

// draftOf returns the draft of a part for a follower that has received the stored events up
// to a position, or nil.
func (f *feed) draftOf(key live.PartKey, position int64) *draft {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d := f.drafts[key]; d != nil && d.base <= position && position <= d.readAt {
		return d
	}
	return nil
}

// dropDrafts drops the drafts of a message.
func (f *feed) dropDrafts(message string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key := range f.drafts {
		if key.Owner == message {
			delete(f.drafts, key)
		}
	}
}
