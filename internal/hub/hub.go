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

// Options say what a hub stands on. Store and Bus are required and stay the
// caller's: the hub does not close them.
type Options struct {
	Store Store
	Bus   Bus
	// Log receives what an operator should know; nil discards it.
	Log *slog.Logger
	// MaxWaits bounds the open waits of this server, 20,000 if zero. One more is
	// refused with TooManyWaiters.
	MaxWaits int
	// KeepEvents is how many events of a space a follower can go back, 10,000
	// if zero. Whoever is further behind gets a new snapshot.
	KeepEvents int
	// KeepRequests is how long is kept what models were sent for a run, from its end
	// on; for ever if zero.
	KeepRequests time.Duration
	// MaxSpacesEach bounds how many spaces an entity creates in its session, 1,000 if
	// zero, and MaxBytesEach how many bytes of files it stores there, 1 GiB if zero.
	MaxSpacesEach int
	MaxBytesEach  int64
	// Metrics counts what the hub does; nil is allowed.
	Metrics *metrics.Set
	// FitsSchema reports why a value, which errors call by its name, does not fit a JSON
	// Schema, nil when it does. Without it answers are not checked against schemas.
	FitsSchema func(name string, schema, value json.RawMessage) error
	// NextTime knows calendars; without it plans with a cron expression are refused.
	NextTime NextTime
}

// Hub is the conversation. Its nouns hold the methods. It is safe for
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
	// Work is for what executes runs, and for nobody else.
	Work *Work

	core *core
}

// ErrStopping is the cause with which Stop ends whatever still waits.
var ErrStopping = errors.New("the server is stopping")

// New returns a hub that Start makes ready.
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

// Start makes sure that the default session exists and starts the hub's
// upkeep. It returns once the hub is ready; ctx bounds only that.
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
	c.own(func(ctx context.Context) { c.every(ctx, time.Hour, "first answers", c.dropOldAnswers) })
	c.own(c.clearImports)
	if c.keepRequests > 0 {
		c.own(func(ctx context.Context) { c.every(ctx, time.Hour, "what models were sent", h.Runs.forgetRequests) })
	}
	c.own(func(ctx context.Context) { c.every(ctx, time.Minute, "mailboxes", h.Inbox.forget) })
	c.own(func(ctx context.Context) { c.every(ctx, time.Hour, "remembered decisions", h.Pending.dropRemembered) })
	c.own(func(ctx context.Context) { c.every(ctx, recheckEvery, "rights of open calls", h.Keys.recheck) })
	c.own(func(ctx context.Context) { c.every(ctx, time.Second, "unread rights", h.Keys.expire) })
	c.own(h.Plans.keep)
	c.own(func(ctx context.Context) { c.every(ctx, countEvery, "deliveries", h.Inbox.countAll) })
	return nil
}

// Stop ends every open wait as timed out and every follower with ErrStopping,
// and returns when those waits and everything that the hub started have ended.
// The store must stay open until then. A wait that comes later times out at
// once.
func (h *Hub) Stop() {
	h.core.stop()
	_ = h.Inbox.countAll(h.core.ctx) // says what it cannot store itself
}

// core is what the nouns share.
type core struct {
	store        Store
	bus          Bus
	log          *slog.Logger
	keepEvents   int
	keepRequests time.Duration
	maxSpaces    int
	maxBytes     int64
	nextTime     NextTime
	replan       chan struct{} // holds a value when the next due plan may be another

	ctx      context.Context
	cancel   context.CancelCauseFunc
	stopping sync.Mutex // orders begin before or behind stop
	running  sync.WaitGroup
	presence *presence
	inbox    *Inbox
	figures  *figures
	live     *live
	fits     func(name string, schema, value json.RawMessage) error
	callers  callers
	// revocations counts changes after which some key no longer works. It rises
	// after the commit and before the method returns.
	revocations atomic.Int64
}

// begin makes Stop wait until running.Done is called. It reports false, and
// nothing is to be done, once Stop was called.
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

// own runs fn until it returns and makes Stop wait for it. fn ends when ctx
// does.
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

// wrap gives err the operation it happened in. An error without a kind is the
// server's own fault, unless the caller went away.
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

// dropOldAnswers forgets first answers once nobody may ask for them again.
func (c *core) dropOldAnswers(ctx context.Context) error {
	return c.store.Update(ctx, func(tx Tx) error { return tx.DropAnswers(time.Now().Add(-shoal.IdempotencyWindow)) })
}

// every runs do at intervals until ctx ends.
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
			c.log.Error("upkeep failed; it is tried again", "of", what, "every", interval, "error", err)
		}
	}
}
