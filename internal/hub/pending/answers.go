package pending

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/approval"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Answer settles a pending action; the first answer wins. When it returns, the answer is
// stored, and the run continues once it has everything that it waits for.
//
// It fails with NotFound for a caller that may not see the action; with Forbidden for one
// that the action's policy excludes; with ArgsChanged for an answer to other arguments;
// with AlreadyAnswered, unless the same caller repeats the same answer; with Expired when
// the action has expired or its run has ended; and with InvalidArgument, without settling
// anything, for a result or changed arguments that do not match the tool's schema.
//
// An action that needs several equal answers stays open until it has them, each from
// another entity. Until then each answer is the vote of its entity, which may replace it.
// One denial settles a permission. The package approval has these rules. Choosing one of
// the calls that are alternatives settles the others as not chosen.
func (p *Pending) Answer(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.PendingID, a shoal.PendingAnswer) (out shoal.PendingAction, err error) {
	err = p.core.Change(ctx, "hub.Pending.Answer", storage.In(session), func(ch *core.Change) error {
		if err := core.Authorize(caller, session, roles.Answer); err != nil {
			return err
		}
		if !core.ValidID(id) {
			return pendingNotFound(id)
		}
		row, err := ch.Pending(session, id)
		if errors.Is(err, shoal.NotFound) || err == nil && IsServerWait(row.Kind) {
			return pendingNotFound(id)
		}
		if err != nil {
			return err
		}
		out, err = p.settleRows(ch, caller, row, a)
		return err
	})
	return out, err
}

// AnswerCall is Answer for an action that is identified by run and tool call. It fails with
// NotFound for an unknown call and with RunNotWaiting for a run that waits for nothing.
func (p *Pending) AnswerCall(ctx context.Context, caller shoal.Principal, session shoal.SessionID, run shoal.RunID, callID string, a shoal.PendingAnswer) (out shoal.PendingAction, err error) {
	err = p.core.Change(ctx, "hub.Pending.AnswerCall", storage.In(session), func(ch *core.Change) error {
		if err := core.Authorize(caller, session, roles.Answer); err != nil {
			return err
		}
		if !core.ValidID(session) || !core.ValidID(run) {
			return core.RunNotFound(run)
		}
		rows, err := ch.PendingOf(session, run)
		if err != nil {
			return err
		}
		row, waiting := findCall(rows, callID)
		if row != nil {
			if out, err = p.settleRows(ch, caller, *row, a); !errors.Is(err, shoal.NotFound) {
				return err
			}
		}
		r, err := core.VisibleRun(ch, caller, session, run)
		switch {
		case err != nil:
			return err
		case !waiting && !r.Status.Suspended():
			return shoal.E("", shoal.RunNotWaiting, fmt.Sprintf("The run %q is %s and does not wait for an answer.", run, r.Status))
		}
		return shoal.E("", shoal.NotFound, fmt.Sprintf("The run %q does not wait for the tool call %q. Its pendingToolCalls list the calls that it waits for.", run, callID))
	})
	return out, err
}

// findCall returns the action of a tool call, preferably an open one, and reports whether
// any action is open.
func findCall(rows []storage.Pending, callID string) (found *storage.Pending, waiting bool) {
	for i, row := range rows {
		if IsServerWait(row.Kind) {
			continue
		}
		open := row.Status == shoal.PendingOpen
		waiting = waiting || open
		if row.ToolCallID == callID && callID != "" && (found == nil || open || found.Status != shoal.PendingOpen) {
			found = &rows[i]
		}
	}
	return found, waiting
}

// settleRows gives an answer to a row, and to equal rows if the answer says so.
func (p *Pending) settleRows(ch *core.Change, caller shoal.Principal, row storage.Pending, a shoal.PendingAnswer) (shoal.PendingAction, error) {
	out, err := p.answerRow(ch, caller, row, a)
	if err != nil || !a.AlsoEqual {
		return out, err
	}
	return out, p.answerEquals(ch, caller, row, a)
}

