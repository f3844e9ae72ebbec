package runs

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/limit"
)

// Work is for what executes runs: it claims them and writes what they do. Nobody
// else may use it; it asks for no rights. All that a run writes goes through
// [Work.Write], which refuses whoever has lost the lease.
type Work struct {
	core *core.Core
	live *Live
}

// NewWork returns the executor's side of the runs of a hub.
func NewWork(c *core.Core, live *Live) *Work { return &Work{c, live} }

// Lease is the right to execute a run. Its Generation is in every write.
type Lease struct {
	Session    shoal.SessionID
	Run        shoal.RunID
	Generation int64
}

// ErrLeaseLost is the cause with which a write of somebody who does not hold the
// lease any more is refused: nothing was written.
var ErrLeaseLost error = shoal.E("", shoal.Conflict, "Another server executes this run now.")

func leaseLostError(l Lease) error {
	return &shoal.Error{Kind: shoal.Conflict, Msg: "The run " + string(l.Run) + " is executed elsewhere now, or has ended.", Err: ErrLeaseLost}
}

// Slots say how many runs a server executes at most, how many of them it does, and with
// which leases. A lease of these that has run out, because the store did not answer for
// as long, is renewed and not given away: the server would execute the run twice.
//
// Over decides about a lease of another server that has run out: whether that server is
// taken for dead, so that its run is given to others. nil takes each for dead at once. It
// is called in the transaction that claims, and may be called again for the same lease.
type Slots struct {
	All, Taken int
	Mine       []Lease
	Over       func(Lease) bool
}

// Claim takes a lease of up to limit runs that there is something to do for. The
// requesters take turns (see [RunTx]). A claimed run is not awake any more; who claims it looks at what
// it finds. The leases last ttl from now by the database's clock. A run whose
// lease ran out is claimed like any other.
func (w *Work) Claim(ctx context.Context, owner string, limit int, ttl time.Duration) (claimed []storage.Run, err error) {
	return w.ClaimFor(ctx, owner, limit, Slots{}, ttl)
}

// ClaimFor is Claim for a server with so many slots, which are divided over requesters
// as [limit.Fits] says: one that has many runs under way leaves the last ones to
// others. What no entity has asked for may have every slot.
func (w *Work) ClaimFor(ctx context.Context, owner string, most int, slots Slots, ttl time.Duration) (claimed []storage.Run, err error) {
	err = w.core.Change(ctx, "hub.Work.Claim", func(ch *core.Change) error {
		now, err := ch.Now()
		if err != nil {
			return err
		}
		until := shoal.At(now.Add(ttl))
		ranOut := func(r storage.Run) bool {
			return r.LeaseUntil != nil && !r.LeaseUntil.After(now.Time) && slots.isAbandoned(owner, r)
		}
		if err := endLeases(ch, ranOut, slots.isMine(owner), until); err != nil {
			return err
		}
		if claimed, err = ch.ClaimableRuns(now, most); err != nil {
			return err
		}
		claimed = slices.DeleteFunc(claimed, func(r storage.Run) bool { return r.LeaseUntil != nil }) // whose holder may be alive
		if claimed, err = slots.selectFitting(ch, claimed); err != nil {
			return err
		}
		for i := range claimed {
			r := &claimed[i]
			r.Owner, r.LeaseUntil, r.Awake = owner, &until, false
			r.Generation++
			if err := ch.UpdateRun(*r); err != nil {
				return err
			}
		}
		return nil
	})
	return claimed, err
}

// selectFitting returns those of runs that find a slot.
func (s Slots) selectFitting(tx Tx, runs []storage.Run) (out []storage.Run, err error) {
	if s.Taken+len(runs) <= s.All-s.All/4 || s.All == 0 {
		return runs, nil
	}
	held, err := tx.HeldRuns("")
	if err != nil {
		return nil, err
	}
	mine := map[storage.EntityRef]int64{}
	for _, r := range held {
		mine[requesterOf(r)]++
	}
	for _, r := range runs {
		key := requesterOf(r)
		if limit.Fits(int64(s.All), int64(s.Taken+len(out)), mine[key], 1, r.Requester == "") {
			out = append(out, r)
			mine[key]++
		}
	}
	return out, nil
}

// isMine reports whether a run is executed by owner, as far as owner says.
func (s Slots) isMine(owner string) func(storage.Run) bool {
	return func(r storage.Run) bool {
		return r.Owner == owner && slices.Contains(s.Mine, Lease{Session: r.SessionID, Run: r.ID, Generation: r.Generation})
	}
}

// isAbandoned reports whether a lease that has run out is given up.
func (s Slots) isAbandoned(owner string, r storage.Run) bool {
	return r.Owner == owner || s.Over == nil || s.Over(Lease{Session: r.SessionID, Run: r.ID, Generation: r.Generation})
}

