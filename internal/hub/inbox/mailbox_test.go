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
	box.reading <- struct{}{} // as storeAllCounts does
	b.release(box)
	if b.mailbox(key) != box {
		t.Fatal("the next wait got another mailbox")
	}
	<-box.reading
	b.release(box)
	if len(b.mailboxes) != 0 {
		t.Error("an unused mailbox was not dropped")
	}
}
