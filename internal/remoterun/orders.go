package remoterun

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Orders calls send with every order for the program that executes a run, from the beginning
// of the run on, and with nil at least every heartbeat. It returns nil after the order that
// says that the run has ended, and the error of send. The caller is the agent's own key or
// an admin. Orders fails with Conflict for a claim that is not the current one.
func (s *Server) Orders(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.RunID, claim int64, heartbeat time.Duration, send func(*shoal.Order) error) error {
	first, err := s.o.Hub.Runs.ProgramRun(ctx, caller, session, id)
	if err != nil {
		return err
	}
	sub := s.o.Hub.Work.SubscribeRemote(session, first.AgentID) // before the next read, so that no notification is missed
	defer sub.Close()
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	sent, offered := map[shoal.PendingID]bool{}, map[shoal.RunID]bool{}
	for begun := false; ; begun = true {
		r, err := s.o.Hub.Runs.ProgramRun(ctx, caller, session, id)
		if err != nil {
			return err
		}
		st, err := stateOf(r)
		if err != nil {
			return err
		}
		if st.Remote.Claim != claim {
			return staleError(st.Remote.Claim)
		}
		if !begun {
			if err := send(nil); err != nil {
				return err
			}
		}
		if r.Status.Ended() {
			return send(&shoal.Order{Type: shoal.OrderCancel, Reason: string(r.Status)})
		}
		if err := s.sendAnswers(ctx, r, claim, sent, send); err != nil {
			return err
		}
		if err := s.sendOffers(ctx, r, offered, send); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.ctx.Done():
			return shoal.E("", shoal.Busy, "The server is stopping. Connect again in a moment.")
		case <-sub.Ready():
			sub.Take()
		case <-tick.C:
			if err := send(nil); err != nil {
				return err
			}
		}
	}
}

// sendAnswers sends the answers that were not sent yet. Others see them before the program
// does.
func (s *Server) sendAnswers(ctx context.Context, r storage.Run, claim int64, sent map[shoal.PendingID]bool, send func(*shoal.Order) error) error {
	var settled []storage.Pending
	err := s.o.Hub.Work.Read(ctx, func(tx storage.Tx) error {
		settled = nil
		rows, err := tx.PendingOf(r.SessionID, r.ID)
		for _, row := range rows {
			if row.Status != shoal.PendingOpen && !sent[row.ID] {
				settled = append(settled, row)
			}
		}
		return err
	})
	if err != nil || len(settled) == 0 {
		return err
	}
	if err := s.hold(ctx, r, claim, func(x *running) error { return x.sync(ctx) }); err != nil {
		if errors.Is(err, runs.ErrLeaseLost) || errors.Is(err, shoal.Expired) {
			return nil // the next round says so
		}
		return err
	}
	for _, row := range settled {
		o := orderOf(row)
		if err := send(&o); err != nil {
			return err
		}
		sent[row.ID] = true
	}
	return nil
}

// cancelLoop ends the runs that are to be canceled, also those whose program is gone.
func (s *Server) cancelLoop(ready <-chan struct{}, take func()) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-ready:
			take()
		case <-timer.C:
		}
		next := 15 * time.Second
		if err := s.endCanceled(); err != nil && s.ctx.Err() == nil {
			s.o.Log.Error("canceled runs of programs cannot be ended; retrying", "error", err)
			next = time.Second
		}
		timer.Reset(next)
	}
}

// endCanceled ends the remote runs that are to be canceled.
func (s *Server) endCanceled() error {
	var found []storage.Run
	err := s.o.Hub.Work.Read(s.ctx, func(tx storage.Tx) (err error) {
		found, err = tx.CanceledRemote(100)
		return err
	})
	for _, r := range found {
		if err == nil {
			err = s.endRun(r)
		}
	}
	return err
}

// endRun ends one run as canceled.
func (s *Server) endRun(r storage.Run) error {
	err := s.o.Hub.Work.TakeOver(s.ctx, r.SessionID, r.ID, func(c *runs.RunChange) error {
		if !c.Run.Cancel {
			return nil
		}
		x, err := s.restore(c)
		if err != nil {
			return err
		}
		effects := x.machine.composer.End(agent.Canceled)
		if _, err := x.perform(c, effects); err != nil {
			return err
		}
		if len(x.machine.turns) > 0 {
			x.machine.turns[len(x.machine.turns)-1].ended = &c.At
			if err := x.putStep(c); err != nil {
				return err
			}
		}
		if err := x.announceTaken(c); err != nil {
			return err
		}
		end := agent.TurnEnd{Outcome: agent.Canceled, Reason: agent.ReasonCanceled, Message: "The run was canceled.", At: c.At.Time}
		return finishRun(c, end, x.n, shoal.RunCanceled, &shoal.RunError{Code: "canceled", Message: end.Message})
	})
	if errors.Is(err, runs.ErrLeaseLost) || errors.Is(err, shoal.NotFound) {
		return nil // it has ended, or is gone with its session
	}
	return err
}
