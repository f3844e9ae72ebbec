package main

import (
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chat"
)

// asking tells what somebody is asked for, and how to answer.
func asking(p shoal.PendingAction) string {
	how := "`shoal approvals answer %s JSON`"
	switch p.Kind {
	case shoal.PendingPermission:
		how = "`shoal approvals approve %s` or deny"
	case shoal.PendingQuestion:
		how = "`shoal approvals answer %s TEXT`"
	}
	return chat.Asks(p) + "; " + fmt.Sprintf(how, p.ID)
}

// settled tells how a pending action ended.
func settled(p shoal.PendingAction) string {
	if p.AnsweredBy != nil {
		return fmt.Sprintf("%s is %s by %s", p.ID, p.Status, *p.AnsweredBy)
	}
	return fmt.Sprintf("%s is %s", p.ID, p.Status)
}

// notePending tells a person that a run waits for an answer.
func notePending(o *output, e shoal.Event) error {
	if e.Type != shoal.EventPendingOpened {
		return nil
	}
	data, err := decode[shoal.PendingData](e)
	if err == nil {
		o.note("%s", asking(data.PendingAction))
	}
	return err
}
