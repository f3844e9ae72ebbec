package talk

import (
	"context"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
)

// receiptText says how far a mention has got, for people.
func receiptText(r shoal.Receipt) string {
	text := string(r.State)
	switch {
	case r.State == shoal.ReceiptFailed && r.FailedReason != nil:
		text += " (" + *r.FailedReason + ")"
	case r.State == shoal.ReceiptDelivered && r.Via != nil:
		text += " via " + *r.Via
	case r.State == shoal.ReceiptAnswered && r.AnsweredBy != nil:
		text += " by " + string(*r.AnsweredBy)
	}
	if r.Text != "" {
		text += ": " + r.Text
	}
	return text
}

// reachText says how a message reaches an agent, for people.
func reachText(r shoal.Reach) string {
	text := string(r.State)
	if r.Via != nil {
		text += " via " + *r.Via
	}
	if r.Text != "" {
		text += ": " + r.Text
	}
	return text
}

// receiptNotes prints a note whenever a mention of a message gets further.
type receiptNotes struct {
	out  *cli.Output
	last map[shoal.EntityID]string
}

func newReceiptNotes(out *cli.Output) *receiptNotes {
	return &receiptNotes{out, map[shoal.EntityID]string{}}
}

// show prints what has changed. An answer is printed by itself.
func (n *receiptNotes) show(receipts []shoal.Receipt) {
	for _, r := range receipts {
		text := receiptText(r)
		if n.last[r.EntityID] != text && r.State != shoal.ReceiptAnswered {
			n.out.Note("%s: %s", r.EntityID, text)
		}
		n.last[r.EntityID] = text
	}
}

// lastReceiptsWithin is how long a command whose time is up waits for the receipts that say
// where it hangs.
const lastReceiptsWithin = 5 * time.Second

// lastReceipts returns the receipts of a message although ctx has ended, or nil.
func lastReceipts(ctx context.Context, session *client.Session, id shoal.MessageID) []shoal.Receipt {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastReceiptsWithin)
	defer cancel()
	receipts, err := session.Receipts(ctx, id)
	if err != nil {
		return nil // what the command reports does not depend on them
	}
	return receipts
}

// noteReceipts prints what became of each mention of an agent in a message.
func noteReceipts(out *cli.Output, receipts []shoal.Receipt) {
	for _, r := range receipts {
		times := ""
		for _, step := range []struct {
			name string
			at   *shoal.Time
		}{{"delivered", r.DeliveredAt}, {"resumed", r.ResumedAt}, {"answered", r.AnsweredAt}} {
			if step.at != nil {
				times += fmt.Sprintf(", %s %s", step.name, out.FormatTime(step.at, ""))
			}
		}
		out.Note("%s: %s%s", r.EntityID, receiptText(r), times)
	}
}
