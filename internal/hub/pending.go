package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
)

// Pending is what runs wait for somebody to do.
type Pending struct{ *core }

// List returns what waits for the caller, in the filter's order: for an entity what
// its spaces show and what it may answer, for services and admins everything.
// NotFound for a space that the caller does not see.
func (p *Pending) List(ctx context.Context, who shoal.Principal, session shoal.SessionID, filter PendingFilter) (out []shoal.PendingAction, err error) {
	err = p.view(ctx, "hub.Pending.List", func(tx Tx) error {
		out = []shoal.PendingAction{}
		if err := enter(who, session); err != nil {
			return err
		}
		if _, err := sessionOf(tx, session); err != nil {
			return err
		}
		if filter.Space != "" {
			if _, err := sees(tx, who, session, filter.Space); err != nil {
				return err
			}
		}
		if filter.Run != "" && !mayBe(filter.Run) {
			return noRun(filter.Run)
		}
		filter.Reader = reader(who)
		want := filter.Limit
		for {
			page, err := tx.PendingActions(session, filter)
			if err != nil {
				return err
			}
			for _, row := range page {
				filter.After = row.ID
				if filter.Reader == "" || mayAnswer(row, filter.Reader) == nil {
					out = append(out, row.PendingAction)
				}
				if want > 0 && len(out) == want {
					return nil
				}
			}
			if want == 0 || len(page) < want {
				return nil
			}
		}
	})
	return out, err
}

// Answer settles a pending action: one claim, the first answer wins. The answer is
// stored when it returns, and the run goes on once it has all that it waits for.
// NotFound for whoever does not see the action; Forbidden by the action's policy;
// AlreadyAnswered, unless the same caller repeats the same answer; Expired when it
// has expired or its run is over. A result that fits no ResultSchema is
// InvalidArgument and settles nothing.
//
// A permission that needs several approvals stays open until it has them, each
// from another entity; one denial settles it. An admin or a service that acts as
// no entity settles at once.
func (p *Pending) Answer(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.PendingID, a shoal.PendingAnswer) (out shoal.PendingAction, err error) {
	err = p.change(ctx, "hub.Pending.Answer", func(ch *change) error {
		if err := enter(who, session); err != nil {
			return err
		}
		if !mayBe(id) {
			return noPending(id)
		}
		row, err := ch.Pending(session, id)
		if errors.Is(err, shoal.NotFound) || err == nil && ownWait(row.Kind) {
			return noPending(id)
		}
		if err != nil {
			return err
		}
		out, err = p.answer(ch, who, row, a)
		return err
	})
	return out, err
}

// AnswerCall is Answer by run and tool call. NotFound for an unknown call,
// RunNotWaiting for a run that waits for nothing.
func (p *Pending) AnswerCall(ctx context.Context, who shoal.Principal, session shoal.SessionID, run shoal.RunID, callID string, a shoal.PendingAnswer) (out shoal.PendingAction, err error) {
	err = p.change(ctx, "hub.Pending.AnswerCall", func(ch *change) error {
		if err := enter(who, session); err != nil {
			return err
		}
		if !mayBe(session) || !mayBe(run) {
			return noRun(run)
		}
		rows, err := ch.PendingOf(session, run)
		if err != nil {
			return err
		}
		row, waiting := callOf(rows, callID)
		if row != nil {
			if out, err = p.answer(ch, who, *row, a); !errors.Is(err, shoal.NotFound) {
				return err
			}
		}
		r, err := seesRun(ch, who, session, run)
		switch {
		case err != nil:
			return err
		case !waiting && !r.Status.Parked():
			return shoal.E("", shoal.RunNotWaiting, fmt.Sprintf("The run %q is %s and waits for no answer.", run, r.Status))
		}
		return shoal.E("", shoal.NotFound, fmt.Sprintf("The run %q waits for no tool call %q. Its pendingToolCalls name those that it waits for.", run, callID))
	})
	return out, err
}

