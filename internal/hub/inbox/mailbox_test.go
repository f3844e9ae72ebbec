package inbox

import (
	"testing"

	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// A mailbox whose deliveries are being stored stays the one that everybody uses:
// a wait that made a new one would read the inbox before they are in it, and the
// same message would be delivered twice under one number.
func TestMailboxStaysWhileCounting(t *testing.T) {
	b := &Inbox{mailboxes: map[storage.EntityRef]*mailbox{}}
	key := storage.EntityRef{Session: "default", ID: "ann"}
	box := b.mailbox(key)
	box.reading <- struct{}{} // as storeAllCounts does
	b.release(box)
	if b.mailbox(key) != box {
		t.Fatal("the next wait gets another mailbox")
	}
	<-box.reading
	b.release(box)
	if len(b.mailboxes) != 0 {
		t.Error("a mailbox that nobody uses is kept")
	}
}
