package run

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/history"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/metrics"
	"github.com/shoal-dev/shoal/internal/tool"
	"github.com/shoal-dev/shoal/internal/vendor"
)

// Options configure an executor. Hub is required; the caller closes it.
type Options struct {
	Hub *hub.Hub
	// Log receives messages for the operator; nil discards them.
	Log *slog.Logger
	// Metrics counts model calls; it may be nil.
	Metrics *metrics.Set
	// Limit is the maximum number of runs that are executed at once, 512 if zero. Others
	// remain queued.
	Limit int
	// Lease is for how long a server may execute a run without renewing its lease, 12 s if
	// zero. Another server claims the run after it has observed the expired lease for half
	// of that time, while the database answered.
	Lease time.Duration
	// Alone means that no other server uses the database: leases of a previous server are
	// released at the start, and executions continue while the store does not answer,
	// because nobody else can have their leases. Otherwise a model is called only under a
	// lease that has not expired.
	Alone bool
	// Network makes the requests of request tools and to MCP servers. The default reaches
	// public addresses only.
	Network *tool.Network
	// Env returns the value of ${env.NAME} in configurations, for the names that the
	// operator allows; nil allows none.
	Env func(name string) (value string, ok bool)
	// Keys returns the keys of model vendors by the names of their variables; nil reads the
	// server's environment.
	Keys func(name string) string
	// Models makes the model of a configuration; nil uses package vendor.
	Models func(*agentconfig.Config) (agent.Model, error)
	// Traces records the turns of runs; nil records nothing.
	Traces Tracer
}

// Tracer records what runs do.
type Tracer interface {
	// Observer returns an observer for the turns of a run and of its sub-agents, in one
	// execution of the run.
	Observer(storage.Run) agent.Observer
	// TraceID returns the id of the run's trace, the same for all of its executions.
	TraceID(storage.Run) string
}

// ErrStopping is the cause with which [Executor.Stop] ends executions. The runs do not
// end: the next executor that claims them continues.
var ErrStopping = errors.New("the server is stopping")

// Executor claims runs and executes them. It is safe for concurrent use.
type Executor struct {
	o     Options
	hub   *hub.Hub
	log   *slog.Logger
	owner string

	ownNetwork bool
	metrics    runMetrics
	blocks     *history.Cache

	ctx         context.Context
	cancel      context.CancelCauseFunc
	loops       sync.WaitGroup
	runs        sync.WaitGroup
	slotFreed   chan struct{} // an execution has ended
	checkCancel chan struct{} // a run may have been canceled
	leases      *leaseWatch
	renewals    *renewals

	mu   sync.Mutex
	held map[runs.Lease]*execution
}

// New returns an executor; Start starts it.
func New(o Options) (*Executor, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Limit == 0 {
		o.Limit = 512
	}
	if o.Lease == 0 {
		o.Lease = 12 * time.Second
	}
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	if o.Keys == nil {
		o.Keys = os.Getenv
	}
	ownNetwork := o.Network == nil
	if ownNetwork {
		network, err := tool.NewNetwork(tool.NetworkOptions{})
		if err != nil {
			return nil, err
		}
		o.Network = network
	}
	e := &Executor{
		o: o, hub: o.Hub, log: o.Log, owner: shoal.NewID[string]("exe_"),
		slotFreed: make(chan struct{}, 1), checkCancel: make(chan struct{}, 1), held: map[runs.Lease]*execution{}, blocks: history.NewCache(),
		leases: newLeaseWatch(o.Lease), renewals: newRenewals(),
	}
	e.ownNetwork = ownNetwork
	e.metrics = newMetrics(o.Metrics, e)
	if e.o.Models == nil {
		models := vendor.NewMaker(e.o.Keys)
		e.o.Models = func(c *agentconfig.Config) (agent.Model, error) { return models.Model(c.Model) }
	}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	return e, nil
}

// Start starts claiming runs. ctx bounds the start only.
func (e *Executor) Start(ctx context.Context) error {
	if e.o.Alone {
		if err := e.hub.Work.EndOtherLeases(ctx, e.owner); err != nil {
			return err
		}
	}
	sub := e.hub.Work.Subscribe() // before the first claim, so that no notification is missed
	e.loops.Go(func() { defer sub.Close(); e.claimLoop(sub) })
	e.loops.Go(e.renewLoop)
	e.loops.Go(e.cancelLoop)
	return nil
}

// Stop stops claiming, ends all executions and waits for them. It releases the leases of
// runs that have not ended, so that another executor can continue them at once. The hub
// must work until Stop returns. Stop may be called again.
func (e *Executor) Stop() {
	e.cancel(ErrStopping)
	e.loops.Wait()
	e.runs.Wait()
	if e.ownNetwork {
		e.o.Network.Close()
	}
}

