package runs

import (
	"encoding/json"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/approval"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// applyRememberedDecision settles a permission that is about to be opened, if a remembered
// decision covers it.
func (c *RunChange) applyRememberedDecision(p *storage.Pending) error {
	now, judge := c.At, pending.NewJudge(c.Change, p.Session)
	all, err := c.RememberedDecisions(p.Session, storage.RememberedFilter{Agent: p.ToolAgent(), Tool: p.ToolName, Until: &now})
	if err != nil || len(all) == 0 || p.ToolName == "" {
		return err
	}
	action, err := judge.Action(*p)
	if err != nil {
		return err
	}
	var known []approval.Remembered
	for _, d := range all {
		caller := shoal.Principal{Role: shoal.RoleAdmin, SessionID: p.Session}
		if d.EntityID != nil {
			caller.Role, caller.EntityID = shoal.RoleEntity, *d.EntityID
		}
		voter, err := judge.Voter(caller, *p)
		if err != nil {
			return err
		}
		known = append(known, approval.Remembered{RememberedDecision: d, Voter: voter})
	}
	found := pending.Rules.Answers(known, approval.Call{Action: action, Of: p.ToolAgent(), Tool: p.ToolName, Space: pending.IDOrEmpty(p.SpaceID), Now: now})
	if found == nil {
		return nil
	}
	yes, why := found.Decision == shoal.RememberAllow, fmt.Sprintf("A decision of %s that also covers later calls.", found.CreatedAt)
	p.Status, p.AnsweredAt, p.AnsweredBy, p.Taken = shoal.PendingAnswered, &now, found.EntityID, true
	p.Answer, p.Policy.Remembered = &shoal.PendingAnswer{Approved: &yes, Reason: &why}, found.ID
	return nil
}

// OpenPending stores a row that the run waits for and emits pending.opened to the space
// that shows it, unless the row is an internal wait. A request that the run has opened
// before keeps its row, even if that is settled. A wait for a reply that has already
// arrived is settled at once.
func (c *RunChange) OpenPending(p storage.Pending) (shoal.PendingID, error) {
	rows, err := c.PendingOf(c.Run.SessionID, c.Run.ID)
	if err != nil {
		return "", err
	}
	for _, have := range rows {
		if p.Request != "" && have.Request == p.Request {
			return have.ID, nil
		}
	}
	if err := c.fillFromRun(&p); err != nil {
		return "", err
	}
	if p.Kind == shoal.PendingPermission {
		if err := c.applyRememberedDecision(&p); err != nil {
			return "", err
		}
	}
	if err := c.InsertPending(p); err != nil || p.Status != shoal.PendingOpen {
		return p.ID, err
	}
	if p.Due != nil {
		c.Notify(core.DueTopic)
	}
	if pending.IsServerWait(p.Kind) {
		return p.ID, c.settleWithEarlierReply(p)
	}
	if err := pending.EmitAction(c.Change, p, shoal.EventPendingOpened); err != nil {
		return p.ID, err
	}
	if err := pending.AnnounceTooFew(c.Change, p); err != nil {
		return p.ID, err
	}
	return p.ID, pending.SettleWithEarlierChoice(c.Change, p)
}

// fillFromRun sets the fields of a new row that come from its run.
func (c *RunChange) fillFromRun(p *storage.Pending) (err error) {
	if p.ID == "" {
		p.ID = shoal.NewID[shoal.PendingID](shoal.PrefixPending)
	}
	p.Session, p.RunID, p.AgentID, p.Status, p.CreatedAt = c.Run.SessionID, c.Run.ID, c.Run.AgentID, shoal.PendingOpen, c.At
	p.AnsweredBy, p.AnsweredAt, p.Answer, p.AnswerHash, p.Taken = nil, nil, nil, "", false
	if p.Requester == "" {
		p.Requester = c.Run.Requester
	}
	if len(p.Args) == 0 {
		p.Args = json.RawMessage("{}")
	}
	if p.Due == nil {
		p.Due = p.ExpiresAt
	}
	p.Policy.ByService = c.Run.Trigger.Type == shoal.ServiceTrigger
	p.Policy.Requesters, err = pending.RequestersOf(c.Change, *c.Run)
	p.Hash = approval.ArgsHash(p.ToolName, p.Args)
	return err
}

// settleWithEarlierReply settles a wait with the first reply that arrived before the wait
// was opened.
func (c *RunChange) settleWithEarlierReply(p storage.Pending) error {
	if p.Kind != storage.PendingReply || p.Reply == nil {
		return nil
	}
	for after := p.Reply.After; ; {
		page, err := c.Messages(p.Session, p.Reply.Space, storage.Page{After: max(after, 0), Limit: shoal.MaxPage})
		if err != nil {
			return err
		}
		for _, m := range page {
			after = m.Seq
			if m.Status != shoal.MessageCompleted {
				continue
			}
			fits, err := pending.IsReply(c.Change, p, m)
			if err != nil {
				return err
			}
			if fits {
				return pending.SettleReply(c.Change, p, m)
			}
		}
		if len(page) < shoal.MaxPage {
			return nil
		}
	}
}
