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

// countOutcome counts the outcome of a wait in the metrics.
func (w *HeldWait) countOutcome(err error) {
	outcome := "messages"
	var known *shoal.Error
	switch {
	case err == nil && len(w.entries) == 0:
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
		return id != "" && slices.ContainsFunc(w.entries, func(e storage.InboxEntry) bool { return e.Message.ID == id })
	}
	if !slices.ContainsFunc(w.entries, func(e storage.InboxEntry) bool { return e.Message.EntityID == shoal.System }) {
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
}

// Delivery is the response to a wait.
type Delivery struct {
	// Result is the part that clients receive.
	Result shoal.WaitResult

	batch *batch
}

// Written records that the response was written completely to a connection that was
// still open. Without this call the response counts as lost, and a caller that
// acknowledges implicitly gets the batch again. It may be called from any goroutine.
func (d *Delivery) Written() {
	if d.batch != nil {
		d.batch.once.Do(func() { close(d.batch.written) })
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
func (b *Inbox) Wait(ctx context.Context, who shoal.Principal, req *WaitRequest) (*Delivery, error) {
	d, _, err := b.WaitShortly(ctx, who, req, shoal.MaxWait)
	return d, err
}

// WaitShortly is Wait for callers that continue a long wait elsewhere, for example on a
// goroutine with a smaller stack. If the wait is still open after while, WaitShortly
// returns only the open wait, and the caller must call [HeldWait.Wait] once.
func (b *Inbox) WaitShortly(ctx context.Context, who shoal.Principal, req *WaitRequest, while time.Duration) (_ *Delivery, open *HeldWait, err error) {
	w := &HeldWait{inbox: b, who: who, req: req}
	defer func() {
		if open == nil {
			w.release()
		}
	}()
	if err = w.prepare(ctx); err == nil {
		w.box.openWait(w, min(while, req.Timeout))
		stillOpen := false
		if stillOpen, err = w.box.block(ctx, w); stillOpen {
			return nil, w, nil
		}
	}
	d, err := w.finish(err)
	return d, nil, err
}

// Wait continues the wait as [Inbox.Wait] does, under the new ctx.
func (w *HeldWait) Wait(ctx context.Context) (*Delivery, error) {
	defer w.release()
	w.timer.Reset(time.Until(w.deadline))
	_, err := w.box.block(ctx, w) // returns only when the wait has ended
	return w.finish(err)
}

// finish returns the result of a wait that has ended with err.
func (w *HeldWait) finish(err error) (*Delivery, error) {
	w.countOutcome(err)
	if err != nil {
		return nil, core.Wrap("hub.Inbox.Wait", err)
	}
	return w.newDelivery(), nil
}

// HeldWait is an open wait. Its state is kept here and not in the frames of the
// functions that it calls: most of the memory of a blocked wait is stack, and larger
// frames would double that for ten thousand waits.
type HeldWait struct {
	inbox *Inbox
	who   shoal.Principal
	req   *WaitRequest

	entity        shoal.EntityID
	filter        storage.InboxFilter
	counted       bool      // it is counted in inbox.open
	nth           int64     // its number among the waits of box, in the order in which they began
	registered    bool      // it is registered with the hub, whose Stop waits for it
	deadline      time.Time // zero until the presence shows the wait
	call          *core.Call
	box           *mailbox
	timer         *time.Timer
	sub           core.Subscription // nil until it is one of the waits of box
	notifications int               // box.notifications before anything was acknowledged
	clear         int64             // no entry up to this place matches it; guarded by box.mu
	hasSlept      bool
	reads         bool // it is counted as a reader of its session
	over          bool // the time is up, and everything that arrived before has been read
	result        chan answer
	entries       []storage.InboxEntry
}

// prepare does everything that precedes blocking: it checks the request, counts the wait
// and acknowledges earlier batches.
//
//go:noinline
func (w *HeldWait) prepare(ctx context.Context) (err error) {
	b := w.inbox
	if w.entity, err = prepareRequest(w.who, w.req); err != nil {
		return err
	}
	w.filter = storage.InboxFilter{Kind: w.req.Kind, Space: w.req.Space, From: w.req.From}
	if err := b.countWait(w.who); err != nil {
		return err
	}
	w.counted = true
	if w.registered = b.core.Begin(); !w.registered {
		return core.ErrStopping // not a time-out: nothing was acknowledged or read
	}
	w.call = b.core.Calls.Enter(w.who, w.req.Session, w.entity)
	w.box = b.mailbox(storage.EntityRef{Session: w.req.Session, ID: w.entity})
	w.notifications = w.box.subscribe()
	if w.req.Kind == shoal.WaitMessages {
		w.reads = true
		b.openReader(w.box.key)
	}
	done, err := b.acknowledge(ctx, w.who, w.box, w.req)
	if err != nil {
		return err
	}
	w.clear = done.clearFor(w.filter)
	w.deadline = time.Now().Add(w.req.Timeout)
	b.core.Presence.WaitOpened(w.req.Session, w.entity, w.deadline)
	return nil
}

// release undoes what prepare has done, in reverse order.
func (w *HeldWait) release() {
	b := w.inbox
	if w.sub != nil {
		w.timer.Stop()
		w.box.removeWait(w)
	}
	if !w.deadline.IsZero() {
		b.core.Presence.WaitClosed(w.req.Session, w.entity, w.deadline)
	}
	if w.reads {
		b.closeReader(w.box.key)
	}
	if w.box != nil {
		b.release(w.box)
		b.core.Calls.Leave(w.call)
	}
	if w.registered {
		b.core.Running.Done()
	}
	if w.counted {
		b.open.Leave(limit.Of(w.who))
	}
}

// newDelivery builds the response from the entries that the wait has found.
func (w *HeldWait) newDelivery() *Delivery {
	d := &Delivery{Result: shoal.WaitResult{Items: []shoal.WaitItem{}, TimedOut: true, TimeoutMs: w.req.Timeout.Milliseconds()}}
	if len(w.entries) > 0 {
		upTo := w.entries[len(w.entries)-1].Place
		cursor := w.inbox.encodeCursor(w.box.key, w.filter, w.entries)
		d.Result.Items, d.Result.Cursor, d.Result.TimedOut, d.Result.Failed = groupBySpace(w.entries), &cursor, false, w.senderFailure()
		d.batch = w.box.recordBatch(w.who.KeyID, w.filter, upTo)
	}
	return d
}

// takeAnswer receives the answer of the wait, if there is one.
func (w *HeldWait) takeAnswer() (ok bool, err error) {
	select {
	case a := <-w.result:
		w.entries = a.entries
		return true, a.err
	default:
		return false, nil
	}
}
