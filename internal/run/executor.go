package run

import (
	"context"
	"errors"
	"log/slog"
	"maps"
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

// Options say what an executor stands on. Hub is required and stays the caller's.
type Options struct {
	Hub *hub.Hub
	// Log receives what an operator should know; nil discards it.
	Log *slog.Logger
	// Metrics counts what models are asked; nil is allowed.
	Metrics *metrics.Set
	// Limit is how many runs are executed at once, 512 if zero. The others stay
	// queued.
	Limit int
	// Lease is how long a run stays with a server that does not renew it, 15 s if zero.
	// Another server takes the run when it has seen for two thirds of that besides,
	// while the database answered, that the lease had run out.
	Lease time.Duration
	// Alone says that no other server works on the database, so that what the
	// server before this one held is free at once, and that executions go on while
	// the store does not answer: nobody else can have taken their leases. Without it a
	// model is called only under a lease that has not run out.
	Alone bool
	// Network makes the requests of request tools and to MCP servers. nil is one
	// that reaches public addresses.
	Network *tool.Network
	// Env answers ${env.NAME} of configurations, for the names that the operator has
	// allowed. nil allows none.
	Env func(name string) (value string, ok bool)
	// Keys looks up the keys of the model vendors by the names of their variables;
	// nil is the server's environment.
	Keys func(name string) string
	// Models makes the model of a configuration; nil asks the vendors.
	Models func(*agentconfig.Config) (agent.Model, error)
}

// ErrStopping is the cause with which [Executor.Stop] ends what is executed. It
// does not end the runs: whoever claims them next goes on.
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
	slotFreed   chan struct{} // a place has become free
	checkCancel chan struct{} // a run may have been canceled
	leases      *leaseWatch
	renewals    *renewals

	mu   sync.Mutex
	held map[runs.Lease]*execution
}

// New returns an executor that Start makes work.
func New(o Options) (*Executor, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Limit == 0 {
		o.Limit = 512
	}
	if o.Lease == 0 {
		o.Lease = 15 * time.Second
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
		e.o.Models = func(c *agentconfig.Config) (agent.Model, error) { return vendor.New(c.Model, e.o.Keys) }
	}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	return e, nil
}

// Start begins to claim runs. ctx bounds the start only.
func (e *Executor) Start(ctx context.Context) error {
	if e.o.Alone {
		if err := e.hub.Work.Orphan(ctx, e.owner); err != nil {
			return err
		}
	}
	sub := e.hub.Work.Subscribe() // before the first look, or what comes between is missed
	e.loops.Go(func() { defer sub.Close(); e.claimLoop(sub) })
	e.loops.Go(e.renewLoop)
	e.loops.Go(e.cancelLoop)
	return nil
}

// Stop claims nothing more, ends what is executed and waits for it. Runs that had
// not ended stay as they are and are given up, so that another executor goes on
// with them at once. The hub must work until Stop returns. Stop may be repeated.
func (e *Executor) Stop() {
	e.cancel(ErrStopping)
	e.loops.Wait()
	e.runs.Wait()
	if e.ownNetwork {
		e.o.Network.Close()
	}
}

// fallback is how long a hint that was lost goes unnoticed.
const fallback = 15 * time.Second

// claimLoop claims whenever there may be something to claim.
func (e *Executor) claimLoop(sub core.Subscription) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-sub.Ready():
			sub.Take()
			signal(e.checkCancel)
		case <-e.slotFreed:
		case <-timer.C:
		}
		wait, err := e.claim()
		if err != nil && !e.pause() {
			return
		}
		timer.Reset(wait)
	}
}

// pause lets a store that refuses come to itself: hints and runs that fail in it
// would otherwise ask it again at once, and fill the log. It reports false when the
// executor ends.
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
	default: // one is enough
	}
}

// maxClaims is how many runs one claim takes at most.
const maxClaims = 64

// shareInterval is how soon it is looked again for runs that find a slot among the last
// ones, which are not for every requester.
const shareInterval = 250 * time.Millisecond

// claim starts what there is room for and returns when to look again. It has
// complained about an error.
func (e *Executor) claim() (time.Duration, error) {
	for {
		room := e.freeSlots()
		limit := min(room, maxClaims)
		if limit <= 0 {
			return fallback, nil // a place that becomes free is told
		}
		slots := runs.Slots{All: e.o.Limit, Taken: e.o.Limit - room, Mine: e.heldLeases()}
		if !e.o.Alone {
			slots.Over = e.leases.hasExpired
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
			if room-len(runs) <= e.o.Limit/4 { // what waits may have its share; a slot that becomes free says so
				wait = max(wait, shareInterval)
			}
			if e.leases.isWatching() {
				wait = e.leases.every
			}
			return wait, err
		}
	}
}

// untilNextClaim is how long it is until a run becomes claimable by time alone.
func (e *Executor) untilNextClaim() (time.Duration, error) {
	in, some, err := e.hub.Work.NextClaim(e.ctx)
	if err != nil {
		e.logFailure("look for the next run", err)
		return 0, err
	}
	if !some {
		return fallback, nil
	}
	return min(max(in, 10*time.Millisecond), fallback), nil
}

func (e *Executor) logFailure(what string, err error) {
	if e.ctx.Err() == nil {
		e.log.Error("runs cannot be executed; it is tried again", "cannot", what, "error", err)
	}
}

func (e *Executor) freeSlots() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.o.Limit - len(e.held)
}

// launch executes one run, whose lease lasts at least so long, on a goroutine of its own.
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

// heldLeases returns those under which something is executed now.
func (e *Executor) heldLeases() []runs.Lease {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Keys(e.held))
}

// executions returns what is executed now.
func (e *Executor) executions() []*execution {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make([]*execution, 0, len(e.held))
	for _, x := range e.held {
		all = append(all, x)
	}
	return all
}