// callOf finds the action of a tool call, an open one first, and tells whether
// anything is open.
func callOf(rows []StoredPending, callID string) (found *StoredPending, waiting bool) {
	for i, row := range rows {
		if ownWait(row.Kind) {
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

func noPending(id shoal.PendingID) error {
	return shoal.E("", shoal.NotFound, fmt.Sprintf("There is no pending action %q among those that your spaces show.", id))
}

// answer is the one claim on a row.
func (p *Pending) answer(ch *change, who shoal.Principal, row StoredPending, a shoal.PendingAnswer) (shoal.PendingAction, error) {
	if err := seesPending(ch, who, row); err != nil {
		return shoal.PendingAction{}, err
	}
	if err := openSession(ch, row.Session); err != nil {
		return shoal.PendingAction{}, err
	}
	hash, err := fingerprint(who.Scope(), a)
	if err != nil {
		return shoal.PendingAction{}, shoal.Invalid("result", "must be a JSON value")
	}
	if row.Status != shoal.PendingOpen {
		return row.PendingAction, settled(row, hash)
	}
	run, err := ch.Run(row.Session, row.RunID)
	if err != nil {
		return shoal.PendingAction{}, err
	}
	now, err := ch.Now()
	if err != nil {
		return shoal.PendingAction{}, err
	}
	switch {
	case run.Status.Ended():
		return shoal.PendingAction{}, shoal.E("", shoal.Expired, fmt.Sprintf("The run %q is over; nothing waits for this answer any more.", run.ID))
	case row.Due != nil && !row.Due.After(now.Time):
		return shoal.PendingAction{}, tooLate(row)
	}
	if who.EntityID != "" {
		if err := mayAnswerAs(ch, who, row); err != nil {
			return shoal.PendingAction{}, err
		}
	}
	if err := p.check(row, a); err != nil {
		return shoal.PendingAction{}, err
	}
	if who.EntityID != "" && row.Kind == shoal.PendingPermission && *a.Approved && row.Policy.Quorum > 1 {
		if !slices.Contains(row.Votes, who.EntityID) {
			row.Votes = append(row.Votes, who.EntityID)
		}
		if len(row.Votes) < row.Policy.Quorum {
			return row.PendingAction, ch.UpdatePending(row)
		}
	}
	row.Answer, row.AnswerHash = &a, hash
	at := ch.at
	row.AnsweredAt = &at
	row.Status = shoal.PendingAnswered
	if who.EntityID != "" {
		by := who.EntityID
		row.AnsweredBy = &by
	}
	return row.PendingAction, settle(ch, row, shoal.PendingAnswered)
}

// settled tells whoever answers too late why, unless it is the first answer again.
func settled(row StoredPending, hash string) error {
	switch {
	case row.Status != shoal.PendingAnswered:
		return tooLate(row)
	case row.AnswerHash == hash:
		return nil
	}
	by := "a service"
	if row.AnsweredBy != nil {
		by = fmt.Sprintf("%q", *row.AnsweredBy)
	}
	return shoal.E("", shoal.AlreadyAnswered, fmt.Sprintf("The pending action %q was answered by %s already; the first answer stands.", row.ID, by))
}

func tooLate(row StoredPending) error {
	if row.Status == shoal.PendingCanceled {
		return shoal.E("", shoal.Expired, fmt.Sprintf("The run %q is over; nothing waits for this answer any more.", row.RunID))
	}
	return shoal.E("", shoal.Expired, fmt.Sprintf("The pending action %q has expired; it counts as denied.", row.ID))
}

// seesPending refuses whoever may not know of the action: who is not in the space
// that shows it, or is not the one member that it is for.
func seesPending(tx Tx, who shoal.Principal, row StoredPending) error {
	own := reader(who)
	if own == "" {
		return nil
	}
	if row.SpaceID == nil || row.Target != "" && row.Target != own {
		return noPending(row.ID)
	}
	in, err := tx.IsMember(row.Session, *row.SpaceID, own)
	if err == nil && !in {
		err = noPending(row.ID)
	}
	return err
}

// mayAnswerAs checks the entity that answers: by the action's policy, and, if an
// admin named it, that it is there, in the space that shows the action.
func mayAnswerAs(tx Tx, who shoal.Principal, row StoredPending) error {
	if who.Manages() && row.SpaceID != nil {
		if err := mayAct(tx, shoal.Space{SessionID: row.Session, ID: *row.SpaceID}, who.EntityID); err != nil {
			return err
		}
	} else if who.Manages() {
		if _, err := entityOf(tx, row.Session, who.EntityID); err != nil {
			return err
		}
	}
	return mayAnswer(row, who.EntityID)
}

// mayAnswer applies the action's policy to an entity. The agent that asks may not
// permit itself.
func mayAnswer(row StoredPending, entity shoal.EntityID) error {
	no := func(why string) error {
		return shoal.E("", shoal.Forbidden, fmt.Sprintf("%q may not answer the pending action %q: %s.", entity, row.ID, why))
	}
	switch {
	case row.Target != "" && row.Target != entity:
		return no("it is for another member")
	case entity == row.AgentID:
		return no("it is the agent that asks")
	case len(row.Policy.By) > 0 && !slices.Contains(row.Policy.By, entity):
		return no("only those that the tool's policy names may")
	case row.Policy.NotRequester && row.Requester == string(entity):
		return no("whoever asked for the run may not")
	}
	return nil
}

// check refuses an answer that does not fit the question.
func (p *Pending) check(row StoredPending, a shoal.PendingAnswer) error {
	if err := a.Validate(row.Kind); err != nil {
		return err
	}
	if len(a.Result) == 0 || p.fits == nil || len(row.ResultSchema) == 0 || string(row.ResultSchema) == "null" {
		return nil
	}
	if err := p.fits(row.ResultSchema, a.Result); err != nil {
		return shoal.Invalid("result", "does not fit the tool's schema: "+err.Error())
	}
	return nil
}
