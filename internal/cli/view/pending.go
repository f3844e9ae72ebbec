package view

import (
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chat"
	"github.com/shoal-dev/shoal/internal/cli"
)

// PendingRequest returns what a pending action asks for, and the command that answers it.
func PendingRequest(p shoal.PendingAction) string {
	how := "`shoal approvals answer %s JSON`"
	switch p.Kind {
	case shoal.PendingPermission:
		how = "`shoal approvals approve %s` or deny"
	case shoal.PendingQuestion:
		how = "`shoal approvals answer %s TEXT`"
	}
	return chat.Asks(p) + "; " + fmt.Sprintf(how, p.ID)
}

// PendingOutcome returns how a pending action ended: what was decided about a permission, and
// by whom.
func PendingOutcome(p shoal.PendingAction) string {
	how := string(p.Status)
	if d := p.Decision; d != nil && p.Status == shoal.PendingAnswered {
		switch {
		case d.Approved:
			how = "approved"
		case d.Ask != nil:
			how = "sent back with a question"
		default:
			how = "denied"
		}
	}
	if p.AnsweredBy != nil {
		return fmt.Sprintf("%s is %s by %s", p.ID, how, *p.AnsweredBy)
	}
	return fmt.Sprintf("%s is %s", p.ID, how)
}

// NotePending prints a note if the event is a new pending action.
func NotePending(o *cli.Output, e shoal.Event) error {
	if e.Type != shoal.EventPendingOpened {
		return nil
	}
	data, err := Decode[shoal.PendingData](e)
	if err == nil {
		o.Note("%s", PendingRequest(data.PendingAction))
	}
	return err
}
