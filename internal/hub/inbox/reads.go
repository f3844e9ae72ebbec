package inbox

import (
	"context"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// readFor returns what it has read for each wait of a task, and the last place of the session
// if nothing matches one of the waits. If the read fails, every wait gets the error, because
// the notification that would wake it was received before.
func (m *mailbox) readFor(t task) (found []answer, end int64) {
	ctx := context.WithoutCancel(m.inbox.core.Ctx)
	found, end, err := m.readEntries(ctx, t)
	for i, w := range t.waits {
		if w.agents != nil {
			found[i].agents, found[i].err = w.agents.find(ctx, m.inbox.core, m.key)
		} else if err != nil {
			found[i] = answer{err: err}
		}
	}
	return found, end
}

// readEntries reads the messages that match each wait of a task, from one snapshot. end is the
// last place of the session in that snapshot if nothing matches one of the waits. Waits with
// the same filter get the same messages.
func (m *mailbox) readEntries(ctx context.Context, t task) (found []answer, end int64, err error) {
	found = make([]answer, len(t.waits))
	if !slices.ContainsFunc(t.waits, func(w *wait) bool { return w.agents == nil }) {
		return found, 0, nil
	}
	m.shareClear(t)
	err = m.inbox.core.Store.View(ctx, func(tx storage.Tx) (err error) {
		clear(found)
		for i, w := range t.waits {
			if w.agents != nil {
				continue
			}
			if j := slices.IndexFunc(t.waits[:i], w.isLike); j >= 0 {
				found[i] = found[j]
			} else if found[i], err = m.readMatching(tx, w.filter, t.clear[i]); err != nil {
				return err
			}
		}
		if slices.ContainsFunc(found, func(a answer) bool { return len(a.entries) == 0 }) {
			end, err = tx.InboxEnd(m.key.Session)
		}
		return err
	})
	if err == nil {
		m.learnHorizon(t, found, end)
	}
	return found, end, err
}

// readMatching returns the messages that match a filter, as they are delivered, or an error if
// its space is deleted. Nothing up to the place clear matches.
func (m *mailbox) readMatching(tx Tx, f storage.InboxFilter, clear int64) (answer, error) {
	if f.Space != "" {
		if gone, err := tx.DeletedSpace(m.key.Session, f.Space); err != nil || gone {
			return answer{err: core.SpaceNotFound(f.Space)}, err
		}
	}
	after := f
	after.After = clear
	entries, err := tx.Unread(m.key.Session, m.key.ID, after, shoal.MaxBatch)
	if err != nil {
		return answer{}, err
	}
	entries = fitSenders(f, entries)
	for i := range entries {
		entries[i].Delivery++
		entries[i].Message = entries[i].Message.For(m.key.ID)
	}
	if n := len(entries); n > 0 && entries[n-1].EventPosition == 0 {
		entries[n-1].EventPosition, err = tx.EventEnd(m.key.Session)
	}
	return answer{entries: entries}, err
}

// shareClear sets the places up to which nothing matches each wait to the same value for
// waits with the same filter, so that they get the same messages, and at least to what the
// last read of the whole inbox has found.
func (m *mailbox) shareClear(t task) {
	horizon := m.inbox.horizon(m.key)
	for i, w := range t.waits {
		t.clear[i] = max(t.clear[i], horizon)
		for j, o := range t.waits[:i] {
			if w.isLike(o) {
				t.clear[i] = max(t.clear[i], t.clear[j])
				t.clear[j] = t.clear[i]
			}
		}
	}
}

// learnHorizon remembers up to where nothing is unread, if one of the waits was for all
// messages.
func (m *mailbox) learnHorizon(t task, found []answer, end int64) {
	whole := &wait{filter: storage.InboxFilter{Kind: shoal.WaitMessages}}
	i := slices.IndexFunc(t.waits, whole.isLike)
	if i < 0 {
		return
	}
	if len(found[i].entries) > 0 {
		end = found[i].entries[0].Place - 1
	}
	m.inbox.setHorizon(m.key, end)
}

// isLike reports whether two waits are for the same messages.
func (w *wait) isLike(o *wait) bool {
	return w.agents == nil && o.agents == nil && w.adapter == o.adapter && sameFilter(w.filter, o.filter)
}

func sameFilter(a, b storage.InboxFilter) bool {
	return a.Kind == b.Kind && a.Space == b.Space && slices.Equal(a.From, b.From)
}

// covers reports whether everything that b selects is selected by a.
func covers(a, b storage.InboxFilter) bool {
	return (a.Kind == shoal.WaitMessages || a.Kind == b.Kind) && (a.Space == "" || a.Space == b.Space) &&
		(len(a.From) == 0 || slices.Equal(a.From, b.From))
}

// Horizons are places up to which inboxes contain nothing, from reads of whole inboxes. A
// read then starts there, and need not search each space of its entity. A horizon stays
// valid: whatever enters an inbox later has a greater place.

// maxHorizons limits the inboxes whose horizons are remembered; without one, a read takes
// longer.
const maxHorizons = 50_000

// horizon returns the place up to which an inbox contains nothing, 0 if that is not known.
func (b *Inbox) horizon(key storage.EntityRef) int64 {
	b.horizonMu.Lock()
	defer b.horizonMu.Unlock()
	return b.horizons[key]
}

// setHorizon sets the horizon of an inbox.
func (b *Inbox) setHorizon(key storage.EntityRef, place int64) {
	b.horizonMu.Lock()
	defer b.horizonMu.Unlock()
	if b.horizons == nil || len(b.horizons) >= maxHorizons {
		b.horizons = map[storage.EntityRef]int64{}
	}
	b.horizons[key] = max(b.horizons[key], place)
}

// fromHorizon returns a filter for entries after the horizon of an inbox, before which
// nothing matches any filter.
func (b *Inbox) fromHorizon(key storage.EntityRef, f storage.InboxFilter) storage.InboxFilter {
	if f.Kind != shoal.WaitMentions {
		f.After = b.horizon(key)
	}
	return f
}
