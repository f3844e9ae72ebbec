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
// is claimed like any other. A run whose executor stopped while it wrote messages loses what
// it had written since they were stored: its streaming parts are reset to their drafts.
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
			if err := slots.endExpired(ch, at, owner, now, until); err != nil {
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
			if err := w.resetParts(ch, r); err != nil {
				return err
			}
		}
		return nil
	})
	return claimed, err
}

// resetParts resets the streaming parts of a run that was not suspended, or that a program
// executes, to what is stored of them. Followers may have more of the text than the draft, and
// the previous executor may still relay, on another server: the reset separates its deltas from
// those of the new one.
func (w *Work) resetParts(ch *core.Change, r *storage.Run) error {
	if r.Status != shoal.RunRunning && !r.Remote {
		return nil
	}
	composed, err := ch.Composed(r.SessionID, r.ID)
	if err != nil {
		return err
	}
	c := &RunChange{Change: ch, Run: r, live: w.live}
	for _, m := range composed {
		for _, p := range m.Parts {
			if m.Status != shoal.MessageStreaming || p.Status != shoal.PartStreaming && p.Status != shoal.PartInputStreaming {
				continue
			}
			reset := &shoal.PartResetData{PartHead: shoal.PartHead{MessageID: m.ID, PartID: p.ID}, Offset: len(p.Text)}
			if err := c.EmitPart(m.SpaceID, p.Target, shoal.EventPartReset, reset); err != nil {
				return err
			}
		}
	}
	return nil
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
		ended, err := w.expiry.Expired(tx, now, ttl)
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

// selectFitting returns those of runs that get a slot.
func (s Slots) selectFitting(runs []storage.Run) (out []storage.Run) {
	if len(s.Own)+len(runs) <= s.Limit-s.Limit/4 || s.Limit == 0 {
		return runs
	}
	mine := map[storage.EntityRef]int64{}
	for _, slot := range s.Own {
		mine[storage.EntityRef{Session: slot.Session, ID: shoal.EntityID(slot.Requester)}]++
	}
	for _, r := range runs {
		key := storage.EntityRef{Session: r.SessionID, ID: shoal.EntityID(r.Requester)}
		if limit.Fits(int64(s.Limit), int64(len(s.Own)+len(out)), mine[key], 1, r.Requester == "") {
			out = append(out, r)
			mine[key]++
		}
	}
	return out
}

// endExpired ends the expired leases in these sessions of servers that are dead, and extends
// those of this server.
func (s Slots) endExpired(ch *core.Change, at storage.At, owner string, now, until shoal.Time) error {
	expired, err := ch.ExpiredRuns(now)
	for _, r := range expired {
		lease := Lease{Session: r.SessionID, Run: r.ID, Generation: r.Generation}
		switch {
		case err != nil:
			return err
		case !at.Includes(r.SessionID) || r.Owner != owner && s.OwnerIsDead != nil && !s.OwnerIsDead(lease):
		case r.Owner == owner && slices.ContainsFunc(s.Own, func(slot Slot) bool { return slot.Lease == lease }):
			r.LeaseUntil = &until
			err = ch.UpdateRun(r)
		default:
			err = endLease(ch, r)
		}
	}
	return err
}

// endLease ends the lease of a run and wakes the run.
func endLease(ch *core.Change, r storage.Run) error {
	r.Owner, r.LeaseUntil, r.Awake = "", nil, true
	ch.NotifyWork(r)
	return ch.UpdateRun(r)
}

// EndOtherLeases ends the leases of all servers but owner, and wakes their runs. Programs that
// execute remote runs go on: they do not end with a server. It is for the
// start of a server that is the only user of its database.
func (w *Work) EndOtherLeases(ctx context.Context, owner string) error {
	return w.core.Change(ctx, "hub.Work.EndOtherLeases", storage.Global, func(ch *core.Change) error {
		held, err := ch.HeldRuns("")
		if err != nil {
			return err
		}
		for _, r := range held {
			if r.Owner == owner || r.Remote {
				continue
			}
			if err := endLease(ch, r); err != nil {
				return err
			}
		}
		return nil
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
		expires, err := w.expiry.Next(tx, now)
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
