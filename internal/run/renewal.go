package run

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// cancelCheckInterval is the least time between two looks for runs that are to be canceled:
// a hint may come with every run that is queued.
const cancelCheckInterval = 100 * time.Millisecond

// cancelLoop ends executions whose run is to be canceled. It is apart from
// the renewal of leases, which must not wait for it.
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

// renewLoop renews the leases, and ends executions whose lease is lost. A renewal that
// fails is tried again soon, where another server may take the lease: it is a change of
// every run, and a store that has much to do should not make it for nothing.
func (e *Executor) renewLoop() {
	timer := time.NewTimer(e.o.Lease / 3)
	defer timer.Stop()
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-timer.C:
		case <-e.renewals.requested:
		}
		next := e.o.Lease / 3
		if !e.renew() && !e.o.Alone {
			next = e.o.Lease / 15
		}
		timer.Reset(next)
	}
}

// renew reports whether the leases were renewed.
func (e *Executor) renew() bool {
	mine := e.executions() // before the renewal: what is claimed meanwhile is not judged by it
	if len(mine) == 0 {
		return true
	}
	patience := e.o.Lease // a store under load does not answer sooner if it is asked again
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
			x.cancel(runs.ErrLeaseLost)
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
	var renewed []storage.Run
	err := e.hub.Work.Read(e.ctx, func(tx storage.Tx) (err error) {
		renewed, err = tx.HeldRuns(e.owner)
		return err
	})
	if err != nil {
		e.logFailure("look for canceled runs", err) // the next renewal sees them
		return
	}
	notifyExecutions(mine, renewed)
}

// notifyExecutions ends the executions of runs that somebody canceled, and has those look at
// their spaces that were woken although they are awake: one was closed, or the agent
// was removed from one.
func notifyExecutions(mine []*execution, renewed []storage.Run) {
	held := map[runs.Lease]storage.Run{}
	for _, r := range renewed {
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
