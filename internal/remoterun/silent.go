package remoterun

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/runs"
)

// markSilent marks the runs as stalled whose programs call tools, and have not called one for a
// minute. Those of other programs are marked when their leases are renewed.
func (s *Server) markSilent() {
	s.mu.Lock()
	var all []*running
	for _, x := range s.runs {
		if x.leaseFor == s.o.CallLease {
			all = append(all, x)
		}
	}
	s.mu.Unlock()
	for _, x := range all {
		if err := x.markSilent(s.ctx); err != nil && s.ctx.Err() == nil {
			s.o.Log.Warn("a run without activity cannot be marked as stalled; retrying", "session", x.run.SessionID, "run", x.run.ID, "error", err)
		}
	}
}

// markSilent marks the run as stalled, if it is. The lease stays as it is.
func (x *running) markSilent(ctx context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	left := time.Until(x.until)
	if x.gone || x.silent || left <= 0 || x.active.Kind == shoal.ActivityWait || time.Since(x.active.At.Time) < shoal.StallAfter {
		return nil
	}
	active := x.active
	_, err := x.s.o.Hub.Work.Renew(ctx, x.owner, []runs.Progress{{Lease: x.lease, Activity: &active, Stalled: true}}, left)
	x.silent = err == nil
	return err
}
