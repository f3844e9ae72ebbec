package inbox

import (
	"context"
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// A caller that acknowledges implicitly does so with its next call, on whatever server that is.
// So a server that has written a response with a batch publishes it for the others, and each
// remembers the last batch of every key. If that is late or lost, the caller gets the batch again.
// Waits of adapters leave what other servers have delivered to the entity itself.

// batchTopic carries sharedBatch between servers.
const batchTopic = "batches"

// sharedBatch is a batch that was delivered completely, or, without a place, the end of all
// earlier ones: the caller wants them again.
type sharedBatch struct {
	Session shoal.SessionID     `json:"session"`
	Entity  shoal.EntityID      `json:"entity"`
	Key     shoal.KeyID         `json:"key"`
	Filter  storage.InboxFilter `json:"filter"`
	UpTo    int64               `json:"upTo"`
	// Explicit says that the key acknowledges explicitly, so that nobody has to remember the batch.
	Explicit bool `json:"explicit,omitempty"`
}

// publishDelivery publishes for the other servers a batch that was delivered to a key.
func (m *mailbox) publishDelivery(key shoal.KeyID, f storage.InboxFilter, upTo int64, explicit bool) {
	m.publishBatch(sharedBatch{Key: key, Filter: f, UpTo: upTo, Explicit: explicit})
}

// publishRedelivery publishes for the other servers that all batches of a key have ended, which
// wants them again.
func (m *mailbox) publishRedelivery(key shoal.KeyID) { m.publishBatch(sharedBatch{Key: key}) }

func (m *mailbox) publishBatch(s sharedBatch) {
	bus := m.inbox.core.Bus
	if !bus.Shared() {
		return
	}
	s.Session, s.Entity = m.key.Session, m.key.ID
	if event, err := json.Marshal(s); err == nil {
		bus.Publish(core.Notification{Topic: batchTopic, Event: event, Urgent: true})
	}
}

// receiveBatches remembers what other servers have delivered, until ctx ends.
func (b *Inbox) receiveBatches(ctx context.Context) {
	sub := b.core.Bus.Subscribe()
	defer sub.Close()
	sub.Add(batchTopic)
	for {
		select {
		case <-ctx.Done():
			return
		case <-sub.Ready():
		}
		for _, n := range sub.Take() {
			var s sharedBatch
			if n.Remote && n.Event != nil && json.Unmarshal(n.Event, &s) == nil {
				b.receiveBatch(s)
			}
		}
	}
}

func (b *Inbox) receiveBatch(s sharedBatch) {
	box := b.mailbox(storage.EntityRef{Session: s.Session, ID: s.Entity})
	defer b.release(box)
	box.takeBatches(s.Key, true)
	if s.UpTo == 0 {
		return
	}
	box.apply(func(x *machine) { x.handOver(s.Filter, s.UpTo) })
	if s.Explicit {
		return
	}
	if h := box.recordBatch(s.Key, s.Filter, s.UpTo); h != nil {
		h.settle(true)
	}
}
