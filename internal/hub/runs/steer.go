package runs

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/behalf"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// MaxOffered is how many messages are offered to the program of a run at once.
const MaxOffered = 32

// Offers returns the queued runs whose messages the program of r may take into its turn, the
// oldest first: those of the same agent and space that wait for the end of r, if the agent's
// configuration says so. A run that is settling is not among them.
func Offers(tx storage.Tx, r storage.Run) (out []storage.Run, err error) {
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
			return out[:min(len(out), MaxOffered)], nil
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
	return q.Space == r.Space && q.Remote && q.Trigger.Type == shoal.SpaceMessageTrigger && isWaitingInQueue(q) && !isSettling(q, now) &&
		len(behalf.Join(r.Roots(), q.Roots())) <= behalf.MaxActingFor
}

// TakeIn ends the queued run with this id, because the model of the run of the change has read its
// message: that is part of its turn from now on, and it acts for the sender, too. turn is the
// executor's state of the queued run. TakeIn reports false, and does nothing, if that run does
// not wait in the queue any more.
func (c *RunChange) TakeIn(id shoal.RunID, turn func(q storage.Run) (json.RawMessage, error)) (bool, error) {
	takes, err := takesMessages(c.Tx, *c.Run)
	if err != nil || !takes {
		return false, err
	}
	q, err := c.Tx.Run(c.Run.SessionID, id)
	if errors.Is(err, shoal.NotFound) {
		return false, nil
	}
	if err != nil || q.AgentID != c.Run.AgentID || !isOffered(*c.Run, q, c.At) {
		return false, err
	}
	of := &RunChange{Change: c.Change, Run: &q, live: c.live}
	if q.Began, err = of.NextPosition(); err != nil {
		return false, err
	}
	if q.Ended, err = of.NextPosition(); err != nil {
		return false, err
	}
	if q.Turn, err = turn(q); err != nil {
		return false, err
	}
	q.PartOf = &c.Run.ID
	if err := of.Start(); err != nil {
		return false, err
	}
	if err := of.Finish(shoal.RunCompleted, nil); err != nil {
		return false, err
	}
	c.Run.ActingFor = behalf.Join(c.Run.Roots(), q.Roots())
	c.Run.Depth, c.Run.Linked = max(c.Run.Depth, q.Depth), c.Run.Linked || q.Linked // agents that answer each other come to an end
	return true, c.UpdateRun(q)
}

// ReceiptChanged announces that what became of the message of a run may have changed.
func (c *RunChange) ReceiptChanged(id shoal.RunID) error {
	r, err := c.Tx.Run(c.Run.SessionID, id)
	if errors.Is(err, shoal.NotFound) {
		return nil
	}
	if err == nil {
		receiptChanged(c.Change, r)
	}
	return err
}
