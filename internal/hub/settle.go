package hub

import (
	"encoding/json"
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/approval"
)

// OpenPending stores what the run waits for; pending.opened goes to the space that
// shows it, unless the wait is the server's own. A request that the run has opened
// before keeps its row, also when that is settled. A wait for a reply that has come
// already is settled at once.
func (c *RunChange) OpenPending(p StoredPending) (shoal.PendingID, error) {
	rows, err := c.PendingOf(c.Run.SessionID, c.Run.ID)
	if err != nil {
		return "", err
	}
	for _, have := range rows {
		if p.Request != "" && have.Request == p.Request {
			return have.ID, nil
		}
	}
	if err := c.complete(&p); err != nil {
		return "", err
	}
	if p.Kind == shoal.PendingPermission {
		if err := c.recall(&p); err != nil {
			return "", err
		}
	}
	if err := c.InsertPending(p); err != nil || p.Status != shoal.PendingOpen {
		return p.ID, err
	}
	if p.Due != nil {
		c.hint(dueTopic)
	}
	if ownWait(p.Kind) {
		return p.ID, c.lookForReply(p)
	}
	if err := tellPending(c.change, p, shoal.EventPendingOpened); err != nil {
		return p.ID, err
	}
	return p.ID, tellTooFew(c.change, p)
}

// complete fills in what a new row has from its run.
func (c *RunChange) complete(p *StoredPending) (err error) {
	if p.ID == "" {
		p.ID = shoal.NewID[shoal.PendingID](shoal.PrefixPending)
	}
	p.Session, p.RunID, p.AgentID, p.Status, p.CreatedAt = c.Run.SessionID, c.Run.ID, c.Run.AgentID, shoal.PendingOpen, c.at
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
	p.Policy.Requesters, err = requestersOf(c.change, *c.Run)
	p.Hash = approval.ArgsHash(p.ToolName, p.Args)
	return err
}

// ownWait reports whether a row is a wait of the server's own, which nobody sees.
func ownWait(kind shoal.PendingKind) bool { return kind == PendingReply || kind == PendingTimer }

// lookForReply settles a wait with the first reply that came before it was opened.
func (c *RunChange) lookForReply(p StoredPending) error {
	if p.Kind != PendingReply || p.Reply == nil {
		return nil
	}
	for after := p.Reply.After; ; {
		page, err := c.Messages(p.Session, p.Reply.Space, Page{After: max(after, 0), Limit: shoal.MaxPage})
		if err != nil {
			return err
		}
		for _, m := range page {
			after = m.Seq
			if m.Status != shoal.MessageCompleted {
				continue
			}
			fits, err := isReply(c.change, p, m)
			if err != nil {
				return err
			}
			if fits {
				return settleReply(c.change, p, m)
			}
		}
		if len(page) < shoal.MaxPage {
			return nil
		}
	}
}

// settleReplies gives a message that is whole to the runs that wait for such a
// reply, and returns their agents: it starts no run of them.
func settleReplies(ch *change, m shoal.Message) (served []shoal.EntityID, err error) {
	waits, err := ch.ReplyWaits(m.SessionID, m.SpaceID)
	if err != nil {
		return nil, err
	}
	for _, p := range waits {
		fits, err := isReply(ch, p, m)
		if err != nil {
			return nil, err
		}
		if !fits {
			continue
		}
		if err := settleReply(ch, p, m); err != nil {
			return nil, err
		}
		served = append(served, p.AgentID)
	}
	ch.repliedTo(m.ID, served)
	return served, nil
}

// isReply reports whether m is what p waits for.
func isReply(tx Tx, p StoredPending, m shoal.Message) (bool, error) {
	if p.Status != shoal.PendingOpen || p.Reply == nil || m.Seq <= p.Reply.After || m.EntityID == p.AgentID || m.EntityID == shoal.System {
		return false, nil
	}
	if in, err := tx.IsMember(m.SessionID, m.SpaceID, p.AgentID); err != nil || !in {
		return false, err // it left before it began to wait
	}
	sender, err := tx.Entity(m.SessionID, m.EntityID)
	if err != nil && !errors.Is(err, shoal.NotFound) {
		return false, err
	}
	for _, f := range p.Reply.For {
		if f.EntityID != "" && f.EntityID != m.EntityID {
			continue
		}
		switch f.Type {
		case "any":
			return true, nil
		case "agent", "human":
			if string(sender.Kind) == f.Type {
				return true, nil
			}
		case "entity":
			if f.EntityID == m.EntityID {
				return true, nil
			}
		}
	}
	return false, nil
}

// replyResult is what a wait for a reply comes to.
type replyResult struct {
	TimedOut bool       `json:"timedOut"`
	Reply    *replyText `json:"reply"`
}

type replyText struct {
	Text       string           `json:"text"`
	EntityID   shoal.EntityID   `json:"entityId"`
	EntityName string           `json:"entityName"`
	EntityType shoal.EntityKind `json:"entityType"`
}

