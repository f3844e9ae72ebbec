package inbox

import (
	"context"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Resumed acknowledges the batch that cursor names without waiting again: the model of the
// caller has its messages. It is for programs that wait for a model, and know when the model
// begins with what they have passed on. As with the ack of a wait, the key acknowledges
// explicitly from then on, and a cursor of another lineage acknowledges nothing.
func (b *Inbox) Resumed(ctx context.Context, caller shoal.Principal, session shoal.SessionID, entity shoal.EntityID, cursor string) error {
	const op = "hub.Inbox.Resumed"
	req := &WaitRequest{Session: session, Entity: entity, Kind: shoal.WaitMessages, Ack: cursor}
	entity, err := prepareRequest(caller, req)
	if err != nil {
		return core.Wrap(op, err)
	}
	if cursor == "" {
		return core.Wrap(op, shoal.Invalid("cursor", "is missing: send the cursor that the wait returned"))
	}
	box := b.mailbox(mailboxKey(caller, session, entity))
	defer b.release(box)
	w := &HeldWait{inbox: b, caller: caller, req: req, box: box}
	return core.Wrap(op, w.acknowledge(ctx))
}

// DeliveredMentions returns the mentions that waits of this server have returned to an entity,
// and of which this is not stored yet.
func (b *Inbox) DeliveredMentions(key storage.EntityRef) []storage.DeliveredEntry {
	b.mu.Lock()
	box := b.mailboxes[key]
	b.mu.Unlock()
	if box == nil {
		return nil
	}
	return slices.DeleteFunc(box.known(), func(d storage.DeliveredEntry) bool { return d.Mention.Seq == 0 })
}
