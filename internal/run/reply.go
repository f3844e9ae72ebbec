package run

import (
	"errors"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/agenterror"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// postReply posts the last plain text of a run that completes without output, or at a limit
// with a closing answer, into the space of the message that started it. Otherwise the answer
// of a model that does not or must not call sendSpaceMessage would be lost.
func (x *execution) postReply(end agent.TurnEnd) error {
	text := x.store.lastText()
	if x.config.Reply != agentconfig.ReplyAuto || end.Outcome != agent.Completed || x.run.Space == "" || text == "" {
		return nil
	}
	if x.composer.HasOutput() && agenterror.LimitOf(end) == "" {
		return nil
	}
	var mention shoal.EntityID
	err := x.read(x.ctx, func(tx storage.Tx) (err error) {
		mention, err = x.connectedSender(tx)
		return err
	})
	if err != nil {
		return err
	}
	return x.perform(x.composer.Say(text, mention), nil)
}

// connectedSender returns the sender of the run's trigger if it is a connected agent,
// which reads an answer only where it is mentioned, and is still in the space. A hosted
// agent is never mentioned: two of them would answer each other endlessly.
func (x *execution) connectedSender(tx storage.Tx) (shoal.EntityID, error) {
	sender := x.run.Trigger.SenderEntityID
	if sender == "" || sender == shoal.System {
		return "", nil
	}
	e, err := tx.Entity(x.run.SessionID, sender)
	if errors.Is(err, shoal.NotFound) || err == nil && (e.Kind != shoal.Agent || e.Hosted) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	member, err := tx.IsMember(x.run.SessionID, x.run.Space, sender)
	if err != nil || !member {
		return "", err
	}
	return sender, nil
}

// lastText returns the last text outside of tool calls in the stored steps; empty if the
// steps have no text.
func (s *store) lastText() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastPlainText
}

// recordText records the plain text of a step. The caller holds mu, or no other goroutine has the
// store yet.
func (s *store) recordText(step agent.Step) {
	if text := strings.TrimSpace(step.Assistant.Text()); text != "" {
		s.lastPlainText = text
	}
}
