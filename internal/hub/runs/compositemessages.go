package runs

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/behalf"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// A message in progress stays open until its run closes it. Closing its space, or removing
// its agent from the space, only wakes the run, which then reads in [RunChange.SpaceAccess]
// that it may no longer write there and closes its messages. Saving an open message
// therefore never fails because of its space; opening one does.

// SpaceAccess is what the run of an agent may do in a space.
type SpaceAccess struct {
	Member bool // the agent is a member; false also if the space does not exist
	Closed bool // the space or its session is closed
	Target bool // the target is a member; true if no target was given
}

// SpaceAccess returns whether the agent may write in a space, and whether target, if it is not
// empty, is a member of it.
func (c *RunChange) SpaceAccess(space shoal.SpaceID, target shoal.EntityID) (SpaceAccess, error) {
	return ReadSpaceAccess(c.Tx, c.Run, space, target)
}

// ReadSpaceAccess is [RunChange.SpaceAccess] in a transaction that changes nothing.
func ReadSpaceAccess(tx storage.Tx, run *storage.Run, space shoal.SpaceID, target shoal.EntityID) (SpaceAccess, error) {
	if !core.ValidID(space) {
		return SpaceAccess{}, nil
	}
	s, err := tx.Space(run.SessionID, space)
	if errors.Is(err, shoal.NotFound) {
		return SpaceAccess{}, nil
	}
	if err != nil {
		return SpaceAccess{}, err
	}
	session, err := core.FindSession(tx, run.SessionID)
	if err != nil {
		return SpaceAccess{}, err
	}
	out := SpaceAccess{Target: target == "", Closed: s.Status == shoal.SpaceStatusClosed || session.Status == shoal.SessionStatusClosed}
	if out.Member, err = tx.IsMember(s.SessionID, space, run.AgentID); err != nil || target == "" || !core.ValidID(target) {
		return out, err
	}
	out.Target, err = tx.IsMember(s.SessionID, space, target)
	return out, err
}

// OpenMessage creates a composite message without parts at the end of its space's timeline,
// emits message.created, and returns the message with its seq. It uses only ID and SpaceID
// of m. It fails with SpaceClosed or NotFound when the agent cannot, or can no longer,
// write there.
func (c *RunChange) OpenMessage(m shoal.Message, state json.RawMessage) (shoal.Message, error) {
	caller := shoal.Principal{Role: shoal.RoleEntity, SessionID: c.Run.SessionID, EntityID: c.Run.AgentID}
	s, err := core.WritableSpace(c.Change, caller, c.Run.SessionID, m.SpaceID)
	if err != nil {
		return m, err
	}
	run := c.Run.ID
	m = shoal.Message{
		ID: m.ID, SessionID: s.SessionID, SpaceID: s.ID, Seq: s.LastSeq + 1, EntityID: c.Run.AgentID, RunID: &run,
		Status: shoal.MessageStreaming, Mentions: []shoal.EntityID{}, DroppedMentions: []shoal.EntityID{},
		CreatedAt: c.At, UpdatedAt: c.At, Parts: []shoal.Part{},
		Reactions:  []shoal.Reaction{},
		OnBehalfOf: c.Run.OnBehalf(behalf.Access{}).OnBehalfOf(s.ID),
	}
	if m.ID == "" {
		m.ID = shoal.NewID[shoal.MessageID](shoal.PrefixMessage)
	}
	if err := c.InsertMessage(m, storage.PostKey{}); err != nil {
		return m, err
	}
	if err := c.InsertCause(m.SessionID, m.ID, c.Run.Cause(0)); err != nil {
		return m, err
	}
	if err := c.Change.UpdateMessage(m, state); err != nil {
		return m, err
	}
	return m, c.emitMessage(m, shoal.EventMessageCreated)
}

// SaveMessage stores the current state of a message without an event. Fields that are fixed
// when a message is opened (its seq, sender and times) keep their stored values. A closed
// message does not change.
func (c *RunChange) SaveMessage(m shoal.Message, state json.RawMessage) error {
	_, _, err := c.storeOpenMessage(m, shoal.MessageStreaming, state)
	return err
}

// UpdateMessage is SaveMessage for a change that no event about a part describes. It emits
// message.updated.
func (c *RunChange) UpdateMessage(m shoal.Message, state json.RawMessage) error {
	m, open, err := c.storeOpenMessage(m, shoal.MessageStreaming, state)
	if err != nil || !open {
		return err
	}
	return c.emitMessage(m, shoal.EventMessageUpdated)
}

// CloseMessage stores the final state of a message with the mentions of m, puts it into the
// inboxes of the space's members, settles the waits for a reply that it satisfies, and
// emits message.completed. A message without parts enters no inbox. A message that is
// already closed does not change. Closing succeeds even if the space is closed or the agent
// has left it.
func (c *RunChange) CloseMessage(m shoal.Message, state json.RawMessage) error {
	if m.Status == shoal.MessageStreaming || m.Status == "" {
		return shoal.E("hub.RunChange.CloseMessage", shoal.Internal, fmt.Sprintf("message %s is closed without saying how", m.ID))
	}
	m, open, err := c.storeOpenMessage(m, m.Status, state)
	if err != nil || !open {
		return err
	}
	if len(m.Parts) > 0 {
		if err := c.DeliverMessage(m); err != nil {
			return err
		}
	}
	if err := c.emitMessage(m, shoal.EventMessageCompleted); err != nil {
		return err
	}
	c.OnCommit(func() { c.live.Drop(func(p *live.Part) bool { return p.Message == m.ID }) })
	if m.Status == shoal.MessageCompleted {
		receiptChanged(c.Change, *c.Run)
		if _, err := pending.SettleReplies(c.Change, m); err != nil {
			return err
		}
	}
	if m.Seq%core.TrimEvery == 0 {
		return c.TrimEvents(m.SessionID, m.SpaceID, c.Core.KeepEvents)
	}
	return nil
}

// storeOpenMessage stores the fields of m that may change in an open message, and returns
// the message as stored. open is false if the message was closed before.
func (c *RunChange) storeOpenMessage(m shoal.Message, status shoal.MessageStatus, state json.RawMessage) (stored shoal.Message, open bool, err error) {
	stored, err = c.Message(c.Run.SessionID, m.SpaceID, m.ID)
	if err != nil {
		return stored, false, err
	}
	if stored.RunID == nil || *stored.RunID != c.Run.ID {
		return stored, false, shoal.E("hub.RunChange.SaveMessage", shoal.Internal, fmt.Sprintf("message %s is not of run %s", m.ID, c.Run.ID))
	}
	if stored.Status != shoal.MessageStreaming {
		return stored, false, nil
	}
	if err := showRunFiles(c, stored.Parts, m); err != nil {
		return stored, false, err
	}
	stored.Status, stored.UpdatedAt = status, c.At
	stored.Mentions = append([]shoal.EntityID{}, m.Mentions...)
	stored.Parts = append([]shoal.Part{}, m.Parts...)
	return stored, true, c.Change.UpdateMessage(stored, state)
}

func (c *RunChange) emitMessage(m shoal.Message, what shoal.EventType) error {
	_, err := core.Emit(c.Change, storage.Event{
		Session: m.SessionID, Space: m.SpaceID, Run: c.Run.ID, Private: core.HasPrivateParts(m), Type: what,
	}, func(h shoal.EventHead) any { return shoal.MessageData{EventHead: h, Message: m} })
	return err
}
