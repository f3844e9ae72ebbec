package pending

import (
	"encoding/json"
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// IsServerWait reports whether a row of this kind is an internal wait of the server, which
// clients do not see.
func IsServerWait(kind shoal.PendingKind) bool {
	return kind == storage.PendingReply || kind == storage.PendingTimer
}

// SettleReplies settles the waits that a complete message is a reply for, and returns the
// agents of the waiting runs. The message does not start them.
func SettleReplies(ch *core.Change, m shoal.Message) (agents []shoal.EntityID, err error) {
	waits, err := ch.ReplyWaits(m.SessionID, m.SpaceID)
	if err != nil {
		return nil, err
	}
	for _, p := range waits {
		fits, err := IsReply(ch, p, m)
		if err != nil {
			return nil, err
		}
		if !fits {
			continue
		}
		if err := SettleReply(ch, p, m); err != nil {
			return nil, err
		}
		agents = append(agents, p.AgentID)
	}
	ch.MarkReplied(m.ID, agents)
	return agents, nil
}

// IsReply reports whether m is a reply that p waits for.
func IsReply(tx Tx, p storage.Pending, m shoal.Message) (bool, error) {
	if p.Status != shoal.PendingOpen || p.Reply == nil || m.Seq <= p.Reply.After || m.EntityID == p.AgentID || m.EntityID == shoal.System {
		return false, nil
	}
	if in, err := tx.IsMember(m.SessionID, m.SpaceID, p.AgentID); err != nil || !in {
		return false, err // it left the space before the wait was opened
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

// replyResult is the result of a wait for a reply, as the model reads it.
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

// SettleReply settles a wait for a reply with the message m.
func SettleReply(ch *core.Change, p storage.Pending, m shoal.Message) error {
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
	return settleRow(ch, p, shoal.PendingAnswered)
}

// settleRow settles an open row: it wakes its run and emits an event to all entities that
// received the event of its opening.
func settleRow(ch *core.Change, p storage.Pending, as shoal.PendingStatus) error {
	at := ch.At
	p.Status, p.AnsweredAt = as, &at
	if err := ch.UpdatePending(p); err != nil {
		return err
	}
	if p.RunID == "" {
		ch.Notify(askTopic(p.Session, p.ID))
	} else if as != shoal.PendingCanceled {
		if err := wakeRun(ch, p.Session, p.RunID); err != nil {
			return err
		}
	}
	if IsServerWait(p.Kind) {
		return nil
	}
	return EmitAction(ch, p, shoal.EventPendingSettled)
}

// wakeRun makes an executor check a run, unless the run has ended.
func wakeRun(ch *core.Change, session shoal.SessionID, id shoal.RunID) error {
	run, err := ch.Run(session, id)
	if errors.Is(err, shoal.NotFound) || err == nil && run.Status.Ended() {
		return nil
	}
	if err != nil {
		return err
	}
	ch.NotifyWork(run)
	ch.Notify(core.RunTopic(session, id))
	if run.Awake {
		return nil
	}
	run.Awake = true
	return ch.UpdateRun(run)
}

// EmitAction emits an event about an action to the space that shows it and to the run's
// followers.
func EmitAction(ch *core.Change, p storage.Pending, what shoal.EventType) error {
	ev := storage.Event{Session: p.Session, Run: p.RunID, Private: p.Target != "", Type: what}
	if p.SpaceID != nil {
		ev.Space = *p.SpaceID
	}
	shown, err := NewJudge(ch, p.Session).publicView(p)
	if err != nil {
		return err
	}
	_, err = core.Emit(ch, ev, func(h shoal.EventHead) any { return Event{h, shown, p.Target} })
	return err
}

// Event is [shoal.PendingData] with the one member that may see it.
type Event struct {
	shoal.EventHead
	PendingAction shoal.PendingAction `json:"pendingAction"`
	Target        shoal.EntityID      `json:"targetEntityId,omitempty"`
}

// CancelAll cancels everything that a run waits for, because the run ends or is to end.
func CancelAll(ch *core.Change, run *storage.Run) error {
	rows, err := ch.PendingOf(run.SessionID, run.ID)
	if err != nil {
		return err
	}
	for _, p := range rows {
		if p.Status != shoal.PendingOpen {
			continue
		}
		if err := settleRow(ch, p, shoal.PendingCanceled); err != nil {
			return err
		}
	}
	return nil
}

// CancelOfAgent cancels the open actions of an agent, or of the session if agent is empty,
// because nothing waits for the answers any more.
func CancelOfAgent(ch *core.Change, session shoal.SessionID, agent shoal.EntityID) error {
	rows, err := ch.PendingActions(session, storage.PendingFilter{Status: []shoal.PendingStatus{shoal.PendingOpen}, Agent: agent})
	if err != nil {
		return err
	}
	for _, p := range rows {
		if err := settleRow(ch, p, shoal.PendingCanceled); err != nil {
			return err
		}
	}
	return nil
}

// EndInSpace wakes the runs that have a message in progress in a space, because they can no
// longer write there and have to close it. It settles the pending actions of the space as
// expired, and ends the waits for a reply there. An empty agent means the runs of all
// agents.
func EndInSpace(ch *core.Change, session shoal.SessionID, space shoal.SpaceID, agent shoal.EntityID) error {
	open, err := ch.Streaming(session, space)
	if err != nil {
		return err
	}
	for _, m := range open {
		if m.RunID == nil || agent != "" && m.EntityID != agent {
			continue
		}
		if err := wakeRun(ch, session, *m.RunID); err != nil {
			return err
		}
	}
	rows, err := ch.PendingActions(session, storage.PendingFilter{Status: []shoal.PendingStatus{shoal.PendingOpen}, Space: space})
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
		if err := expireRow(ch, p, "The conversation ended before anybody answered."); err != nil {
			return err
		}
	}
	return nil
}

// expireRow settles an open row without an answer: a permission counts as denied, an
// internal wait as timed out.
func expireRow(ch *core.Change, p storage.Pending, why string) error {
	if p.RunID == "" {
		return settleRow(ch, p, shoal.PendingCanceled) // its program is gone, or asks in its terminal only
	}
	no := false
	switch p.Kind {
	case storage.PendingReply:
		p.Answer = &shoal.PendingAnswer{Result: json.RawMessage(`{"timedOut":true,"reply":null}`)}
		return settleRow(ch, p, shoal.PendingAnswered)
	case storage.PendingTimer:
		p.Answer = &shoal.PendingAnswer{Result: json.RawMessage(`{"timedOut":true}`)}
		return settleRow(ch, p, shoal.PendingAnswered)
	case shoal.PendingPermission:
		p.Answer = &shoal.PendingAnswer{Approved: &no, Reason: &why}
	default:
		p.Answer = &shoal.PendingAnswer{Error: &why}
	}
	return settleRow(ch, p, shoal.PendingExpired)
}
