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
}

// publishBatch publishes a batch that was delivered to a key for the other servers, or, with
// nil, that all earlier ones have ended.
func (m *mailbox) publishBatch(key shoal.KeyID, h *batch) {
	bus := m.inbox.core.Bus
	if !bus.Shared() {
		return
	}
	s := sharedBatch{Session: m.key.Session, Entity: m.key.ID, Key: key}
	if h != nil {
		s.Filter, s.UpTo = h.filter, h.upTo
	}
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
	if h := box.recordBatch(s.Key, s.Filter, s.UpTo); h != nil {
		h.settle(true)
	}
}
