package inbox

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/limit"
)

// countOutcome counts the outcome of a wait for messages in the metrics.
func (w *HeldWait) countOutcome(err error) {
	outcome := "messages"
	var known *shoal.Error
	switch {
	case w.req.Agents != nil:
		return
	case err == nil && len(w.answer.entries) == 0:
		outcome = "timed_out"
	case errors.Is(err, shoal.TooManyWaiters):
		outcome = "refused"
	case errors.As(err, &known):
		outcome = "failed"
	case err != nil: // the cause of the context, which the transport chooses
		outcome = "gone"
	}
	w.inbox.core.Metrics.Waits.With(outcome).Add(1)
}

// senderFailure returns why an agent that the wait names as a sender will not answer, if
// one of the messages that ended the wait reports its failure.
func (w *HeldWait) senderFailure() *shoal.WaitFailure {
	isEntry := func(id shoal.MessageID) bool {
		return id != "" && slices.ContainsFunc(w.answer.entries, func(e storage.InboxEntry) bool { return e.Message.ID == id })
	}
	if !slices.ContainsFunc(w.answer.entries, func(e storage.InboxEntry) bool { return e.Message.EntityID == shoal.System }) {
		return nil
	}
	var out *shoal.WaitFailure
	// An error is ignored: the failure is also in the text of the message.
	_ = w.inbox.core.Store.View(context.WithoutCancel(w.inbox.core.Ctx), func(tx storage.Tx) error {
		out = nil
		for _, id := range w.filter.From {
			e, err := tx.Entity(w.req.Session, id)
			if err == nil && e.LastFailure != nil && isEntry(e.LastFailure.MessageID) {
				out = &shoal.WaitFailure{EntityID: id, Code: e.LastFailure.Code, Message: e.LastFailure.Message}
				return nil
			}
		}
		return nil
	})
	return out
}

// WaitRequest describes a wait.
type WaitRequest struct {
	Session shoal.SessionID
	// Entity may name the caller; any other entity fails with IdentityMismatch.
	Entity shoal.EntityID
	Kind   shoal.WaitKind
	// Timeout is clamped to 0…MaxWait. With zero the call reads once and does not wait.
	Timeout time.Duration
	// Space and From, if set, limit the wait to messages of that space and from those
	// senders.
	Space shoal.SpaceID
	From  []shoal.EntityID
	// Ack is the cursor of an earlier result: exactly the entries of that result are
	// acknowledged before the wait begins, and from then on this key acknowledges
	// explicitly.
	Ack string
	// Redeliver returns the previous batch again to a caller that acknowledges
	// implicitly, instead of acknowledging it.
	Redeliver bool
	// Agents, if set, makes this a wait for agents, which acknowledges nothing. Then only
	// Session and Timeout are used of the other fields.
	Agents *AgentsRequest
	// Adapter, if set, says that a program waits for the entity and wakes its model. Such a wait
	// returns nothing while the entity itself waits for messages, and afterwards what the entity has
	// not received. It acknowledges only what Ack names, and leaves the key's way of acknowledging
	// and the entity's state as they are. It does not count among the entity's own waits; there
	// may be as many of both.
	Adapter *shoal.WaitAdapter
}

// Delivery is the response to a wait.
type Delivery struct {
	// Result is the part that clients receive. After a wait for agents it only has the
	// time-out.
	Result shoal.WaitResult
	// Agents is set after a wait for agents.
	Agents *PresentAgents
	// Listed is the space of the messages with its members as they were when the messages were
	// stored, if that is known without a read, and nil otherwise. It is shared.
	Listed *shoal.Space

	batch   *batch
	publish func() // publishes the batch for the other servers; nil if there are none
}

// Settle records whether the response was written completely to a connection that was still
// open. If it was not, a caller that acknowledges implicitly gets the batch again. The transport
// calls it as soon as it knows: until then the next such call of the key waits, for at most 2 s.
// Only the first call has an effect. It may be called from any goroutine.
func (d *Delivery) Settle(written bool) {
	if (d.batch == nil || d.batch.settle(written)) && written && d.publish != nil {
		d.publish()
	}
}

