package core

import (
	"context"
	"runtime"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/tracecontext"
)

// Change is one transaction with the notifications that follow from it.
type Change struct {
	storage.Tx
	Core          *Core
	At            shoal.Time
	ctx           context.Context //nolint:containedctx // it says where the call comes from, for the audit log and traces
	recorded      []audit.Record
	arrivals      []*Arrival
	notifications []Notification
	endFuncs      []func(committed bool)
	// RepliedTo lists, for each message, the agents whose wait for a reply it has
	// satisfied. The message does not start them.
	RepliedTo map[shoal.MessageID][]shoal.EntityID
}

// TraceParent returns the traceparent of the request that makes the change, "" for none.
func (ch *Change) TraceParent() string { return tracecontext.Of(ch.ctx) }

// Notify notifies the subscribers of a topic once the transaction is durable.
func (ch *Change) Notify(topic string) {
	ch.notifications = append(ch.notifications, Notification{Topic: topic})
}

// NotifyWork notifies those that may have something to do for a run: the executors of the
// servers, and the programs that serve the agent of a remote run.
func (ch *Change) NotifyWork(r storage.Run) {
	ch.Notify(WorkTopic)
	if r.Remote {
		ch.Notify(ProgramTopic(r.SessionID, r.AgentID))
	}
}

// OnEnd registers do to run once it is known whether the transaction is durable, before
// the notifications are sent.
func (ch *Change) OnEnd(do func(committed bool)) { ch.endFuncs = append(ch.endFuncs, do) }

// OnCommit registers do to run once the transaction is durable.
func (ch *Change) OnCommit(do func()) {
	ch.OnEnd(func(committed bool) {
		if committed {
			do()
		}
	})
}

func (ch *Change) runEndFuncs(committed bool) {
	if ch == nil {
		return
	}
	for _, do := range ch.endFuncs {
		do(committed)
	}
	ch.endFuncs = nil
}

// Change runs fn in one transaction and sends its notifications after the commit. It
// also sends them when the outcome is unknown: an unnecessary notification costs one
// read; without one, a wait would not return although its message is stored.
func (c *Core) Change(ctx context.Context, op string, at storage.At, fn func(*Change) error) error {
	var notifications []Notification
	var last *Change
	err := c.Store.Update(ctx, at, func(tx storage.Tx) error {
		last.runEndFuncs(false)
		ch := &Change{Tx: tx, Core: c, At: shoal.Now(), ctx: ctx}
		notifications, last = nil, ch
		if err := fn(ch); err != nil {
			return err
		}
		notifications = ch.notifications
		return ch.fillArrivals()
	})
	last.runEndFuncs(err == nil)
	if err == nil {
		for _, a := range last.arrivals {
			c.Arrivals.Deliver(a)
			for _, id := range a.Late {
				notifications = append(notifications, Notification{Topic: InboxTopic(a.Message.SessionID, id), Place: a.Place})
			}
		}
	}
	watched := false
	for _, notification := range notifications {
		watched = watched || c.Bus.Watched(notification.Topic)
		c.Bus.Publish(notification)
	}
	if watched {
		// Let the woken goroutines run first. Otherwise they wait until the response of
		// this call is written: waking another thread takes longer than that.
		runtime.Gosched()
	}
	return Wrap(op, err)
}

// NotifyActivity publishes the state of an agent again, because a run of it has started or
// ended.
func (ch *Change) NotifyActivity(session shoal.SessionID, agent shoal.EntityID) {
	ch.OnEnd(func(bool) { ch.Core.Presence.Refresh(session, agent) })
}

// MarkReplied records the agents whose wait for a reply a message has satisfied.
func (ch *Change) MarkReplied(m shoal.MessageID, agents []shoal.EntityID) {
	if len(agents) == 0 {
		return
	}
	if ch.RepliedTo == nil {
		ch.RepliedTo = map[shoal.MessageID][]shoal.EntityID{}
	}
	ch.RepliedTo[m] = agents
}
