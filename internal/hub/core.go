package hub

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// ErrStopping is the cause with which Stop ends calls that are still blocked.
var ErrStopping = errors.New("the server is stopping")

// coreOptions configure the core of a hub.
type coreOptions struct {
	Store         Store
	Bus           Bus
	Log           *slog.Logger
	Metrics       *metrics.Set
	KeepEvents    int
	MaxSpacesEach int
	MaxBytesEach  int64
	NextTime      NextTime
}

// newCore returns the core of a hub.
func newCore(o coreOptions) *core {
	ctx, cancel := context.WithCancelCause(context.Background())
	c := &core{
		store: o.Store, bus: o.Bus, log: o.Log, figures: newFigures(o.Metrics), keepEvents: o.KeepEvents, maxSpaces: o.MaxSpacesEach, maxBytes: o.MaxBytesEach,
		nextTime: o.NextTime, replan: make(chan struct{}, 1), ctx: ctx, cancel: cancel, onArrival: func(arrival) {},
	}
	c.presence = newPresence(c)
	return c
}

// start starts the background tasks of the core, which stop ends.
func (c *core) start() {
	c.own(func(ctx context.Context) { c.every(ctx, announceEvery, "presence", c.presence.announce) })
	c.own(c.presence.keep)
	c.own(func(ctx context.Context) { c.every(ctx, time.Hour, "stored responses", c.dropOldAnswers) })
}

// core is shared by the fields of a Hub.
type core struct {
	store      Store
	bus        Bus
	log        *slog.Logger
	keepEvents int
	maxSpaces  int
	maxBytes   int64
	nextTime   NextTime
	replan     chan struct{} // holds a value when the next due time of a plan may have changed

	ctx      context.Context
	cancel   context.CancelCauseFunc
	stopping sync.Mutex // makes begin happen before or after stop
	running  sync.WaitGroup
	presence *presence
	// onArrival is called after the commit with each message that entered inboxes.
	onArrival func(arrival)
	figures   *figures
	callers   callers
	// revocations counts changes that invalidate keys. It is incremented after the commit
	// and before the method returns.
	revocations atomic.Int64
}

// begin makes Stop wait until the caller calls running.Done. After Stop was called it
// returns false, and the caller must do nothing.
func (c *core) begin() bool {
	c.stopping.Lock()
	defer c.stopping.Unlock()
	if c.ctx.Err() != nil {
		return false
	}
	c.running.Add(1)
	return true
}

func (c *core) stop() {
	c.stopping.Lock()
	c.cancel(ErrStopping)
	c.stopping.Unlock()
	c.running.Wait()
}

// own runs fn in a goroutine that Stop waits for. fn must return when ctx ends.
func (c *core) own(fn func(ctx context.Context)) {
	if !c.begin() {
		return
	}
	go func() {
		defer c.running.Done()
		fn(c.ctx)
	}()
}

// view runs fn on a snapshot.
func (c *core) view(ctx context.Context, op string, fn func(Tx) error) error {
	return wrap(op, c.store.View(ctx, fn))
}

// wrap adds the operation to err. An error without a kind becomes Internal, unless it is
// that of a canceled or expired context.
func wrap(op string, err error) error {
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
func (c *core) dropOldAnswers(ctx context.Context) error {
	return c.store.Update(ctx, func(tx Tx) error { return tx.DropAnswers(time.Now().Add(-shoal.IdempotencyWindow)) })
}

// every runs do at an interval until ctx ends, and logs its failures.
func (c *core) every(ctx context.Context, interval time.Duration, what string, do func(context.Context) error) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := do(ctx); err != nil && ctx.Err() == nil {
			c.log.Error("background task failed and will be repeated", "task", what, "interval", interval, "error", err)
		}
	}
}
