package spaces

import (
	"context"
	"errors"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// RecordWakeTest stores what came of a test whether a mention wakes an agent, as the receipts and the
// answer say, and returns it. It fails with InvalidArgument if the messages are not those of a test of
// the agent. For the sender of the test, admins and owners of the session.
func (ms *Messages) RecordWakeTest(ctx context.Context, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID, t shoal.WakeTest) (proof shoal.WakeProof, err error) {
	const op = "hub.Messages.RecordWakeTest"
	if err := errors.Join(core.Authorize(caller, session, roles.KeepInbox), t.Validate()); err != nil {
		return proof, core.Wrap(op, core.FirstError(err))
	}
	err = ms.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		if err := core.RequireOpenSession(ch, session); err != nil {
			return err
		}
		if _, err := core.FindEntity(ch, session, agent); err != nil {
			return err
		}
		asked, err := visibleMessage(ch.Tx, caller, session, t.MessageID)
		if err != nil {
			return err
		}
		if !scopes.Can(caller, roles.Manage) && asked.EntityID != caller.EntityID {
			return shoal.E("", shoal.Forbidden, "Only the sender of the test, an admin or an owner of the session may record what came of it.")
		}
		if proof, err = ms.proofOf(ch, asked, agent); err != nil {
			return err
		}
		if t.AnsweredBy != "" {
			answer, err := visibleMessage(ch.Tx, caller, session, t.AnsweredBy)
			if err != nil {
				return err
			}
			if err := addAnswer(&proof, asked, answer, agent); err != nil {
				return err
			}
		}
		return ch.SetWakeProof(session, agent, proof)
	})
	if err == nil {
		ms.core.Presence.Refresh(session, agent)
	}
	return proof, err
}

// proofOf returns what the receipt of an agent says about a test.
func (ms *Messages) proofOf(ch *core.Change, asked shoal.Message, agent shoal.EntityID) (proof shoal.WakeProof, err error) {
	if _, ok := shoal.WakeTestCode(asked.Text()); !ok {
		return proof, shoal.Invalid("messageId", "must be the message of a test: its text begins with [wake test CODE]")
	}
	receipts, err := ms.receiptsOf(ch.Tx, asked)
	if err != nil {
		return proof, err
	}
	if proof.At, err = ch.Now(); err != nil {
		return proof, err
	}
	proof.Ms, proof.Steps = proof.At.Sub(asked.CreatedAt.Time).Milliseconds(), []shoal.WakeStep{}
	for _, r := range receipts {
		if r.EntityID != agent {
			continue
		}
		for _, s := range []struct {
			step string
			at   *shoal.Time
		}{{"delivered", r.DeliveredAt}, {"resumed", r.ResumedAt}} {
			if s.at != nil {
				proof.Steps = append(proof.Steps, shoal.WakeStep{Step: s.step, Ms: s.at.Sub(asked.CreatedAt.Time).Milliseconds()})
			}
		}
		return proof, nil
	}
	return proof, shoal.Invalid("messageId", "must mention the agent")
}

// addAnswer adds the answer of an agent, which repeats the code, to what came of a test.
func addAnswer(proof *shoal.WakeProof, asked, answer shoal.Message, agent shoal.EntityID) error {
	code, _ := shoal.WakeTestCode(asked.Text())
	if answer.EntityID != agent || answer.SpaceID != asked.SpaceID || answer.Seq <= asked.Seq || !strings.Contains(answer.Text(), code) {
		return shoal.Invalid("answeredBy", "must be a later message of the agent in the same space, with the code of the test")
	}
	proof.Answered, proof.Ms = true, answer.CreatedAt.Sub(asked.CreatedAt.Time).Milliseconds()
	proof.Steps = append(proof.Steps, shoal.WakeStep{Step: "answered", Ms: proof.Ms})
	return nil
}