func requesterOf(r storage.Run) storage.EntityRef {
	return storage.EntityRef{Session: r.SessionID, ID: shoal.EntityID(r.Requester)}
}

// endLeases ends the leases that which chooses, and wakes their runs. Those that kept
// chooses of them last until a time instead.
func endLeases(ch *core.Change, matches, renew func(storage.Run) bool, until shoal.Time) error {
	held, err := ch.HeldRuns("")
	if err != nil {
		return err
	}
	for _, r := range held {
		if !matches(r) {
			continue
		}
		if renew(r) {
			r.LeaseUntil = &until
			if err := ch.UpdateRun(r); err != nil {
				return err
			}
			continue
		}
		r.Owner, r.LeaseUntil, r.Awake = "", nil, true
		if err := ch.UpdateRun(r); err != nil {
			return err
		}
		ch.Notify(core.WorkTopic)
	}
	return nil
}

// Progress is what a server says of a run that it executes when it renews the lease: its
// last activity, nil if there was none, and whether the run has stalled since.
type Progress struct {
	Lease
	Activity *shoal.RunActivity
	Stalled  bool
}

// Renew makes these leases of owner last ttl from now, and stores what their runs did
// last. A run that stalls is told to its followers (run.stalled), and so is one that goes
// on after it had stalled (run.resumed). It returns the runs that
// owner holds, with Cancel as it is now: who executes a run that is not among
// them has lost it. A run that owner holds and does not name, because it never
// learned that its claim was stored or could not give it up, becomes claimable when
// its lease runs out.
func (w *Work) Renew(ctx context.Context, owner string, mine []Progress, ttl time.Duration) (held []storage.Run, err error) {
	err = w.core.Change(ctx, "hub.Work.Renew", func(ch *core.Change) error {
		now, err := ch.Now()
		if err != nil {
			return err
		}
		if held, err = ch.HeldRuns(owner); err != nil {
			return err
		}
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
	return held, err
}

// storeProgress notes what a running run did last, and tells when it stalls or goes on.
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

// Orphan ends the leases of everybody but owner, and wakes their runs. It is for
// the start of a server that has its database for itself.
func (w *Work) Orphan(ctx context.Context, owner string) error {
	return w.core.Change(ctx, "hub.Work.Orphan", func(ch *core.Change) error {
		none := func(storage.Run) bool { return false }
		return endLeases(ch, func(r storage.Run) bool { return r.Owner != owner }, none, shoal.Time{})
	})
}

// Subscribe returns a subscription that is ready when a run may have become
// claimable or is to be canceled. The caller must close it.
func (w *Work) Subscribe() core.Subscription {
	sub := w.core.Bus.Subscribe()
	sub.Add(core.WorkTopic)
	return sub
}

// NextClaim returns in what time a run becomes claimable that is not yet, if one will:
// an awake one when it may begin, one under way when its lease runs out. The duration
// is that of the database's clock, whatever this machine's says; it is no longer than
// the truth, and not above 0 for a run that is claimable already. The holder of a
// lease may find nothing then.
func (w *Work) NextClaim(ctx context.Context) (in time.Duration, some bool, err error) {
	err = w.core.View(ctx, "hub.Work.NextClaim", func(tx storage.Tx) error {
		next, err := tx.NextClaim()
		if err != nil {
			return err
		}
		held, err := tx.HeldRuns("")
		if err != nil {
			return err
		}
		for _, r := range held {
			if r.LeaseUntil != nil && (next == nil || r.LeaseUntil.Before(next.Time)) {
				next = r.LeaseUntil
			}
		}
		if some = next != nil; !some {
			return nil
		}
		now, err := tx.Now()
		in = next.Sub(now.Time)
		return err
	})
	return in, some, err
}

// Read runs fn on a snapshot.
func (w *Work) Read(ctx context.Context, fn func(storage.Tx) error) error {
	return w.core.View(ctx, "hub.Work.Read", fn)
}

// Write runs fn in one transaction, in which the run is as it is stored and may be
// changed. ErrLeaseLost, and nothing is done, when the lease is another's. fn may
// run more than once, as that of [Store].Update. What is relayed meanwhile comes
// to followers behind what this writes, if it is relayed after Write returned.
func (w *Work) Write(ctx context.Context, lease Lease, fn func(*RunChange) error) error {
	return w.core.Change(ctx, "hub.Work.Write", func(ch *core.Change) error {
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
			return nil // as nearly always while its messages grow
		}
		if r.Owner == "" { // it has ended, or it waits: nothing of it grows now
			ch.OnCommit(func() { w.live.dropParts(func(p *LivePart) bool { return p.Run == r.ID }) })
		}
		return ch.UpdateRun(r)
	})
}
