package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/budget"
	"github.com/shoal-dev/shoal/internal/compose"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/modelrequest"
	"github.com/shoal-dev/shoal/internal/perform"
	"github.com/shoal-dev/shoal/internal/spacetool"
	"github.com/shoal-dev/shoal/internal/timing"
	"github.com/shoal-dev/shoal/internal/tool"
	"github.com/shoal-dev/shoal/internal/toolserver"
)

// execution is one run while this server holds its lease. It runs on one
// goroutine, except for the store and the functions that tools call.
type execution struct {
	e      *Executor
	hub    *hub.Hub
	log    *slog.Logger
	lease  runs.Lease
	began  time.Time
	ctx    context.Context
	cancel context.CancelCauseFunc

	run      storage.Run // as claimed, with Began
	config   *agentconfig.Config
	hosted   bool // the agent still has a configuration
	show     bool // the trigger's space shows reasoning
	rows     []storage.Pending
	model    agent.ModelInfo
	prompt   *spacetool.Prompt
	store    *store
	timings  *timing.Steps
	requests *modelrequest.Recorder

	toolsMu sync.Mutex                       // sub-agents add theirs
	tools   map[string]map[string]*tool.Tool // by agent and name
	servers *toolserver.Connections
	missing []shoal.MissingTool // what the model does without

	composer       *compose.Composer
	restored       []compose.Effect // effects that bring the messages up to the steps
	leaseLost      atomic.Bool
	outcomeUnknown atomic.Bool                // its last write may or may not be stored
	released       atomic.Bool                // it released its lease itself: the run has ended or is suspended
	storeFailure   error                      // why a hook of the turn could not write
	woken          atomic.Bool                // a space may have been closed, or the agent removed
	output         *perform.Run               // its messages
	shown          map[string]shoal.MessageID // where calls were shown before this execution
	composing      chan struct{}              // holds a value while a goroutine uses the composer during the turn
	draftsSaved    time.Time                  // when drafts were stored last
	lateDrafts     *time.Timer                // stores drafts if no delta does before
	client         clientInput
	once           bool // what the store cannot do is not retried: a caller waits
	steps          int  // announced steps
	thought        thought
	spending       budget.Account
	pulse          timing.Pulse
	clock          timing.Clock
	unlimited      atomic.Bool               // its session had no limits at the last check
	until          atomic.Pointer[time.Time] // the lease lasts at least until then
}

// newExecution returns the execution of a claimed run; ctx ends it. What it writes counts for
// the requester of the run.
func newExecution(ctx context.Context, e *Executor, r storage.Run) *execution {
	x := &execution{
		e: e, hub: e.hub, lease: leaseOf(r), run: r, began: time.Now(),
		log:   e.log.With("session", r.SessionID, "run", r.ID, "agent", r.AgentID),
		tools: map[string]map[string]*tool.Tool{}, composing: make(chan struct{}, 1),
	}
	x.clock.Start()
	x.until.Store(&x.began) // until the executor sets how long the lease lasts
	x.servers = toolserver.New(toolserver.Options{Network: e.o.Network, Env: e.o.Env})
	x.timings = timing.NewSteps(&x.pulse)
	x.requests = modelrequest.NewRecorder(modelrequest.Options{
		Model: func() string { return x.model.Name }, Step: x.timings.CurrentStep, Log: x.log,
		ForgetStored: func(ctx context.Context, sent *runs.SentRequest) error {
			return e.hub.Work.DropStoredTexts(ctx, r.SessionID, sent)
		},
	})
	x.pulse.Beat(shoal.ActivityStarted)
	x.ctx, x.cancel = context.WithCancelCause(limit.AsRunOf(ctx, r.SessionID, shoal.EntityID(r.Requester)))
	return x
}

// executeAndRelease executes the run until it ends, is suspended, or its lease is lost.
func (x *execution) executeAndRelease() {
	defer x.cancel(nil)
	defer x.clock.End()
	err := recoverPanics(x.execute)
	away := isTemporary(err)
	if err != nil && !away && x.stopCause() == nil {
		cause := err
		err = recoverPanics(func() error { return x.abort(cause) })
	}
	switch {
	case away && x.stopCause() == nil:
		x.log.Warn("the store could not do what the run needs; the run continues when it can", "error", err)
		x.releaseLease()
	case errors.Is(x.stopCause(), ErrStopping), errors.Is(x.stopCause(), errUnknownOutcome):
		x.releaseLease()
	case x.stopCause() != nil && !x.released.Load():
		x.log.Info("another server has claimed the run")
	case err != nil:
		x.log.Error("the run could not be ended; it is claimed again when its lease expires", "error", err)
	}
}

// recoverPanics converts a panic in one run into an error, so that the other runs continue.
func recoverPanics(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &unreadableError{fmt.Sprintf("the run panicked: %v\n%s", p, debug.Stack()), nil}
		}
	}()
	return do()
}

