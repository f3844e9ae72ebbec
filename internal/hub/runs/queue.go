package runs

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// FindBlockingRun returns the run that the queued runs of an agent in a space wait for: the
// oldest one in progress, or else the one that starts next. It returns nil if there is no
// such run.
func FindBlockingRun(tx Tx, session shoal.SessionID, agent shoal.EntityID, space shoal.SpaceID) (head *storage.Run, err error) {
	for _, status := range [][]shoal.RunStatus{{shoal.RunRunning, shoal.RunWaitingReply}, {shoal.RunQueued}} {
		filter := storage.RunFilter{Agent: agent, Space: space, Status: status, Limit: shoal.MaxPage}
		for {
			page, err := tx.Runs(session, filter)
			if err != nil {
				return nil, err
			}
			for i, r := range page { // the newest first
				if filter.Before = r.ID; r.Space == space && !isWaitingInQueue(r) {
					head = &page[i]
				}
			}
			if len(page) < filter.Limit {
				break
			}
		}
		if head != nil {
			return head, nil
		}
	}
	return nil, nil
}

// isWaitingInQueue reports whether a run waits for the end of another run.
func isWaitingInQueue(r storage.Run) bool {
	return r.Status == shoal.RunQueued && !r.Awake && r.Owner == ""
}

// fillQueuedBehind sets QueuedBehind of a run that waits for the end of another run.
func fillQueuedBehind(tx Tx, r *storage.Run) error {
	if !isWaitingInQueue(*r) || r.Space == "" {
		return nil
	}
	before, err := FindBlockingRun(tx, r.SessionID, r.AgentID, r.Space)
	if err == nil && before != nil {
		r.QueuedBehind = &before.ID
	}
	return err
}
