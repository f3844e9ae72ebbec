package core

import (
	"sync"

	"github.com/shoal-dev/shoal"
)

// Receipts are the messages whose receipts have changed since they were announced. They are
// announced together, a moment later: what changes them is on the path of posts and waits,
// and a message has many changes in a short time.
type Receipts struct {
	mu      sync.Mutex
	changed map[ReceiptsOf]bool
}

// ReceiptsOf identifies the message of a session by its id, or by its seq in a space.
type ReceiptsOf struct {
	Session shoal.SessionID
	Space   shoal.SpaceID
	Message shoal.MessageID
	Seq     int64
}

// maxChangedReceipts is the number of messages that wait to be announced. More are not
// announced, which clients notice when they read the receipts again.
const maxChangedReceipts = 4096

// Changed records that the receipts of a message have changed in the store.
func (r *Receipts) Changed(of ReceiptsOf) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed == nil {
		r.changed = map[ReceiptsOf]bool{}
	}
	if len(r.changed) < maxChangedReceipts {
		r.changed[of] = true
	}
}

// Take returns the messages with changed receipts and forgets them.
func (r *Receipts) Take() map[ReceiptsOf]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed := r.changed
	r.changed = nil
	return changed
}
