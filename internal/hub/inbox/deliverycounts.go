package inbox

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
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
	seq    int64
	at     shoal.Time // set when it is announced
}

func newDelivery(e storage.InboxEntry) delivery {
	return delivery{place: e.Place, reason: e.Reason, space: e.Space.ID, sender: e.Message.EntityID, seq: e.Message.Seq}
}

// entry returns the delivery as the store records it.
func (d delivery) entry() storage.DeliveredEntry {
	e := storage.DeliveredEntry{Place: d.place, At: d.at, Via: shoal.ViaWait}
	if d.reason == shoal.ReasonMention {
		e.Mention = storage.MessagePosition{Space: d.space, Seq: d.seq}
	}
	return e
}

// matches reports whether the filter selects the entry.
func (d delivery) matches(f storage.InboxFilter) bool {
	return (f.Kind != shoal.WaitMentions || d.reason != shoal.ReasonMessage) &&
		(f.Space == "" || f.Space == d.space) &&
		(len(f.From) == 0 || d.reason == shoal.ReasonSystem || slices.Contains(f.From, d.sender))
}

// storeAllCounts stores the deliveries of all mailboxes. It skips a mailbox that performs a
// task: the deliveries are counted before it reads.
func (b *Inbox) storeAllCounts(context.Context) error {
	places := map[storage.EntityRef][]storage.DeliveredEntry{}
	var counted []*mailbox
	b.mu.Lock()
	for key, box := range b.mailboxes {
		box.mu.Lock()
		if t := box.machine.count(); t.counts != nil {
			places[key], counted = t.counts, append(counted, box)
		}
		box.mu.Unlock()
	}
	b.mu.Unlock()
	b.storeCounts(places)
	for _, box := range counted {
		box.step((*machine).counted)
		b.drop(box)
	}
	return nil
}

// storeCounts stores deliveries. It completes even if the server stops.
func (b *Inbox) storeCounts(places map[storage.EntityRef][]storage.DeliveredEntry) {
	ctx := context.WithoutCancel(b.core.Ctx)
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
	for key, delivered := range places {
		for _, d := range delivered {
			if d.Mention.Seq > 0 {
				b.core.Receipts.Changed(core.ReceiptsOf{Session: key.Session, Space: d.Mention.Space, Seq: d.Mention.Seq})
			}
		}
	}
	if err != nil {
		b.core.Log.Error("deliveries could not be counted; the next ones carry the same numbers", "error", err)
	}
}

// sessionsOf returns the sessions of mailboxes.
func sessionsOf(places map[storage.EntityRef][]storage.DeliveredEntry) []shoal.SessionID {
	sessions := make([]shoal.SessionID, 0, len(places))
	for key := range places {
		sessions = append(sessions, key.Session)
	}
	return sessions
}

// Flush stores the delivery counts that are not stored yet. Call it after Stop.
func (b *Inbox) Flush() { _ = b.storeAllCounts(b.core.Ctx) } // logs its own failures
