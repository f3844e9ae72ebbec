package runs

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// canceledError returns the error of a canceled run.
func canceledError() *shoal.RunError {
	return &shoal.RunError{Code: "canceled", Message: "The run was canceled."}
}

// CancelRun ends a queued run, and makes the executor of any other run end it. What the run
// asks is canceled at once: the program that executes it may never come back to end it. It
// returns the run with the changes.
func CancelRun(ch *core.Change, r storage.Run) (storage.Run, error) {
	switch {
	case r.Status.Ended() || r.Cancel:
		return r, nil
	case r.Status == shoal.RunQueued:
		if err := finishRun(ch, &r, shoal.RunCanceled, canceledError()); err != nil {
			return r, err
		}
	default:
		r.Cancel, r.Awake = true, true
		if err := pending.CancelAll(ch, &r); err != nil {
			return r, err
		}
	}
	ch.NotifyWork(r)
	ch.Notify(core.RunTopic(r.SessionID, r.ID))
	return r, ch.UpdateRun(r)
}

// CancelRuns cancels the runs of an agent, or of the session if agent is empty, and what the
// agent asks without a run.
func CancelRuns(ch *core.Change, session shoal.SessionID, agent shoal.EntityID) error {
	runs, err := ch.Runs(session, storage.RunFilter{Agent: agent, Status: ActiveStatuses})
	if err != nil {
		return err
	}
	// Canceling one run may change another, so each is read again.
	for _, r := range runs {
		if r, err = ch.Run(session, r.ID); err != nil {
			return err
		}
		if _, err := CancelRun(ch, r); err != nil {
			return err
		}
	}
	return pending.CancelOfAgent(ch, session, agent)
}
