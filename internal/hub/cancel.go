package hub

import (
	"github.com/shoal-dev/shoal"
)

// canceled is why a canceled run ended.
func canceled() *shoal.RunError {
	return &shoal.RunError{Code: "canceled", Message: "The run was canceled."}
}

// cancelRun ends a run that nobody has begun, and has whoever executes any other
// end it. It returns the run as it is then.
func cancelRun(ch *change, r StoredRun) (StoredRun, error) {
	switch {
	case r.Status.Ended() || r.Cancel:
		return r, nil
	case r.Status == shoal.RunQueued:
		if err := finish(ch, &r, shoal.RunCanceled, canceled()); err != nil {
			return r, err
		}
	default:
		r.Cancel, r.Awake = true, true
	}
	ch.hint(workTopic)
	ch.hint(runTopic(r.SessionID, r.ID))
	return r, ch.UpdateRun(r)
}

// cancelRuns cancels the runs of an agent, or, with an empty one, of a session.
func cancelRuns(ch *change, session shoal.SessionID, agent shoal.EntityID) error {
	runs, err := ch.Runs(session, RunFilter{Agent: agent, Status: active})
	if err != nil {
		return err
	}
	// The order of the list and what one end does to another run do not matter:
	// each is read again.
	for _, r := range runs {
		if r, err = ch.Run(session, r.ID); err != nil {
			return err
		}
		if _, err := cancelRun(ch, r); err != nil {
			return err
		}
	}
	return nil
}