// answerRow checks an answer to one row and stores it as its result or as a vote.
func (p *Pending) answerRow(ch *core.Change, caller shoal.Principal, row storage.Pending, a shoal.PendingAnswer) (shoal.PendingAction, error) {
	noAction, judge := shoal.PendingAction{}, NewJudge(ch, row.Session)
	if err := checkVisible(judge, caller, row); err != nil {
		return noAction, err
	}
	if err := core.RequireOpenSession(ch, row.Session); err != nil {
		return noAction, err
	}
	hash, err := core.Fingerprint(core.CallerName(caller), a)
	if err != nil {
		return noAction, shoal.Invalid("result", "must be a JSON value")
	}
	if row.Status != shoal.PendingOpen {
		if err := checkRepeatedAnswer(row, hash); err != nil {
			return noAction, err
		}
		return judge.viewFor(caller, row)
	}
	var run storage.Run // none for what a program asks, see [Pending.Ask]
	if row.RunID != "" {
		if run, err = ch.Run(row.Session, row.RunID); err != nil {
			return noAction, err
		}
	}
	now, err := ch.Now()
	if err != nil {
		return noAction, err
	}
	action, err := judge.Action(row)
	if err != nil {
		return noAction, err
	}
	action.Expired = run.Status.Ended() || row.Due != nil && !row.Due.After(now.Time)
	if action.Expired {
		return noAction, expiredError(row, run)
	}
	if err := checkActingEntity(ch, caller, row); err != nil {
		return noAction, err
	}
	voter, err := judge.Voter(caller, row)
	if err != nil {
		return noAction, err
	}
	if why := Rules.Objection(action, voter); why != "" {
		return noAction, shoal.E("", shoal.Forbidden, why)
	}
	if err := p.checkAnswer(row, a); err != nil {
		return noAction, err
	}
	outcome, err := Rules.Settle(action, voter, a, ch.At.Time)
	if err != nil {
		return noAction, err
	}
	if err := recordAnswer(ch, caller, row, a, outcome); err != nil {
		return noAction, err
	}
	return p.storeAnswer(ch, caller, row, a, hash, outcome)
}

// recordAnswer records a vote or the answer that settles an action, without its content.
func recordAnswer(ch *core.Change, caller shoal.Principal, row storage.Pending, a shoal.PendingAnswer, outcome approval.Outcome) error {
	details := []string{"tool", row.ToolName, "run", string(row.RunID), "argsHash", row.Hash, "settled", strconv.FormatBool(outcome.Settled), "votes", strconv.Itoa(len(outcome.Votes))}
	if a.Approved != nil {
		details = append(details, "approved", strconv.FormatBool(*a.Approved))
	}
	if len(a.Args) > 0 {
		details = append(details, "edited", "true")
	}
	if a.Remember != nil {
		details = append(details, "remember", a.Remember.Decision+" "+a.Remember.Scope)
	}
	return ch.Record(caller, row.Session, audit.ApprovalAnswer, audit.Target{Kind: "pending", ID: string(row.ID)}, details...)
}

// storeAnswer stores the outcome of an answer.
func (p *Pending) storeAnswer(ch *core.Change, caller shoal.Principal, row storage.Pending, a shoal.PendingAnswer, hash string, outcome approval.Outcome) (shoal.PendingAction, error) {
	row.Policy.Votes = nil
	for _, v := range outcome.Votes {
		row.Policy.Votes = append(row.Policy.Votes, storage.Vote{EntityID: v.Entity, At: shoal.At(v.At), Answer: v.Answer})
	}
	var err error
	if !outcome.Settled {
		if err = ch.UpdatePending(row); err == nil {
			err = EmitAction(ch, row, shoal.EventPendingVoted)
		}
	} else {
		at := ch.At
		row.Answer, row.AnswerHash, row.AnsweredAt, row.Status = &a, hash, &at, shoal.PendingAnswered
		if caller.EntityID != "" {
			by := caller.EntityID
			row.AnsweredBy = &by
		}
		if err = settleRow(ch, row, shoal.PendingAnswered); err == nil && a.Remember != nil {
			err = storeDecision(ch, row, *a.Remember)
		}
		if err == nil && isChosen(row) {
			err = settleAlternatives(ch, caller, row)
		}
	}
	if err != nil {
		return shoal.PendingAction{}, err
	}
	return NewJudge(ch, row.Session).viewFor(caller, row)
}

// maxEqualActions is how many open actions one answer searches for equal ones.
const maxEqualActions = 1000

