package remoterun

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Work stores lines about a run and extends its lease; without lines it does only that. The
// caller is the agent's own key or an admin. It fails with Conflict for a claim that is not
// the current one and for lines after a gap, with Expired for a run that has ended, and with
// InvalidArgument, naming the line, for a line that does not fit the run. Lines that were
// stored before are ignored, also after the end of the run.
func (s *Server) Work(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.RunID, claim int64, lines []shoal.WorkLine) (out shoal.WorkReceipt, err error) {
	r, err := s.o.Hub.Runs.ProgramRun(ctx, caller, session, id)
	if err != nil {
		return out, err
	}
	if r.Status.Ended() {
		return receiptOfEnded(r, claim, lines)
	}
	err = s.hold(ctx, r, claim, func(x *running) error {
		if err := x.accept(ctx, lines); err != nil {
			return err
		}
		if x.machine.end == nil && !x.released {
			if err := x.renew(ctx, len(lines) == 0); err != nil {
				return err
			}
		}
		out.N, out.Status = x.n, x.status
		if x.machine.end == nil && !x.released {
			until := shoal.At(x.until)
			out.LeaseUntil = &until
		}
		return nil
	})
	if errors.Is(err, runs.ErrLeaseLost) {
		err = staleError(0)
	}
	return out, err
}

// receiptOfEnded answers a program that has not received the receipt of its last lines.
func receiptOfEnded(r storage.Run, claim int64, lines []shoal.WorkLine) (out shoal.WorkReceipt, err error) {
	st, err := stateOf(r)
	if err != nil {
		return out, err
	}
	if st.Remote.Claim != claim || len(lines) > 0 && lines[len(lines)-1].N > st.Remote.N {
		return out, endedError(r)
	}
	return shoal.WorkReceipt{N: st.Remote.N, Status: r.Status}, nil
}

// beat records what the program does.
func (x *running) beat(b batch) {
	for _, e := range b.Entries {
		if e.Line == nil {
			continue
		}
		x.active = shoal.RunActivity{At: b.At, Kind: shoal.ActivityTool}
		if e.Line.Type == shoal.WorkText || e.Line.Type == shoal.WorkThought {
			x.active.Kind = shoal.ActivityDelta
		}
	}
	for _, k := range x.machine.order {
		if k.asked {
			x.active = shoal.RunActivity{At: b.At, Kind: shoal.ActivityWait}
		}
	}
}

// renew extends the lease if a third of it is over, or at once. It stores the last activity of
// the run, and whether it has stalled: a run that waits for a person has not.
func (x *running) renew(ctx context.Context, atOnce bool) error {
	lease := x.leaseFor
	if !atOnce && time.Until(x.until) > lease*2/3 {
		return nil
	}
	active := x.active
	stalled := active.Kind != shoal.ActivityWait && time.Since(active.At.Time) >= shoal.StallAfter
	until := time.Now().Add(lease)
	held, err := x.s.o.Hub.Work.Renew(context.WithoutCancel(ctx), x.owner, []runs.Progress{{Lease: x.lease, Activity: &active, Stalled: stalled}}, lease)
	if err != nil {
		return err
	}
	for _, r := range held {
		if r.ID == x.run.ID && r.Generation == x.lease.Generation {
			x.until, x.silent = until, stalled
			return nil
		}
	}
	return runs.ErrLeaseLost
}
