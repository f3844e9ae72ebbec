package runs

import (
	"context"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/limit"
)

// expiry is a time before which no lease expires. held reports whether there is a lease that
// expires then.
type expiry struct {
	at   shoal.Time
	held bool
}

// Slots are how many runs a server may execute at once (Limit), and those that it executes
// now (Own). A lease of Own that has expired, because the store was unreachable for that
// long, is renewed; if another server got it, the run would be executed twice.
//
// OwnerIsDead reports whether the owner of an expired lease of another server counts as
// dead, so that other servers may claim its run. nil means always true. It is
// called in the transaction that claims, and may be called again for the same lease.
type Slots struct {
	Limit       int
	Own         []Slot
	OwnerIsDead func(Lease) bool
}

// Slot is a run that a server executes.
type Slot struct {
	Lease
	Requester string
}

// Claim leases up to limit runs that can start or continue. The requesters take turns (see
// [storage.RunTx]). A claimed run stops being awake; its executor determines what there is
// to do. The leases expire after ttl by the database's clock. A run whose lease has expired
// is claimed like any other.
func (w *Work) Claim(ctx context.Context, owner string, limit int, ttl time.Duration) (claimed []storage.Run, err error) {
	return w.ClaimFor(ctx, owner, limit, Slots{}, ttl)
}

