package remoterun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Card is a display tool of an agent: what it may show with a line of the type card.
type Card struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"` // null if anything fits
}

// Cards returns the cards of the version of the configuration with which a run is executed.
func (s *Server) Cards(ctx context.Context, r shoal.RemoteRun) (out []Card, err error) {
	err = s.o.Hub.Work.Read(ctx, func(tx storage.Tx) error {
		run, err := tx.Run(r.Run.SessionID, r.Run.ID)
		if err != nil {
			return err
		}
		stored, err := tx.HostedAgentAt(run.SessionID, run.AgentID, run.Version)
		if err != nil {
			return err
		}
		config, err := agentconfig.Load(stored.Config)
		if err == nil {
			out = cardsOf(config)
		}
		return err
	})
	return out, err
}

// maxUnfinished is how many runs Unfinished returns.
const maxUnfinished = 20

// Unfinished returns up to 20 runs of an agent that programs have begun and not ended, the newest
// first. The caller is the agent's own key or an admin.
func (s *Server) Unfinished(ctx context.Context, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID) ([]shoal.RunID, error) {
	if _, err := s.o.Hub.Runs.ProgramAgent(ctx, caller, session, agent); err != nil {
		return nil, err
	}
	out := []shoal.RunID{}
	err := s.o.Hub.Work.Read(ctx, func(tx storage.Tx) error {
		out = out[:0]
		found, err := tx.Runs(session, storage.RunFilter{Agent: agent, Status: []shoal.RunStatus{shoal.RunRunning, shoal.RunWaitingTool}, Limit: maxUnfinished})
		for _, r := range found {
			if !r.Cancel {
				out = append(out, r.ID)
			}
		}
		return err
	})
	return out, err
}

// Reclaim claims a run that a program has begun, for another one or for the same after it has lost
// its claim, although the lease may not have ended. From then on the earlier claim is refused. It
// fails with Expired for a run that has ended, and with Conflict for one that has not begun.
func (s *Server) Reclaim(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.RunID, d Demand) (out shoal.RemoteRun, err error) {
	r, err := s.o.Hub.Runs.ProgramRun(ctx, caller, session, id)
	if err != nil {
		return out, err
	}
	if r.Status.Ended() || r.Cancel {
		return out, endedError(r)
	}
	var x *running
	until := time.Now().Add(s.firstLease(d))
	err = s.o.Hub.Work.TakeOver(context.WithoutCancel(ctx), session, id, func(c *runs.RunChange) error {
		if c.Run.Began == 0 {
			return shoal.E("", shoal.Conflict, "The run has not begun. Claim it first.")
		}
		end := shoal.At(until)
		c.Run.Owner, c.Run.LeaseUntil, c.Run.Awake = shoal.NewID[string]("prg_"), &end, c.Run.Cancel
		x, err = s.begin(ctx, c, d.ByCalls)
		r = *c.Run
		return err
	})
	switch {
	case errors.Is(err, runs.ErrLeaseLost):
		return out, shoal.E("", shoal.Expired, "The run has ended. Stop working on it.")
	case err != nil:
		return out, err
	case x.machine.end != nil:
		return out, shoal.E("", shoal.Expired, "The run has ended: "+x.machine.end.Text)
	}
	x.until, x.status = until, r.Status
	s.remember(x)
	return x.describe(ctx, r)
}

// Answer is the answer to a request. Order is nil before somebody has answered. Status is that of the run.
type Answer struct {
	Order  *shoal.Order
	Status shoal.RunStatus
}

// awaitAgain is how often Await reads without a notification, which the bus may lose.
const awaitAgain = 5 * time.Second

// Await waits until a request of a run is answered or has expired, or the time is over. It fails with
// Expired when the run ends, with Conflict when another program claims it, and with NotFound for a call
// that has asked nothing.
func (s *Server) Await(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id ClaimID, callID string, most time.Duration) (out Answer, err error) {
	r, err := s.o.Hub.Runs.ProgramRun(ctx, caller, session, id.Run)
	if err != nil {
		return out, err
	}
	sub := s.o.Hub.Work.SubscribeRemote(session, r.AgentID) // before the next read, so that no notification is missed
	defer sub.Close()
	end := time.NewTimer(most)
	defer end.Stop()
	again := time.NewTicker(awaitAgain)
	defer again.Stop()
	for {
		if r, err = s.o.Hub.Runs.ProgramRun(ctx, caller, session, id.Run); err != nil {
			return out, err
		}
		if r.Status.Ended() || r.Cancel {
			return out, endedError(r)
		}
		out, err = s.answerTo(ctx, r, id, callID)
		if out.Order != nil || err != nil && !errors.Is(err, runs.ErrLeaseLost) {
			return out, err
		}
		select {
		case <-ctx.Done():
			return out, context.Cause(ctx)
		case <-s.ctx.Done():
			return out, shoal.E("", shoal.Busy, "The server is stopping. Call again in a moment.")
		case <-end.C:
			return out, nil
		case <-sub.Ready():
			sub.Take()
		case <-again.C:
		}
	}
}

// answerTo returns the answer to a request, if there is one.
func (s *Server) answerTo(ctx context.Context, r storage.Run, id ClaimID, callID string) (out Answer, err error) {
	err = s.hold(ctx, r, id.Generation, func(x *running) error {
		if err := x.sync(ctx); err != nil {
			return err
		}
		k := x.machine.calls[callID]
		if k == nil || !k.asked && k.Answer == nil {
			return shoal.E("", shoal.NotFound, fmt.Sprintf("The call %q of this run asks nothing.", callID))
		}
		out = Answer{k.Answer, x.status}
		if k.Answer == nil || k.read {
			return nil
		}
		return x.input(ctx, []entry{{Read: callID}}, x.n)
	})
	return out, err
}
