package runs

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/leases"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Work is the API for the executor of runs: it claims runs and writes what they do. It
// checks no rights, so nothing else may use it. Everything that a run writes goes through
// [Work.Write], which rejects an executor that has lost the lease.
type Work struct {
	core   *core.Core
	live   *live.Parts
	expiry leases.Expiry
}

// NewWork returns the executor's API to the runs of a hub.
func NewWork(c *core.Core, live *live.Parts) *Work { return &Work{core: c, live: live} }

// Lease is the right to execute a run. Every write states its Generation.
type Lease struct {
	Session    shoal.SessionID
	Run        shoal.RunID
	Generation int64
}

// ErrLeaseLost is in the chain of the error with which a write is rejected because the
// writer no longer holds the lease: nothing was written.
var ErrLeaseLost error = shoal.E("", shoal.Conflict, "Another server executes this run now.")

func leaseLostError(l Lease) error {
	return &shoal.Error{Kind: shoal.Conflict, Msg: "The run " + string(l.Run) + " is now executed by another server, or has ended.", Err: ErrLeaseLost}
}

// Progress is what a server reports about a run when it renews the lease: the run's last
// activity, or nil, and whether the run has stalled since.
type Progress struct {
	Lease
	Activity *shoal.RunActivity
	Stalled  bool
}

// Renew extends these leases of owner to ttl from now, and stores the last activity of
// their runs. It emits run.stalled for a run that stalls, and run.resumed for one that
// continues. It returns the runs that owner holds there, with the current value of Cancel: an
// executor has lost the runs that are not among them. A run that owner holds but does not
// list, because it never learned that its claim was stored or could not release it, becomes
// claimable when its lease expires.
func (w *Work) Renew(ctx context.Context, owner string, mine []Progress, ttl time.Duration) (held []storage.Run, err error) {
	sessions := make([]shoal.SessionID, len(mine))
	for i, p := range mine {
		sessions[i] = p.Session
	}
	for at := range storage.Batches(sessions) {
		some, err := w.renewIn(ctx, at, owner, mine, ttl)
		if err != nil {
			return nil, err
		}
		held = append(held, some...)
	}
	return held, nil
}

// renewIn is Renew for the runs in some sessions.
func (w *Work) renewIn(ctx context.Context, at storage.At, owner string, mine []Progress, ttl time.Duration) (held []storage.Run, err error) {
	err = w.core.Change(ctx, "hub.Work.Renew", at, func(ch *core.Change) error {
		now, err := ch.Now()
		if err != nil {
			return err
		}
		if held, err = ch.HeldRuns(owner); err != nil {
			return err
		}
		held = slices.DeleteFunc(held, func(r storage.Run) bool { return !at.Includes(r.SessionID) })
		until := shoal.At(now.Add(ttl))
		for i, r := range held {
			at := slices.IndexFunc(mine, func(p Progress) bool {
				return p.Lease == Lease{Session: r.SessionID, Run: r.ID, Generation: r.Generation}
			})
			if at < 0 {
				continue
			}
			held[i].LeaseUntil = &until
			if err := storeProgress(ch, &held[i], mine[at]); err != nil {
				return err
			}
			if err := ch.UpdateRun(held[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		w.loseOthers(at, mine, held)
	}
	return held, err
}

// loseOthers drops the parts of the runs in these sessions that an owner no longer holds.
func (w *Work) loseOthers(at storage.At, mine []Progress, held []storage.Run) {
	for _, p := range mine {
		if at.Includes(p.Session) && !slices.ContainsFunc(held, func(r storage.Run) bool {
			return p.Lease == Lease{Session: r.SessionID, Run: r.ID, Generation: r.Generation}
		}) {
			w.live.Lose(p.Session, p.Run, p.Generation+1)
		}
	}
}

// storeProgress sets the last activity of a running run, and emits an event when it stalls
// or continues.
func storeProgress(ch *core.Change, r *storage.Run, p Progress) error {
	if p.Activity == nil || r.Status != shoal.RunRunning {
		return nil
	}
	r.Activity = p.Activity
	what := shoal.EventRunStalled
	switch stalled := r.StalledSince != nil; {
	case stalled == p.Stalled:
		return nil
	case p.Stalled:
		r.StalledSince = &p.Activity.At
	default:
		r.StalledSince, what = nil, shoal.EventRunResumed
	}
	ch.NotifyActivity(r.SessionID, r.AgentID)
	return emitRun(ch, *r, what)
}

// Subscribe returns a subscription that is ready when a run may have become claimable or is
// to be canceled. The caller must close it.
func (w *Work) Subscribe() core.Subscription {
	sub := w.core.Bus.Subscribe()
	sub.Add(core.WorkTopic)
	return sub
}

// Read runs fn on a snapshot.
func (w *Work) Read(ctx context.Context, fn func(storage.Tx) error) error {
	return w.core.View(ctx, "hub.Work.Read", fn)
}

// Write runs fn in one transaction with the stored run, which fn may change. It fails with
// ErrLeaseLost, and changes nothing, if the lease is lost. fn may run more than once, as in
// [storage.Store].Update. Followers receive what is relayed after Write has returned after
// the events of this transaction.
func (w *Work) Write(ctx context.Context, lease Lease, fn func(*RunChange) error) error {
	err := w.core.Change(ctx, "hub.Work.Write", storage.In(lease.Session), func(ch *core.Change) error {
		r, err := ch.Run(lease.Session, lease.Run)
		if errors.Is(err, shoal.NotFound) {
			return leaseLostError(lease)
		}
		if err != nil {
			return err
		}
		if r.Generation != lease.Generation || r.Owner == "" || r.Status.Ended() {
			return leaseLostError(lease)
		}
		before := r
		if err := fn(&RunChange{Change: ch, Run: &r, live: w.live}); err != nil {
			return err
		}
		if reflect.DeepEqual(before, r) {
			return nil // the common case while its messages are streaming
		}
		if r.Owner == "" { // the run has ended or is suspended: no part of it is streaming
			ch.OnCommit(func() { w.live.Drop(func(p *live.Part) bool { return p.Run == r.ID }) })
		}
		return ch.UpdateRun(r)
	})
	if errors.Is(err, ErrLeaseLost) {
		w.live.Lose(lease.Session, lease.Run, lease.Generation+1)
	}
	return err
}
