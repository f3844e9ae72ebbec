package inbox

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// The number of deliveries of an entry is stored before the entry is delivered again, or a
// second later in one transaction with those of all other mailboxes. Most entries are
// acknowledged before that, and then nothing needs to be stored: a wake-up costs no commit
// besides that of the post. If the process dies in between, the number of the next delivery
// is too low by one.

// countInterval is how long the count of a delivery may exist in memory only.
const countInterval = time.Second

// delivery is an entry that was delivered and is not counted yet.
type delivery struct {
	place  int64
	reason shoal.Reason
	space  shoal.SpaceID
	sender shoal.EntityID
}

func newDelivery(e storage.InboxEntry) delivery {
	return delivery{e.Place, e.Reason, e.Space.ID, e.Message.EntityID}
}

// matches reports whether the filter selects the entry.
func (d delivery) matches(f storage.InboxFilter) bool {
	return (f.Kind != shoal.WaitMentions || d.reason != shoal.ReasonMessage) &&
		(f.Space == "" || f.Space == d.space) &&
		(len(f.From) == 0 || d.reason == shoal.ReasonSystem || slices.Contains(f.From, d.sender))
}

// recordDelivered records that entries were delivered. m.mu must be held.
func (m *mailbox) recordDelivered(entries []storage.InboxEntry) {
	for _, e := range entries {
		d := newDelivery(e)
		if !slices.Contains(m.uncounted, d) { // several waits can wake with the same entry
			m.uncounted = append(m.uncounted, d)
		}
	}
}

// dropUncounted removes deliveries that no longer need to be counted, because the entries
// are acknowledged.
func (m *mailbox) dropUncounted(f storage.InboxFilter, upTo int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.uncounted = slices.DeleteFunc(m.uncounted, func(d delivery) bool { return d.place <= upTo && d.matches(f) })
}

// takeUncounted returns the positions of the uncounted deliveries and clears the list. m.mu
// must be held.
func (m *mailbox) takeUncounted() []int64 {
	places := make([]int64, len(m.uncounted))
	for i, d := range m.uncounted {
		places[i] = d.place
	}
	m.uncounted = nil
	return places
}

// storeUncounted stores the deliveries so far. The caller must hold m.reading.
func (m *mailbox) storeUncounted(ctx context.Context) {
	m.mu.Lock()
	places := m.takeUncounted()
	m.mu.Unlock()
	if len(places) > 0 {
		m.inbox.storeCounts(ctx, map[storage.EntityRef][]int64{m.key: places})
	}
}

// storeAllCounts stores the deliveries of all mailboxes. It skips a mailbox that is being
// read: the reader stores the counts before it reads.
func (b *Inbox) storeAllCounts(ctx context.Context) error {
	places := map[storage.EntityRef][]int64{}
	var counted []*mailbox
	b.mu.Lock()
	for key, box := range b.mailboxes {
		box.mu.Lock()
		if len(box.uncounted) > 0 {
			select {
			case box.reading <- struct{}{}:
				places[key] = box.takeUncounted()
				counted = append(counted, box)
			default:
			}
		}
		box.mu.Unlock()
	}
	b.mu.Unlock()
	if len(counted) == 0 {
		return nil
	}
	b.storeCounts(context.WithoutCancel(ctx), places)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, box := range counted {
		<-box.reading // the next reader sees the counts
		b.dropUnused(box)
	}
	return nil
}

func (b *Inbox) storeCounts(ctx context.Context, places map[storage.EntityRef][]int64) {
	var err error
	for at := range storage.Batches(sessionsOf(places)) {
		err = errors.Join(err, b.core.Store.Update(ctx, at, func(tx storage.Tx) error {
			for key, delivered := range places {
				if !at.Includes(key.Session) {
					continue
				}
				if err := tx.MarkDelivered(key.Session, key.ID, delivered); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	if err != nil {
		b.core.Log.Error("deliveries could not be counted; the next ones carry the same numbers", "error", err)
	}
}

// sessionsOf returns the sessions of mailboxes.
func sessionsOf(places map[storage.EntityRef][]int64) []shoal.SessionID {
	sessions := make([]shoal.SessionID, 0, len(places))
	for key := range places {
		sessions = append(sessions, key.Session)
	}
	return sessions
}

// Flush stores the delivery counts that are not stored yet. Call it after Stop.
func (b *Inbox) Flush() { _ = b.storeAllCounts(b.core.Ctx) } // logs its own failures
