package run

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal/internal/hub"
)

// lookEvery is the least time between two looks for runs that are to be canceled:
// a hint may come with every run that is queued.
const lookEvery = 100 * time.Millisecond

// keep renews the leases, and ends executions whose lease is lost or whose run is
// to be canceled.
func (e *Executor) keep() {
	renew := time.NewTicker(e.o.Lease / 3)
	defer renew.Stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	look := e.look // nil during a pause
	renewed := time.Now()
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-pause.C:
			look = e.look
		case <-look:
			e.lookForCanceled()
			look = nil
			pause.Reset(lookEvery)
		case <-renew.C:
			if e.renew() {
				renewed = time.Now()
			} else if !e.o.Alone && time.Since(renewed) > e.o.Lease {
				e.loseAll()
			}
		}
	}
}

// renew reports whether the leases were renewed.
func (e *Executor) renew() bool {
	mine := e.executions() // before the renewal: what is claimed meanwhile is not judged by it
	if len(mine) == 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(e.ctx, e.o.Lease/3)
	defer cancel()
	progress := make([]hub.Progress, 0, len(mine))
	for _, x := range mine {
		progress = append(progress, x.progress())
	}
	runs, err := e.hub.Work.Renew(ctx, e.owner, progress, e.o.Lease)
	if err != nil {
		e.complain("renew leases", err)
		return false
	}
	held := map[hub.Lease]bool{}
	for _, r := range runs {
		held[leaseOf(r)] = true
	}
	for _, x := range mine {
		if !held[x.lease] {
			x.cancel(hub.ErrLeaseLost)
		}
	}
	disturb(mine, runs)
	return true
}

// loseAll ends everything when the leases ran out without a word of the database.
// Nothing could be written any more; tools need not go on either.
func (e *Executor) loseAll() {
	for _, x := range e.executions() {
		x.cancel(hub.ErrLeaseLost)
	}
}

func (e *Executor) lookForCanceled() {
	mine := e.executions()
	if len(mine) == 0 {
		return
	}
	var runs []hub.StoredRun
	err := e.hub.Work.Read(e.ctx, func(tx hub.Tx) (err error) {
		runs, err = tx.HeldRuns(e.owner)
		return err
	})
	if err != nil {
		e.complain("look for canceled runs", err) // the next renewal sees them
		return
	}
	disturb(mine, runs)
}

// disturb ends the executions of runs that somebody canceled, and has those look at
// their spaces that were woken although they are awake: one was closed, or the agent
// was removed from one.
func disturb(mine []*execution, runs []hub.StoredRun) {
	held := map[hub.Lease]hub.StoredRun{}
	for _, r := range runs {
		held[leaseOf(r)] = r
	}
	for _, x := range mine {
		switch r := held[x.lease]; {
		case r.Cancel:
			x.cancel(errCanceled)
		case r.Awake:
			x.disturbed.Store(true)
		}
	}
}

func leaseOf(r hub.StoredRun) hub.Lease {
	return hub.Lease{Session: r.SessionID, Run: r.ID, Generation: r.Generation}
}
