package hub

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal"
)

// forgetAfter is how long a mailbox without waits remembers what it handed out.
// A caller that comes back later gets its last batch again.
const forgetAfter = time.Hour

// mailbox returns the mailbox for key and holds it until release.
func (b *Inbox) mailbox(key mailboxKey) *mailbox {
	b.mu.Lock()
	defer b.mu.Unlock()
	box := b.mailboxes[key]
	if box == nil {
		box = &mailbox{inbox: b, key: key, readers: map[shoal.KeyID]*readerState{}, collecting: make(chan struct{}, 1)}
		b.mailboxes[key] = box
	}
	box.mu.Lock()
	box.users++
	box.mu.Unlock()
	return box
}

// release lets go of a mailbox.
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

// dropUnused drops a mailbox that nobody holds and that holds nothing worth
// remembering. One whose deliveries are being stored is kept until they are: who
// waits next must not read around it. b.mu must be held.
func (b *Inbox) dropUnused(box *mailbox) {
	box.mu.Lock()
	defer box.mu.Unlock()
	if box.users > 0 || len(box.uncounted) > 0 || len(box.collecting) > 0 {
		return
	}
	for _, r := range box.readers {
		if len(r.handed) > 0 {
			return
		}
	}
	delete(b.mailboxes, box.key)
}

// forget drops mailboxes that nobody has used for long.
func (b *Inbox) forget(context.Context) error {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, box := range b.mailboxes {
		box.mu.Lock()
		stale := box.users == 0 && len(box.uncounted) == 0 && now.Sub(box.idle) > forgetAfter
		box.mu.Unlock()
		if stale {
			delete(b.mailboxes, key)
		}
	}
	return nil
}