func settleReply(ch *change, p StoredPending, m shoal.Message) error {
	sender, err := ch.Entity(m.SessionID, m.EntityID)
	if err != nil && !errors.Is(err, shoal.NotFound) {
		return err
	}
	result, err := shoal.EncodeJSON(replyResult{Reply: &replyText{Text: m.Text(), EntityID: m.EntityID, EntityName: sender.Name, EntityType: sender.Kind}})
	if err != nil {
		return err
	}
	by := m.EntityID
	p.AnsweredBy, p.Answer = &by, &shoal.PendingAnswer{Result: result}
	return settle(ch, p, shoal.PendingAnswered)
}

// settle ends an open row: its run has something to do now, and everybody who saw
// it opened sees it settled.
func settle(ch *change, p StoredPending, as shoal.PendingStatus) error {
	at := ch.at
	p.Status, p.AnsweredAt = as, &at
	if err := ch.UpdatePending(p); err != nil {
		return err
	}
	if as != shoal.PendingCanceled {
		if err := wake(ch, p.Session, p.RunID); err != nil {
			return err
		}
	}
	if ownWait(p.Kind) {
		return nil
	}
	return tellPending(ch, p, shoal.EventPendingSettled)
}

// wake makes whoever executes runs look at one that has not ended.
func wake(ch *change, session shoal.SessionID, id shoal.RunID) error {
	run, err := ch.Run(session, id)
	if errors.Is(err, shoal.NotFound) || err == nil && run.Status.Ended() {
		return nil
	}
	if err != nil {
		return err
	}
	ch.hint(workTopic)
	ch.hint(runTopic(session, id))
	if run.Awake {
		return nil
	}
	run.Awake = true
	return ch.UpdateRun(run)
}

// tellPending tells the space that shows an action, and the run's followers.
func tellPending(ch *change, p StoredPending, what shoal.EventType) error {
	ev := StoredEvent{Session: p.Session, Run: p.RunID, Private: p.Target != "", Type: what}
	if p.SpaceID != nil {
		ev.Space = *p.SpaceID
	}
	shown, err := newJudge(ch, p.Session).shown(p)
	if err != nil {
		return err
	}
	_, err = tellAs(ch, ev, func(h shoal.EventHead) any { return pendingEvent{h, shown, p.Target} })
	return err
}

// pendingEvent is [shoal.PendingData] with the one member who may see it.
type pendingEvent struct {
	shoal.EventHead
	PendingAction shoal.PendingAction `json:"pendingAction"`
	Target        shoal.EntityID      `json:"targetEntityId,omitempty"`
}

// cancelPending ends what a run still waits for: the run ends.
func cancelPending(ch *change, run *StoredRun) error {
	rows, err := ch.PendingOf(run.SessionID, run.ID)
	if err != nil {
		return err
	}
	for _, p := range rows {
		if p.Status != shoal.PendingOpen {
			continue
		}
		if err := settle(ch, p, shoal.PendingCanceled); err != nil {
			return err
		}
	}
	return nil
}

// leaveMessages wakes the runs that have a message in progress in a space, of one
// agent or of all: they may not write there any more and have to close it. What the
// space asks for is settled as expired, and no reply from there comes any more.
func leaveMessages(ch *change, session shoal.SessionID, space shoal.SpaceID, agent shoal.EntityID) error {
	open, err := ch.Streaming(session, space)
	if err != nil {
		return err
	}
	for _, m := range open {
		if m.RunID == nil || agent != "" && m.EntityID != agent {
			continue
		}
		if err := wake(ch, session, *m.RunID); err != nil {
			return err
		}
	}
	rows, err := ch.PendingActions(session, PendingFilter{Status: []shoal.PendingStatus{shoal.PendingOpen}, Space: space})
	if err != nil {
		return err
	}
	replies, err := ch.ReplyWaits(session, space)
	if err != nil {
		return err
	}
	for _, p := range append(rows, replies...) {
		if agent != "" && p.AgentID != agent {
			continue
		}
		if err := expire(ch, p, "The conversation has ended before anybody answered."); err != nil {
			return err
		}
	}
	return nil
}

// expire settles an open row because of time: it counts as denied.
func expire(ch *change, p StoredPending, why string) error {
	no := false
	switch p.Kind {
	case PendingReply:
		p.Answer = &shoal.PendingAnswer{Result: json.RawMessage(`{"timedOut":true,"reply":null}`)}
		return settle(ch, p, shoal.PendingAnswered)
	case PendingTimer:
		p.Answer = &shoal.PendingAnswer{Result: json.RawMessage(`{"timedOut":true}`)}
		return settle(ch, p, shoal.PendingAnswered)
	case shoal.PendingPermission:
		p.Answer = &shoal.PendingAnswer{Approved: &no, Reason: &why}
	default:
		p.Answer = &shoal.PendingAnswer{Error: &why}
	}
	return settle(ch, p, shoal.PendingExpired)
}
