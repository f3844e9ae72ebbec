package inbox

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// mailboxTTL is how long a mailbox without waits remembers the batches that it
// delivered. A caller that waits again later gets its last batch again.
const mailboxTTL = time.Hour

// mailbox returns the mailbox for key. The caller must release it.
func (b *Inbox) mailbox(key storage.EntityRef) *mailbox {
	b.mu.Lock()
	defer b.mu.Unlock()
	box := b.mailboxes[key]
	if box == nil {
		box = &mailbox{inbox: b, key: key, explicit: map[shoal.KeyID]bool{}, batches: map[shoal.KeyID][]*batch{}}
		b.mailboxes[key] = box
	}
	box.mu.Lock()
	box.users++
	box.mu.Unlock()
	return box
}

// holdAdapters lets the waits of adapters of an entity know whether the entity itself waits on another
// server. Presence calls it when that may have changed.
func (b *Inbox) holdAdapters(key storage.EntityRef) {
	if !b.core.Begin() {
		return
	}
	defer b.core.Running.Done()
	b.mu.Lock()
	box := b.mailboxes[key]
	b.mu.Unlock()
	if box != nil {
		box.stepBeside(func(x *machine) { x.hold(box.waitsElsewhere()) })
	}
}

// release ends the use of a mailbox.
func (b *Inbox) release(box *mailbox) {
	b.mu.Lock()
	defer b.mu.Unlock()
	box.mu.Lock()
	box.users--
	box.idle = time.Now()
	if box.users == 0 && box.sub != nil {
		box.sub.Close()
		box.sub = nil
	}
	box.mu.Unlock()
	b.dropUnused(box)
}

// drop drops a mailbox if it is unused.
func (b *Inbox) drop(box *mailbox) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dropUnused(box)
}

// dropUnused drops a mailbox that no call uses and that remembers no batches. It keeps a
// mailbox whose deliveries are not stored yet, because the next wait must count them
// before it reads. b.mu must be held.
func (b *Inbox) dropUnused(box *mailbox) {
	box.mu.Lock()
	defer box.mu.Unlock()
	if b.mailboxes[box.key] == box && box.users == 0 && box.machine.isUnused() && len(box.batches) == 0 {
		delete(b.mailboxes, box.key)
	}
}

// dropStale drops mailboxes that have not been used for mailboxTTL.
func (b *Inbox) dropStale(context.Context) error {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, box := range b.mailboxes {
		box.mu.Lock()
		stale := box.users == 0 && box.machine.isUnused() && now.Sub(box.idle) > mailboxTTL
		box.mu.Unlock()
		if stale {
			delete(b.mailboxes, key)
		}
	}
	b.forgetSessions()
	return nil
}

// Start starts the tasks that drop unused mailboxes and store the delivery counts. They end
// when the hub stops.
func (b *Inbox) Start() {
	b.core.Go(func(ctx context.Context) { b.core.Repeat(ctx, time.Minute, "mailboxes", b.dropStale) })
	if b.core.Bus.Shared() {
		b.core.Go(b.receiveBatches)
	}
	b.core.Go(func(ctx context.Context) { b.core.Repeat(ctx, countInterval, "deliveries", b.storeAllCounts) })
}
