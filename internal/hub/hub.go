package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// Options configure a hub. Store and Bus are required and remain the caller's: the hub
// does not close them.
type Options struct {
	Store Store
	Bus   Bus
	// Log receives messages for the operator; nil discards them.
	Log *slog.Logger
	// MaxWaits limits the open waits of this server; zero means 20,000. Further waits
	// fail with TooManyWaiters.
	MaxWaits int
	// KeepEvents is how many events of a space are kept for followers that resume; zero
	// means 10,000. A follower whose position is older gets a new snapshot.
	KeepEvents int
	// KeepRequests is how long the requests that a run sent to models are kept after its
	// end; zero keeps them forever.
	KeepRequests time.Duration
	// MaxSpacesEach limits how many spaces an entity may create in its session; zero
	// means 1,000. MaxBytesEach limits how many bytes of files it may store there; zero
	// means 1 GiB.
	MaxSpacesEach int
	MaxBytesEach  int64
	// Metrics receives the metrics of the hub; nil is allowed.
	Metrics *metrics.Set
	// FitsSchema returns an error if value does not match a JSON Schema; the error calls
	// the value by name. Without it, answers are not checked against schemas.
	FitsSchema func(name string, schema, value json.RawMessage) error
	// NextTime computes the times of cron expressions; without it, plans with a cron
	// expression are rejected.
	NextTime NextTime
}

// Hub is the conversation. Its fields group the methods by resource. It is safe for
// concurrent use.
type Hub struct {
	Sessions  *Sessions
	Entities  *Entities
	Spaces    *Spaces
	Messages  *Messages
	Inbox     *Inbox
	Events    *Events
	Keys      *Keys
	Agents    *Agents
	Runs      *Runs
	Pending   *Pending
	Plans     *Plans
	Files     *Files
	Usage     *Usage
	Renderers *Renderers
	// Work is only for the executor of runs.
	Work *Work

	core *core
}

// ErrStopping is the cause with which Stop ends calls that are still blocked.
var ErrStopping = errors.New("the server is stopping")

// New returns a hub. Call Start before using it.
func New(o Options) *Hub {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxWaits == 0 {
		o.MaxWaits = 20_000
	}
	if o.KeepEvents == 0 {
		o.KeepEvents = 10_000
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	c := &core{
		store: o.Store, bus: o.Bus, log: o.Log, keepEvents: o.KeepEvents, keepRequests: o.KeepRequests, nextTime: o.NextTime, replan: make(chan struct{}, 1), ctx: ctx, cancel: cancel,
		fits: o.FitsSchema, live: newLive(), maxSpaces: cmp.Or(o.MaxSpacesEach, 1000), maxBytes: cmp.Or(o.MaxBytesEach, 1<<30),
	}
	c.presence = newPresence(c)
	h := &Hub{core: c}
	h.Sessions = &Sessions{c}
	h.Entities = &Entities{c}
	h.Spaces = &Spaces{c}
	h.Messages = &Messages{c}
	h.Inbox = newInbox(c, o.MaxWaits)
	c.inbox = h.Inbox
	c.figures = newFigures(o.Metrics, h.Inbox)
	h.Events = newEvents(c)
	h.Keys = &Keys{c}
	h.Agents = &Agents{c}
	h.Runs = &Runs{c}
	h.Pending = &Pending{c}
	h.Plans = &Plans{c}
	h.Files = &Files{c}
	h.Usage = &Usage{c}
	h.Renderers = &Renderers{c}
	h.Work = &Work{c}
	return h
}

// Start creates the default session if it does not exist and starts the hub's background
// tasks. It returns once the hub is ready; ctx limits only the start itself.
func (h *Hub) Start(ctx context.Context) error {
	c := h.core
	err := c.change(ctx, "hub.Start", func(ch *change) error {
		_, err := ch.Session(shoal.DefaultSession)
		if !errors.Is(err, shoal.NotFound) {
			return err
		}
		return ch.InsertSession(shoal.Session{
			ID: shoal.DefaultSession, Name: string(shoal.DefaultSession), Status: shoal.SessionOpen, Limits: shoal.DefaultLimits, CreatedAt: shoal.Now(),
		})
	})
	if err != nil {
		return err
	}
	c.own(func(ctx context.Context) { c.every(ctx, announceEvery, "presence", c.presence.announce) })
	c.own(c.presence.keep)
	c.own(h.Pending.keepTime)
	c.own(func(ctx context.Context) { c.every(ctx, time.Hour, "events of runs", h.Events.trimRuns) })
	c.own(func(ctx context.Context) { c.every(ctx, time.Minute, "deleted spaces", h.Spaces.eraseAllLeft) })
	c.own(func(ctx context.Context) { c.every(ctx, time.Hour, "stored responses", c.dropOldAnswers) })
	c.own(c.clearImports)
	if c.keepRequests > 0 {
		c.own(func(ctx context.Context) { c.every(ctx, time.Hour, "stored model requests", h.Runs.forgetRequests) })
	}
	c.own(func(ctx context.Context) { c.every(ctx, time.Minute, "mailboxes", h.Inbox.forget) })
	c.own(func(ctx context.Context) { c.every(ctx, time.Hour, "remembered decisions", h.Pending.dropRemembered) })
	c.own(func(ctx context.Context) { c.every(ctx, recheckEvery, "rights of open calls", h.Keys.recheck) })
	c.own(func(ctx context.Context) { c.every(ctx, time.Second, "unchecked rights", h.Keys.expire) })
	c.own(h.Plans.keep)
	c.own(func(ctx context.Context) { c.every(ctx, countEvery, "deliveries", h.Inbox.countAll) })
	return nil
}

// Stop ends every open wait as timed out and every follower with ErrStopping,
// and returns when those waits and everything that the hub started have ended. The store
// must stay open until Stop returns. Later waits fail with ErrStopping.
func (h *Hub) Stop() {
	h.core.stop()
	_ = h.Inbox.countAll(h.core.ctx) // logs its own failures
}

// core is shared by the fields of a Hub.
type core struct {
	store        Store
	bus          Bus
	log          *slog.Logger
	keepEvents   int
	keepRequests time.Duration
	maxSpaces    int
	maxBytes     int64
	nextTime     NextTime
	replan       chan struct{} // holds a value when the next due time of a plan may have changed

	ctx      context.Context
	cancel   context.CancelCauseFunc
	stopping sync.Mutex // makes begin happen before or after stop
	running  sync.WaitGroup
	presence *presence
	inbox    *Inbox
	figures  *figures
	live     *live
	fits     func(name string, schema, value json.RawMessage) error
	callers  callers
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
