package inbox

import (
	"testing"

	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// A mailbox stays in use while its deliveries are stored. A wait that created another one
// would read the inbox before they are counted, and deliver the same message twice under
// one number.
func TestMailboxStaysWhileCounting(t *testing.T) {
	b := &Inbox{mailboxes: map[storage.EntityRef]*mailbox{}}
	key := storage.EntityRef{Session: "default", ID: "ann"}
	box := b.mailbox(key)
	box.machine.busy = true // as storeAllCounts does
	b.release(box)
	if b.mailbox(key) != box {
		t.Fatal("the next wait got another mailbox")
	}
	box.machine.busy = false
	b.release(box)
	if len(b.mailboxes) != 0 {
		t.Error("an unused mailbox was not dropped")
	}
	next := b.mailbox(key)
	b.drop(box) // its task ends only now
	if b.mailbox(key) != next {
		t.Error("the mailbox in use was dropped with its predecessor")
	}
}
