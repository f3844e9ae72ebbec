package core

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// ErrStopping is the cause with which Stop ends calls that are still blocked.
var ErrStopping = errors.New("the server is stopping")

// Options configure the core of a hub.
type Options struct {
	Store         storage.Store
	Bus           Bus
	Log           *slog.Logger
	Metrics       *metrics.Set
	KeepEvents    int
	MaxSpacesEach int
	MaxBytesEach  int64
	NextTime      NextTime
	Audit         AuditOptions
}

// New returns the core of a hub.
func New(o Options) *Core {
	ctx, cancel := context.WithCancelCause(context.Background())
	c := &Core{
		Store: o.Store, Bus: o.Bus, Log: o.Log, Metrics: newMetrics(o.Metrics), KeepEvents: o.KeepEvents, maxSpaces: o.MaxSpacesEach, maxBytes: o.MaxBytesEach,
		nextTime: o.NextTime, PlansChanged: make(chan struct{}, 1), Ctx: ctx, cancel: cancel, Arrivals: noArrivals{}, Audit: o.Audit,
	}
	c.Presence, c.Leases = newPresence(c), newWakeLeases(c)
	return c
}

// Start starts the background tasks of the core. Stop ends them.
func (c *Core) Start() {
	c.Go(func(ctx context.Context) { c.Repeat(ctx, publishInterval, "presence", c.Presence.publishChangedStates) })
	c.Go(c.Presence.storeLoop)
	c.Leases.begin()
	if c.Bus.Shared() {
		c.Go(c.Presence.exchange)
		c.Go(c.Leases.exchange)
	}
	c.Go(func(ctx context.Context) { c.Repeat(ctx, time.Hour, "stored responses", c.dropOldAnswers) })
}

// Core is shared by the fields of a Hub.
type Core struct {
	Store        storage.Store
	Bus          Bus
	Log          *slog.Logger
	KeepEvents   int
	maxSpaces    int
	maxBytes     int64
	nextTime     NextTime
	PlansChanged chan struct{} // receives a value when the next due time of a plan may have changed

	Ctx      context.Context
	cancel   context.CancelCauseFunc
	stopMu   sync.Mutex // orders Begin and Stop
	Running  sync.WaitGroup
	Presence *Presence
	Leases   *WakeLeases
	// Arrivals delivers the messages that enter inboxes.
	Arrivals Arrivals
	Metrics  *Metrics
	Calls    Calls
	Receipts Receipts
	Audit    AuditOptions
	// Revocations counts changes that invalidate keys. It is incremented after the commit
	// and before the method returns.
	Revocations atomic.Int64
}

// RevokedRights counts a change that invalidates keys, and lets the other servers check the rights
// of their open calls. Call it after the commit.
func (c *Core) RevokedRights() {
	c.Revocations.Add(1)
	c.Bus.Publish(Notification{Topic: RightsTopic})
}

// Begin makes Stop wait until the caller calls Running.Done. After Stop was called it
// returns false, and the caller must not start.
func (c *Core) Begin() bool {
	c.stopMu.Lock()
	defer c.stopMu.Unlock()
	if c.Ctx.Err() != nil {
		return false
	}
	c.Running.Add(1)
	return true
}

// Stop ends everything that Go and Begin have started, with ErrStopping as the cause, and
// waits for it.
func (c *Core) Stop() {
	c.stopMu.Lock()
	c.cancel(ErrStopping)
	c.stopMu.Unlock()
	c.Running.Wait()
}

// Go runs fn in a goroutine that Stop waits for. fn must return when ctx ends.
func (c *Core) Go(fn func(ctx context.Context)) {
	if !c.Begin() {
		return
	}
	go func() {
		defer c.Running.Done()
		fn(c.Ctx)
	}()
}

// View runs fn on a snapshot and adds the operation to its error.
func (c *Core) View(ctx context.Context, op string, fn func(storage.Tx) error) error {
	return Wrap(op, c.Store.View(ctx, fn))
}

// Wrap adds the operation to err. An error without a kind becomes Internal, unless it is
// that of a canceled or expired context.
func Wrap(op string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var e *shoal.Error
	if !errors.As(err, &e) {
		return &shoal.Error{Op: op, Kind: shoal.Internal, Msg: "Something went wrong on the server.", Err: err}
	}
	if e.Op != "" {
		return &shoal.Error{Op: op, Kind: e.Kind, Msg: e.Msg, Fields: e.Fields, Err: e, RetryAfter: e.RetryAfter}
	}
	named := *e
	named.Op = op
	return &named
}

// dropOldAnswers deletes the stored responses whose idempotency window has passed.
func (c *Core) dropOldAnswers(ctx context.Context) error {
	return c.Store.Update(ctx, storage.Global, func(tx storage.Tx) error { return tx.DropAnswers(time.Now().Add(-shoal.IdempotencyWindow)) })
}

// Repeat runs do at an interval until ctx ends, and logs its errors.
func (c *Core) Repeat(ctx context.Context, interval time.Duration, what string, do func(context.Context) error) {
	c.RepeatOn(ctx, interval, nil, what, do)
}

// RepeatOn is Repeat that runs do whenever due has a value, too.
func (c *Core) RepeatOn(ctx context.Context, interval time.Duration, due <-chan struct{}, what string, do func(context.Context) error) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-due:
		}
		if err := do(ctx); err != nil && ctx.Err() == nil {
			c.Log.Error("background task failed and will be repeated", "task", what, "interval", interval, "error", err)
		}
	}
}