// answerEquals gives the answer to the other open actions that equal row: those with the
// same agent, kind, space, tool (of the same agent) and arguments. Actions that the caller may not answer, or
// that do not accept the answer, stay open.
func (p *Pending) answerEquals(ch *core.Change, caller shoal.Principal, row storage.Pending, a shoal.PendingAnswer) error {
	filter := storage.PendingFilter{Status: []shoal.PendingStatus{shoal.PendingOpen}, Limit: maxEqualActions}
	if row.SpaceID != nil {
		filter.Space = *row.SpaceID
	}
	all, err := ch.PendingActions(row.Session, filter)
	if err != nil {
		return err
	}
	a.Remember, a.AlsoEqual = nil, false // the first action has stored the decision
	for _, other := range all {
		if other.ID == row.ID || other.AgentID != row.AgentID || other.ToolAgent() != row.ToolAgent() || other.Kind != row.Kind || other.ToolName != row.ToolName ||
			other.Hash != row.Hash || IDOrEmpty(other.SpaceID) != IDOrEmpty(row.SpaceID) {
			continue
		}
		var e *shoal.Error
		if _, err := p.answerRow(ch, caller, other, a); err != nil && !errors.As(err, &e) {
			return err
		} else if e != nil && !slices.Contains(skippableKinds, e.Kind) {
			return err
		}
	}
	return nil
}

// skippableKinds are the errors with which an equal action may reject an answer.
var skippableKinds = []shoal.Kind{
	shoal.Forbidden, shoal.NotFound, shoal.Expired, shoal.AlreadyAnswered, shoal.ArgsChanged, shoal.InvalidArgument,
}

// checkRepeatedAnswer returns nil if a settled row was settled by the same answer of the
// same caller, else the error for an answer that is too late.
func checkRepeatedAnswer(row storage.Pending, hash string) error {
	switch {
	case row.Status != shoal.PendingAnswered:
		return expiredError(row, storage.Run{})
	case row.AnswerHash == hash:
		return nil
	}
	by := "a service"
	if row.AnsweredBy != nil {
		by = fmt.Sprintf("%q", *row.AnsweredBy)
	}
	return shoal.E("", shoal.AlreadyAnswered, fmt.Sprintf("The pending action %q was already answered by %s; the first answer counts.", row.ID, by))
}

// expiredError returns the error for an answer to an action that has expired or whose run
// has ended.
func expiredError(row storage.Pending, run storage.Run) error {
	if row.RunID == "" {
		return shoal.E("", shoal.Expired, fmt.Sprintf("The program that asked no longer waits for the answer to %q: it was answered in its terminal, or has ended.", row.ID))
	}
	if row.Status == shoal.PendingCanceled || run.Status.Ended() {
		return shoal.E("", shoal.Expired, fmt.Sprintf("The run %q has ended; nothing waits for this answer any more.", row.RunID))
	}
	return shoal.E("", shoal.Expired, fmt.Sprintf("The pending action %q has expired; it counts as denied.", row.ID))
}

// checkActingEntity checks, for an admin or an owner of the session, that the entity that
// it acts as exists and is a member of the space that shows the action.
func checkActingEntity(tx Tx, caller shoal.Principal, row storage.Pending) error {
	if core.ReaderEntity(caller) != "" || caller.EntityID == "" {
		return nil
	}
	if row.SpaceID != nil {
		return core.RequireMember(tx, shoal.Space{SessionID: row.Session, ID: *row.SpaceID}, caller.EntityID)
	}
	_, err := core.FindEntity(tx, row.Session, caller.EntityID)
	return err
}

// checkAnswer rejects an answer that does not match the kind of the action or its schemas.
func (p *Pending) checkAnswer(row storage.Pending, a shoal.PendingAnswer) error {
	if err := a.Validate(row.Kind); err != nil {
		return err
	}
	if row.RunID == "" && a.Remember != nil {
		return shoal.Invalid("remember", "does not apply: the program that asks has no run, and asks each time")
	}
	if p.fits == nil {
		return nil
	}
	if len(a.Result) > 0 && len(row.ResultSchema) > 0 && string(row.ResultSchema) != "null" {
		if err := p.fits("result", row.ResultSchema, a.Result); err != nil {
			return shoal.Invalid("result", "does not fit the tool's schema: "+err.Error())
		}
	}
	if len(a.Args) > 0 && len(row.Policy.ArgsSchema) > 0 {
		if err := p.fits("args", row.Policy.ArgsSchema, a.Args); err != nil {
			return shoal.Invalid("args", "do not fit the tool's schema: "+err.Error())
		}
	}
	return nil
}