// ClaimFor is Claim for a server with limited slots, which [limit.Fits] divides among
// requesters: a requester with many running runs leaves the last slots to others. Runs that
// no entity requested may use every slot.
func (w *Work) ClaimFor(ctx context.Context, owner string, most int, slots Slots, ttl time.Duration) (claimed []storage.Run, err error) {
	const op = "hub.Work.Claim"
	at, expired, err := w.claimable(ctx, op, most, ttl)
	if err != nil || len(at) == 0 {
		return nil, err
	}
	err = w.core.Change(ctx, op, at, func(ch *core.Change) error {
		now, err := ch.Now()
		if err != nil {
			return err
		}
		until := shoal.At(now.Add(ttl))
		if expired {
			ended, err := ch.ExpiredRuns(now)
			if err != nil {
				return err
			}
			abandoned := func(r storage.Run) bool { return at.Includes(r.SessionID) && slots.isAbandoned(owner, r) }
			if err := endLeases(ch, ended, abandoned, slots.isMine(owner), until); err != nil {
				return err
			}
		}
		if claimed, err = ch.ClaimableRuns(now, most); err != nil {
			return err
		}
		claimed = slices.DeleteFunc(claimed, func(r storage.Run) bool {
			return r.LeaseUntil != nil || !at.Includes(r.SessionID) // the holder may be alive
		})
		claimed = slots.selectFitting(claimed)
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

// claimable returns the sessions with the runs that a claim of at most most runs would find,
// and with expired leases, and whether there are any of those. Leases are read only when one
// may have expired.
func (w *Work) claimable(ctx context.Context, op string, most int, ttl time.Duration) (at storage.At, expired bool, err error) {
	err = w.core.View(ctx, op, func(tx storage.Tx) error {
		now, err := tx.Now()
		if err != nil {
			return err
		}
		next, err := tx.ClaimableRuns(now, most)
		if err != nil {
			return err
		}
		ended, err := w.expired(tx, now, ttl)
		if err != nil {
			return err
		}
		expired = len(ended) > 0
		for _, r := range slices.Concat(next, ended) {
			if (r.LeaseUntil == nil || r.LeaseExpired(now)) && !slices.Contains(at, r.SessionID) {
				at = append(at, r.SessionID)
			}
		}
		return nil
	})
	return at[:min(len(at), storage.MaxSessions)], expired, err // a later claim finds the others
}

// expired returns the runs with expired leases. It does not read them before the time that it
// read last: leases that are given or renewed since expire later, as all servers give them for
// ttl.
func (w *Work) expired(tx Tx, now shoal.Time, ttl time.Duration) ([]storage.Run, error) {
	if next := w.expiry.Load(); next != nil && next.at.After(now.Time) && next.at.Sub(now.Time) <= ttl {
		return nil, nil
	}
	next, err := tx.NextExpiry()
	if err != nil {
		return nil, err
	}
	if next == nil {
		w.expiry.Store(&expiry{at: shoal.At(now.Add(ttl))})
		return nil, nil
	}
	w.expiry.Store(&expiry{*next, true})
	if next.After(now.Time) {
		return nil, nil
	}
	return tx.ExpiredRuns(now)
}

// selectFitting returns those of runs that get a slot.
func (s Slots) selectFitting(runs []storage.Run) (out []storage.Run) {
	if len(s.Own)+len(runs) <= s.Limit-s.Limit/4 || s.Limit == 0 {
		return runs
	}
	type requester struct {
		session shoal.SessionID
		name    string
	}
	mine := map[requester]int64{}
	for _, slot := range s.Own {
		mine[requester{slot.Session, slot.Requester}]++
	}
	for _, r := range runs {
		key := requester{r.SessionID, r.Requester}
		if limit.Fits(int64(s.Limit), int64(len(s.Own)+len(out)), mine[key], 1, r.Requester == "") {
			out = append(out, r)
			mine[key]++
		}
	}
	return out
}

// isMine returns a function that reports whether owner executes a run, according to Mine.
func (s Slots) isMine(owner string) func(storage.Run) bool {
	return func(r storage.Run) bool {
		lease := Lease{Session: r.SessionID, Run: r.ID, Generation: r.Generation}
		return r.Owner == owner && slices.ContainsFunc(s.Own, func(slot Slot) bool { return slot.Lease == lease })
	}
}

// isAbandoned reports whether an expired lease may be given to another server.
func (s Slots) isAbandoned(owner string, r storage.Run) bool {
	return r.Owner == owner || s.OwnerIsDead == nil || s.OwnerIsDead(Lease{Session: r.SessionID, Run: r.ID, Generation: r.Generation})
}

// endLeases ends those leases of held that matches selects, and wakes their runs. It extends
// those that renew selects among them to until instead.
func endLeases(ch *core.Change, held []storage.Run, matches, renew func(storage.Run) bool, until shoal.Time) error {
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

// EndOtherLeases ends the leases of all servers but owner, and wakes their runs. It is for the
// start of a server that is the only user of its database.
func (w *Work) EndOtherLeases(ctx context.Context, owner string) error {
	return w.core.Change(ctx, "hub.Work.EndOtherLeases", storage.Global, func(ch *core.Change) error {
		held, err := ch.HeldRuns("")
		if err != nil {
			return err
		}
		none := func(storage.Run) bool { return false }
		return endLeases(ch, held, func(r storage.Run) bool { return r.Owner != owner }, none, shoal.Time{})
	})
}

// NextClaim returns the time until the next run becomes claimable, if there is one: an
// awake run when it may start, a leased run when its lease expires. The time is measured by
// the database's clock. It is never too long, and not above 0 for a run that is claimable
// already. A caller that claims then may get nothing.
func (w *Work) NextClaim(ctx context.Context) (in time.Duration, some bool, err error) {
	err = w.core.View(ctx, "hub.Work.NextClaim", func(tx storage.Tx) error {
		next, err := tx.NextClaim()
		if err != nil {
			return err
		}
		now, err := tx.Now()
		if err != nil {
			return err
		}
		expires, err := w.untilExpiry(tx, now)
		if err != nil {
			return err
		}
		if expires != nil && (next == nil || expires.Before(next.Time)) {
			next = expires
		}
		if some = next != nil; some {
			in = next.Sub(now.Time)
		}
		return nil
	})
	return in, some, err
}

// untilExpiry returns a time before which no lease expires, nil if there is no lease.
func (w *Work) untilExpiry(tx Tx, now shoal.Time) (*shoal.Time, error) {
	if next := w.expiry.Load(); next != nil && next.held && next.at.After(now.Time) {
		return &next.at, nil
	}
	return tx.NextExpiry()
}
