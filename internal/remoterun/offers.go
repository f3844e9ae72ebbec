package remoterun

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/behalf"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// maxOffered is how many messages are offered to the program of a run at once.
const maxOffered = 32

// offers returns the queued runs whose messages the program of r may take into its turn, the
// oldest first: those of the same agent and space that wait for the end of r, if the agent's
// configuration says so. A run that is settling is not among them.
func offers(tx storage.Tx, r storage.Run) (out []storage.Run, err error) {
	if takes, err := takesMessages(tx, r); err != nil || !takes {
		return nil, err
	}
	now, err := tx.Now()
	if err != nil {
		return nil, err
	}
	filter := storage.RunFilter{Agent: r.AgentID, Space: r.Space, Status: []shoal.RunStatus{shoal.RunQueued}, Limit: shoal.MaxPage}
	for {
		page, err := tx.Runs(r.SessionID, filter)
		for _, q := range page {
			if filter.Before = q.ID; isOffered(r, q, now) {
				out = append(out, q)
			}
		}
		if err != nil {
			return nil, err
		}
		if len(page) < filter.Limit {
			slices.Reverse(out)
			return out[:min(len(out), maxOffered)], nil
		}
	}
}

// takesMessages reports whether the program of a run may take messages in.
func takesMessages(tx storage.Tx, r storage.Run) (bool, error) {
	if !r.Remote || r.Space == "" || r.Cancel || r.Status.Ended() {
		return false, nil
	}
	as, err := tx.HostedAgent(r.SessionID, r.AgentID)
	if errors.Is(err, shoal.NotFound) {
		return false, nil
	}
	return as.OnNewMessage == "steer", err
}

// isOffered reports whether the program of r may take the message of the queued run q.
func isOffered(r, q storage.Run, now shoal.Time) bool {
	return q.Space == r.Space && q.Remote && q.Trigger.Type == shoal.SpaceMessageTrigger && runs.IsWaitingInQueue(q) && !runs.IsSettling(q, now) &&
		len(behalf.Join(r.Roots(), q.Roots())) <= behalf.MaxActingFor
}

// takeInRun ends the queued run with this id, because the model of the run of c has read its
// message: that is part of its turn from now on, and it acts for the sender, too. turn returns the
// state of the queued run. A run that does not wait in the queue any more stays as it is.
func takeInRun(c *runs.RunChange, id shoal.RunID, turn func(q storage.Run) (json.RawMessage, error)) error {
	takes, err := takesMessages(c.Tx, *c.Run)
	if err != nil || !takes {
		return err
	}
	q, err := c.Tx.Run(c.Run.SessionID, id)
	if errors.Is(err, shoal.NotFound) {
		return nil
	}
	if err != nil || q.AgentID != c.Run.AgentID || !isOffered(*c.Run, q, c.At) {
		return err
	}
	of := c.Of(&q)
	if q.Began, err = of.NextPosition(); err != nil {
		return err
	}
	if q.Ended, err = of.NextPosition(); err != nil {
		return err
	}
	if q.Turn, err = turn(q); err != nil {
		return err
	}
	q.PartOf = &c.Run.ID
	if err := of.Start(); err != nil {
		return err
	}
	if err := of.Finish(shoal.RunCompleted, nil); err != nil {
		return err
	}
	c.Run.ActingFor = behalf.Join(c.Run.Roots(), q.Roots())
	c.Run.Depth, c.Run.Linked = max(c.Run.Depth, q.Depth), c.Run.Linked || q.Linked // agents that answer each other come to an end
	return c.UpdateRun(q)
}