// Wait acknowledges earlier batches as the request says and returns the unread messages
// that match it, at most MaxBatch in the order of the inbox: at once if there are any,
// otherwise as soon as one arrives, or a time-out. All open waits of an entity wake with
// the same messages; a fifth wait ends the oldest as timed out.
//
// Wait fails with the cause of ctx, having acknowledged only what the request
// acknowledged when it was accepted; with TooManyWaiters when the server has too many
// open waits; with Unauthenticated or NotFound when the key, the entity or the session
// is removed during the wait; and with ErrStopping when it is called after Stop. Stop ends the
// open waits as timed out. Wait owns the request and fills in its defaults.
func (b *Inbox) Wait(ctx context.Context, caller shoal.Principal, req *WaitRequest) (*Delivery, error) {
	d, _, err := b.WaitShortly(ctx, caller, req, shoal.MaxWait)
	return d, err
}

// WaitShortly is Wait for callers that continue a long wait elsewhere, for example on a
// goroutine with a smaller stack. If the wait is still open after while, WaitShortly
// returns only the open wait, and the caller must call [HeldWait.Wait] once.
func (b *Inbox) WaitShortly(ctx context.Context, caller shoal.Principal, req *WaitRequest, while time.Duration) (_ *Delivery, open *HeldWait, err error) {
	w := &HeldWait{inbox: b, caller: caller, req: req}
	w.done, w.adapter = make(chan struct{}), req.Adapter != nil
	defer func() {
		if open == nil {
			w.release()
		}
	}()
	if err := w.prepare(ctx); err != nil {
		return nil, nil, w.fail(err)
	}
	w.box.openWait(w, min(while, req.Timeout))
	if w.box.block(ctx, w) {
		return nil, w, nil
	}
	d, err := w.finish()
	return d, nil, err
}

// Wait continues the wait as [Inbox.Wait] does, under the new ctx.
func (w *HeldWait) Wait(ctx context.Context) (*Delivery, error) {
	defer w.release()
	w.timer.Reset(time.Until(w.deadline))
	w.box.block(ctx, w) // returns only when the wait has ended
	return w.finish()
}

// fail counts a wait that ends with err and returns the error for the caller.
func (w *HeldWait) fail(err error) error {
	w.countOutcome(err)
	return core.Wrap("hub.Inbox.Wait", err)
}

// finish returns the result of a wait that has its answer.
func (w *HeldWait) finish() (*Delivery, error) {
	err := w.call.Err() // a caller that has lost its right gets nothing
	if err == nil {
		err = w.answer.err
	}
	if err != nil {
		return nil, w.fail(err)
	}
	if w.answer.woken {
		w.inbox.core.Metrics.CountWakeUp(w.answer.entries)
	}
	w.countOutcome(nil)
	return w.newDelivery(), nil
}

// HeldWait is an open wait. Its state is kept here and not in the frames of the
// functions that it calls: most of the memory of a blocked wait is stack, and larger
// frames would double that for ten thousand waits.
type HeldWait struct {
	wait
	inbox  *Inbox
	caller shoal.Principal
	req    *WaitRequest

	stage    waitStage
	box      *mailbox
	call     *core.Call
	sub      core.Subscription
	arrivals <-chan struct{} // of a wait for agents: closed when the next entity arrives
	timer    *time.Timer
	deadline time.Time
}

// waitStage is how far a wait has got, and so what has to be undone at its end.
type waitStage int

const (
	counted    waitStage = iota + 1 // in inbox.open
	registered                      // with the hub, whose Stop waits for it
	entered                         // it uses its mailbox
	shown                           // by the presence
)