// execute continues the run until it ends or is suspended.
func (x *execution) execute() error {
	if err := x.load(); err != nil {
		return err
	}
	if err := x.restoreMessages(); err != nil {
		return err
	}
	switch end := x.store.ended; {
	case end != nil: // the turn ended, and the server died before it stored the end of the run
		return x.endRun(*end)
	case x.run.Cancel:
		return x.endWaiting(canceledEnd("The run was canceled."))
	case !x.hosted:
		return x.endWaiting(canceledEnd("The configuration of the agent was deleted."))
	}
	if err := x.startRun(); err != nil {
		return err
	}
	a, closed, err := x.build()
	switch {
	case err != nil && (x.ctx.Err() != nil || isTemporary(err)):
		return err
	case err != nil:
		x.log.Error("the agent cannot be made", "error", err)
		return x.endWaiting(buildFailure(err))
	}
	defer closed()
	return x.turn(a)
}

// restoreMessages brings the messages up to the stored steps, and closes those in
// spaces that the agent can no longer write to.
func (x *execution) restoreMessages() error {
	if err := x.perform(x.restored, nil); err != nil {
		return err
	}
	return x.checkSpaces()
}

// checkSpaces closes the messages in spaces that the agent can no longer write to.
func (x *execution) checkSpaces() error {
	open := map[shoal.SpaceID]bool{}
	for _, m := range x.output.Messages {
		if m.Status == shoal.MessageStreaming {
			open[m.SpaceID] = true
		}
	}
	var asks []compose.Effect
	for space := range open {
		asks = append(asks, compose.AskSpace{Space: space})
	}
	if len(asks) == 0 {
		return nil
	}
	return x.perform(asks, func(c *runs.RunChange) error {
		c.Run.Awake = false // the check is done
		return nil
	})
}

// begin sets the status to running and assigns the run its position in the
// conversation. A run that received one answer and waits for others is not started again.
func (x *execution) startRun() error {
	waits := false
	for _, row := range x.rows {
		waits = waits || row.Status == shoal.PendingOpen
	}
	if x.run.Status == shoal.RunRunning || x.run.Status.Suspended() && waits {
		return nil
	}
	return x.write(x.ctx, func(c *runs.RunChange) error {
		if c.Run.Began == 0 {
			position, err := c.NextPosition()
			if err != nil {
				return err
			}
			c.Run.Began = position
		}
		x.run.Began = c.Run.Began
		if x.e.o.Traces != nil {
			c.Run.TraceID = x.e.o.Traces.TraceID(x.run)
		}
		return c.Start()
	})
}

// stopCause returns why the execution must not write any more, nil if it may.
func (x *execution) stopCause() error {
	if cause := context.Cause(x.ctx); errors.Is(cause, runs.ErrLeaseLost) || errors.Is(cause, ErrStopping) {
		return cause
	}
	switch {
	case x.leaseLost.Load():
		return runs.ErrLeaseLost
	case x.outcomeUnknown.Load():
		return errUnknownOutcome
	}
	return nil
}

// loseLease ends the execution because another server has its lease.
func (x *execution) loseLease() {
	x.leaseLost.Store(true) // the context may have ended for another reason
	x.cancel(runs.ErrLeaseLost)
}

// errUnknownOutcome ends an execution if it is unknown whether its last write was stored.
// The run continues from the stored state, as after a crash.
var errUnknownOutcome = errors.New("run: it is unknown whether a write was stored")

// read reads what is stored. It retries as [execution.retry] does, until ctx ends.
func (x *execution) read(ctx context.Context, fn func(storage.Tx) error) error {
	return x.retry(ctx, ctx, func(ctx context.Context) error { return x.hub.Work.Read(ctx, fn) })
}

// write changes the stored run, unless the lease is lost or the server stops. It retries as
// long as the store cannot do it: a run whose store is busy waits. A write is completed even
// if the run is canceled.
func (x *execution) write(ctx context.Context, fn func(*runs.RunChange) error) error {
	return x.writeUntil(context.WithoutCancel(ctx), fn)
}

// writeUntil is write for a tool: it stops retrying when ctx ends, with the error of the store.
func (x *execution) writeUntil(ctx context.Context, fn func(*runs.RunChange) error) error {
	if err := x.stopCause(); err != nil {
		return err
	}
	over, used := false, x.spending.Take()
	err := x.retry(ctx, context.WithoutCancel(ctx), func(ctx context.Context) error {
		return x.hub.Work.Write(ctx, x.lease, func(c *runs.RunChange) (err error) {
			if used != (storage.Spending{}) {
				if err := c.AdjustUsage(used); err != nil {
					return err
				}
			}
			err = fn(c)
			over = c.Run.Owner == ""
			return err
		})
	})
	if err != nil {
		x.spending.Add(used) // it is booked with the next write
	}
	if err == nil && over {
		x.released.Store(true)
	}
	if errors.Is(err, runs.ErrLeaseLost) {
		x.loseLease()
	}
	if errors.Is(err, storage.ErrUnknownOutcome) {
		x.outcomeUnknown.Store(true)
		x.cancel(errUnknownOutcome)
	}
	return err
}

// releaseLease gives up the lease, so that the next executor can claim the run at once.
func (x *execution) releaseLease() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.ctx), 2*time.Second)
	defer cancel()
	err := x.hub.Work.Write(ctx, x.lease, func(c *runs.RunChange) error {
		c.Run.Owner, c.Run.LeaseUntil, c.Run.Awake = "", nil, true
		return nil
	})
	if err != nil && !errors.Is(err, runs.ErrLeaseLost) {
		x.log.Warn("the run continues when its lease has expired", "error", err)
	}
}
