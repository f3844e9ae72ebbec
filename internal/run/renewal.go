package run

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// cancelCheckInterval is the minimum interval between two checks for canceled runs: a
// notification may arrive with every run that is queued.
const cancelCheckInterval = 100 * time.Millisecond

// cancelLoop ends executions whose run was canceled. It is separate from the renewal of
// leases, which must not wait for it.
func (e *Executor) cancelLoop() {
	pause := time.NewTimer(0)
	defer pause.Stop()
	look := e.checkCancel // nil during a pause
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-pause.C:
			look = e.checkCancel
		case <-look:
			e.checkCanceled()
			look = nil
			pause.Reset(cancelCheckInterval)
		}
	}
}

// renewalsInLease is how often a lease is renewed in its duration. The runs of a server that is gone
// are claimed after at most that duration, the time of two more renewals and the interval at which
// expired leases are looked at: 18.8 s with leases of 12 s. Until then a slow server has tried six
// times.
const renewalsInLease = 4

// renewLoop renews the leases and ends executions whose lease is lost. After a failure it
// retries soon only if another server could claim the leases: a renewal writes every run,
// and a busy store should not do that needlessly.
func (e *Executor) renewLoop() {
	every := e.o.Lease / renewalsInLease
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-timer.C:
		case <-e.renewals.requested:
		}
		next := every
		if !e.renew() && !e.o.Alone {
			next = e.o.Lease / 15
		}
		timer.Reset(next)
	}
}

// renew reports whether the leases were renewed.
func (e *Executor) renew() bool {
	mine := e.executions() // before the renewal, which does not cover later claims
	if len(mine) == 0 {
		return true
	}
	patience := e.o.Lease // a busy store does not answer sooner if it is called again
	if e.o.Alone {
		patience = e.o.Lease / 3
	}
	ctx, cancel := context.WithTimeout(e.ctx, patience)
	defer cancel()
	progress := make([]runs.Progress, 0, len(mine))
	for _, x := range mine {
		progress = append(progress, x.progress())
	}
	until := time.Now().Add(e.o.Lease)
	renewed, err := e.hub.Work.Renew(ctx, e.owner, progress, e.o.Lease)
	if err != nil {
		e.logFailure("renew leases", err)
		return false
	}
	held := map[runs.Lease]bool{}
	for _, r := range renewed {
		held[leaseOf(r)] = true
	}
	for _, x := range mine {
		if !held[x.lease] {
			x.loseLease()
			continue
		}
		x.until.Store(&until)
	}
	e.renewals.done()
	notifyExecutions(mine, renewed)
	return true
}

func (e *Executor) checkCanceled() {
	mine := e.executions()
	if len(mine) == 0 {
		return
	}
	var woken []storage.Run
	err := e.hub.Work.Read(e.ctx, func(tx storage.Tx) (err error) {
		woken, err = tx.WokenRuns(e.owner)
		return err
	})
	if err != nil {
		e.logFailure("find canceled runs", err) // the next renewal sees them
		return
	}
	notifyExecutions(mine, woken)
}

// notifyExecutions ends the executions of canceled runs. Executions whose run was woken check
// their spaces: one was closed, or the agent was removed from one.
func notifyExecutions(mine []*execution, stored []storage.Run) {
	held := map[runs.Lease]storage.Run{}
	for _, r := range stored {
		held[leaseOf(r)] = r
	}
	for _, x := range mine {
		switch r := held[x.lease]; {
		case r.Cancel:
			x.cancel(errCanceled)
		case r.Awake:
			x.woken.Store(true)
		}
	}
}

func leaseOf(r storage.Run) runs.Lease {
	return runs.Lease{Session: r.SessionID, Run: r.ID, Generation: r.Generation}
}