// prepare does everything that precedes blocking: it checks the request, counts the wait
// and acknowledges earlier batches.
//
//go:noinline
func (w *HeldWait) prepare(ctx context.Context) error {
	b, req := w.inbox, w.req
	entity, err := prepareRequest(w.caller, req)
	if err != nil {
		return err
	}
	if err := b.countWait(w.caller); err != nil {
		return err
	}
	w.stage = counted
	if !b.core.Begin() {
		return core.ErrStopping // not a time-out: nothing was acknowledged or read
	}
	w.stage = registered
	w.box = b.mailbox(mailboxKey(w.caller, req.Session, entity))
	w.box.subscribe(w)
	w.call = b.core.Calls.EnterWith(w.caller, req.Session, entity, w.leave)
	if w.readsMessages() {
		b.openReader(w.box.key)
	}
	w.stage = entered
	if w.agents = req.Agents; w.agents != nil {
		w.clear, w.arrivals = everyPlace, b.core.Presence.Arrivals(req.Session)
	} else if err := w.acknowledge(ctx); err != nil {
		return err
	}
	w.deadline = time.Now().Add(req.Timeout)
	switch w.stage = shown; {
	case w.adapter:
	case w.agents != nil:
		b.core.Presence.StreamOpened(req.Session, entity)
	default:
		b.core.Presence.WaitOpened(req.Session, entity, w.deadline)
	}
	return nil
}

// readsMessages reports whether the wait is for messages that do not mention its entity.
func (w *HeldWait) readsMessages() bool {
	return w.req.Kind == shoal.WaitMessages && w.req.Agents == nil
}

// leave ends the wait because its caller or its right is gone.
func (w *HeldWait) leave(err error) {
	w.box.stepBeside(func(x *machine) { x.leave(&w.wait, err) })
}

// release undoes what prepare has done, in reverse order.
func (w *HeldWait) release() {
	b := w.inbox
	switch w.stage {
	case shown:
		w.leave(nil)
		if w.timer != nil {
			w.timer.Stop()
		}
		switch {
		case w.adapter:
		case w.agents != nil:
			b.core.Presence.StreamClosed(w.req.Session, w.caller.EntityID)
		default:
			b.core.Presence.WaitClosed(w.req.Session, w.box.key.ID, w.deadline)
		}
		fallthrough
	case entered:
		if w.readsMessages() {
			b.closeReader(w.box.key)
		}
		b.core.Calls.Leave(w.call)
		b.release(w.box)
		fallthrough
	case registered:
		b.core.Running.Done()
		fallthrough
	case counted:
		b.open.Leave(limit.Of(w.caller))
	}
}

// newDelivery builds the response from the answer.
func (w *HeldWait) newDelivery() *Delivery {
	entries := w.answer.entries
	d := &Delivery{Result: shoal.WaitResult{Items: []shoal.WaitItem{}, TimedOut: true, TimeoutMs: w.req.Timeout.Milliseconds()}}
	if w.agents != nil {
		d.Agents, d.Result.TimedOut = w.answer.agents, !w.answer.agents.complete
	}
	if len(entries) > 0 {
		upTo := entries[len(entries)-1].Place
		cursor := w.inbox.encodeCursor(w.box.key, w.filter, entries)
		d.Result.Items, d.Result.Cursor, d.Result.TimedOut, d.Result.Failed = groupBySpace(entries), &cursor, false, w.senderFailure()
		if len(entries) == 1 {
			d.Listed = entries[0].Listed
		}
		if w.adapter {
			return d
		}
		d.batch = w.box.recordBatch(w.caller.KeyID, w.filter, upTo)
		if w.inbox.core.Bus.Shared() {
			d.publish = func() { w.box.publishDelivery(w.caller.KeyID, w.filter, upTo, d.batch == nil) }
		}
	}
	return d
}

// mailboxKey returns the key of the mailbox of a caller. A caller without an entity, which
// only waits for agents, has one of its own, under an id that no entity can have.
func mailboxKey(caller shoal.Principal, session shoal.SessionID, entity shoal.EntityID) storage.EntityRef {
	if entity == "" {
		entity = shoal.EntityID("key:" + caller.KeyID)
	}
	return storage.EntityRef{Session: session, ID: entity}
}
