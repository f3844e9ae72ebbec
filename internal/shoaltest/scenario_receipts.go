package shoaltest

import (
	"fmt"

	"github.com/shoal-dev/shoal"
)

func listReceipts(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	id, err := s.messageNamed(session, c.word())
	if err != nil {
		return err
	}
	receipts, err := s.hub.Messages.Receipts(ctx, caller, session, id)
	if err == nil && len(receipts) == 0 {
		s.say("  no receipts")
	}
	for _, r := range receipts {
		s.say("  %s", s.receipt(r))
	}
	return err
}

func (s *stage) receipt(r shoal.Receipt) string {
	out := fmt.Sprintf("%s %s", r.EntityID, r.State)
	if r.Via != nil {
		out += " via " + *r.Via
	}
	for _, at := range []struct {
		what string
		at   *shoal.Time
	}{{"delivered", r.DeliveredAt}, {"resumed", r.ResumedAt}, {"answered", r.AnsweredAt}} {
		if at.at != nil {
			out += fmt.Sprintf(" %s=%s", at.what, s.since(at.at.Time))
		}
	}
	if r.AnsweredBy != nil {
		out += " by=" + s.name(*r.AnsweredBy)
	}
	if r.FailedReason != nil {
		out += " reason=" + *r.FailedReason
	}
	if r.RunID != nil {
		out += " run"
	}
	if r.Text != "" {
		out += ": " + r.Text
	}
	return out
}

func resumed(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	cursor, err := s.ack(c.word())
	if err != nil {
		return err
	}
	return s.hub.Inbox.Resumed(ctx, caller, session, shoal.EntityID(c.option("entity")), cursor)
}