// fallback is the interval between claims without a notification: a lost notification is
// noticed after that time.
const fallback = 15 * time.Second

// remoteDelay returns how long a server leaves a run to the one that has queued it, which claims
// it at once. Several servers that wait do so for different times.
func remoteDelay() time.Duration { return 50*time.Millisecond + rand.N(100*time.Millisecond) }

// claimLoop claims whenever a run may be claimable.
func (e *Executor) claimLoop(sub core.Subscription) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var delayed time.Time // the claim for runs that other servers have queued
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-sub.Ready():
			local := slices.ContainsFunc(sub.Take(), func(n core.Notification) bool { return !n.Remote })
			signal(e.checkCancel)
			if now := time.Now(); !local && now.After(delayed) {
				delay := remoteDelay()
				delayed = now.Add(delay)
				timer.Reset(delay)
			}
			if !local {
				continue
			}
		case <-e.slotFreed:
		case <-timer.C:
		}
		wait, err := e.claim()
		if err != nil && !e.pause() {
			return
		}
		if left := time.Until(delayed); left > 0 {
			wait = min(wait, left) // this claim may have been too early for those
		}
		timer.Reset(wait)
	}
}

// pause waits a second after a failure of the store: notifications and failing runs would
// otherwise call it again at once and fill the log. It reports false when the executor
// stops.
func (e *Executor) pause() bool {
	select {
	case <-e.ctx.Done():
		return false
	case <-time.After(time.Second):
		return true
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // a signal is pending already
	}
}

// maxClaims is the maximum number of runs of one claim.
const maxClaims = 64

// shareInterval is the interval between claims when few slots are free: the last slots are
// not available to every requester.
const shareInterval = 250 * time.Millisecond

// claim claims and starts runs while slots are free, and returns the time until the next
// claim. It logs its error.
func (e *Executor) claim() (time.Duration, error) {
	for {
		room := e.freeSlots()
		limit := min(room, maxClaims)
		if limit <= 0 {
			return fallback, nil // slotFreed signals a free slot
		}
		slots := runs.Slots{Limit: e.o.Limit, Own: e.ownSlots()}
		if !e.o.Alone {
			slots.OwnerIsDead = e.leases.hasExpired
		}
		began := time.Now()
		runs, err := e.hub.Work.ClaimFor(e.ctx, e.owner, limit, slots, e.o.Lease)
		if err != nil {
			e.leases.reset()
			e.logFailure("claim runs", err)
			return 0, err
		}
		for _, r := range runs {
			e.launch(r, began.Add(e.o.Lease))
		}
		if len(runs) < limit {
			wait, err := e.untilNextClaim()
			if room-len(runs) <= e.o.Limit/4 { // the waiting runs may have used their share; slotFreed signals a free slot
				wait = max(wait, shareInterval)
			}
			if e.leases.isWatching() {
				wait = e.leases.every
			}
			return wait, err
		}
	}
}

// untilNextClaim returns the time until a run becomes claimable without a notification.
func (e *Executor) untilNextClaim() (time.Duration, error) {
	in, some, err := e.hub.Work.NextClaim(e.ctx)
	if err != nil {
		e.logFailure("find the next run", err)
		return 0, err
	}
	if !some {
		return fallback, nil
	}
	return min(max(in, 10*time.Millisecond), fallback), nil
}

func (e *Executor) logFailure(what string, err error) {
	if e.ctx.Err() == nil {
		e.log.Error("runs cannot be executed; retrying", "operation", what, "error", err)
	}
}

func (e *Executor) freeSlots() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.o.Limit - len(e.held)
}

// launch executes one run, whose lease lasts at least until the given time, on a goroutine
// of its own.
func (e *Executor) launch(r storage.Run, until time.Time) {
	x := newExecution(e.ctx, e, r)
	x.until.Store(&until)
	e.mu.Lock()
	e.held[x.lease] = x
	e.mu.Unlock()
	e.runs.Go(func() {
		x.executeAndRelease()
		e.mu.Lock()
		delete(e.held, x.lease)
		e.mu.Unlock()
		signal(e.slotFreed)
	})
}

// ownSlots returns the slots of the current executions.
func (e *Executor) ownSlots() []runs.Slot {
	e.mu.Lock()
	defer e.mu.Unlock()
	own := make([]runs.Slot, 0, len(e.held))
	for lease, x := range e.held {
		own = append(own, runs.Slot{Lease: lease, Requester: x.run.Requester})
	}
	return own
}

// executions returns the current executions.
func (e *Executor) executions() []*execution {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make([]*execution, 0, len(e.held))
	for _, x := range e.held {
		all = append(all, x)
	}
	return all
}
