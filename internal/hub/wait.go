package hub

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/limit"
)

// WaitRequest says who waits for what.
type WaitRequest struct {
	Session shoal.SessionID
	// Entity may name the caller; another one is IdentityMismatch.
	Entity shoal.EntityID
	Kind   shoal.WaitKind
	// Timeout is clamped to 0…MaxWait. Zero looks and does not wait.
	Timeout time.Duration
	// Space and From narrow what is waited for, if set.
	Space shoal.SpaceID
	From  []shoal.EntityID
	// Ack is the cursor of an earlier answer: exactly what came with it is
	// acknowledged before the wait begins, and from then on this key
	// acknowledges explicitly.
	Ack string
	// Redeliver asks a caller that acknowledges implicitly to get its previous
	// batch again instead of acknowledging it.
	Redeliver bool
}

// Delivery is the answer of a wait.
type Delivery struct {
	// Result is what clients see.
	Result shoal.WaitResult

	handed *handed
}

// Written tells that the answer was written whole on a connection that still
// stood. Without it the answer counts as lost, and a caller that acknowledges
// implicitly gets the batch again. It may be called from any goroutine.
func (d *Delivery) Written() {
	if d.handed != nil {
		d.handed.once.Do(func() { close(d.handed.written) })
	}
}

// Wait acknowledges what the caller has acknowledged and returns what is unread
// and matches, at most MaxBatch messages in the order of the inbox: at once if
// there is any, else as soon as there is, else a time-out. All waits that an
// entity has open wake with the same messages; a fifth one ends the oldest as
// timed out. It ends with the cause of ctx, having acknowledged nothing but
// what was to be acknowledged when it was accepted; with TooManyWaiters when the
// server holds too many waits; with Unauthenticated or NotFound when the key, the
// entity or the session goes away meanwhile; with ErrStopping when it comes behind
// Stop, which ends those that are open as timed out. The request belongs to the wait,
// which completes it.
func (b *Inbox) Wait(ctx context.Context, who shoal.Principal, req *WaitRequest) (*Delivery, error) {
	d, _, err := b.WaitShortly(ctx, who, req, shoal.MaxWait)
	return d, err
}

// WaitShortly is Wait for a caller who would rather wait elsewhere after a while, with
// a smaller stack for example. A wait that goes on then is returned, and nothing else:
// whoever has it calls [HeldWait.Wait], once.
func (b *Inbox) WaitShortly(ctx context.Context, who shoal.Principal, req *WaitRequest, while time.Duration) (_ *Delivery, on *HeldWait, err error) {
	w := &HeldWait{inbox: b, who: who, req: req}
	defer func() {
		if on == nil {
			w.letGo()
		}
	}()
	if err = w.hold(ctx); err == nil {
		w.box.begin(w, min(while, req.Timeout))
		goesOn := false
		if goesOn, err = w.box.block(ctx, w); goesOn {
			return nil, w, nil
		}
	}
	d, err := w.outcome(err)
	return d, nil, err
}

// Wait goes on with a wait, as [Inbox.Wait] does, now under this ctx.
func (w *HeldWait) Wait(ctx context.Context) (*Delivery, error) {
	defer w.letGo()
	w.timer.Reset(time.Until(w.ends))
	_, err := w.box.block(ctx, w) // which does not end before the wait does
	return w.outcome(err)
}

// outcome is what a wait answers.
func (w *HeldWait) outcome(err error) (*Delivery, error) {
	w.inbox.figures.ended(w, err)
	if err != nil {
		return nil, wrap("hub.Inbox.Wait", err)
	}
	return w.delivery(), nil
}

// HeldWait is a wait while it lasts. What it needs lies here and not in
// the frames of the functions below it: a blocked wait is mostly stack, and ten
// thousand of them should not need twice as much of it.
type HeldWait struct {
	inbox *Inbox
	who   shoal.Principal
	req   *WaitRequest

	entity  shoal.EntityID
	filter  InboxFilter
	counted bool      // it is one of the open waits
	nth     int64     // of the waits of box, in the order in which they began
	running bool      // Stop waits for it
	ends    time.Time // zero until others see it waiting
	call    *caller
	box     *mailbox
	timer   *time.Timer
	sub     Subscription // nil until it is one of the waits of box
	looks   int          // of box, before anything was acknowledged
	clear   int64        // up to there nothing in the inbox is for it; guarded by box.mu
	slept   bool
	over    bool // the time is up, and what came before it is read
	result  chan answer
	entries []InboxEntry
}

// hold does everything before the wait: it checks, counts, and acknowledges.
//
//go:noinline
func (w *HeldWait) hold(ctx context.Context) (err error) {
	b := w.inbox
	if w.entity, err = waiter(w.who, w.req); err != nil {
		return err
	}
	w.filter = InboxFilter{Kind: w.req.Kind, Space: w.req.Space, From: w.req.From}
	if err := b.countWait(w.who); err != nil {
		return err
	}
	w.counted = true
	if w.running = b.begin(); !w.running {
		return ErrStopping // not a time-out: nothing is acknowledged, and nobody has looked
	}
	w.call = b.callers.enter(w.who, w.req.Session, w.entity)
	w.box = b.mailbox(mailboxKey{w.req.Session, w.entity})
	w.looks = w.box.watch()
	done, err := b.acknowledge(ctx, w.who, w.box, w.req)
	if err != nil {
		return err
	}
	w.clear = done.clearUpTo(w.filter)
	w.ends = time.Now().Add(w.req.Timeout)
	b.presence.waitOpened(w.req.Session, w.entity, w.ends)
	return nil
}

// letGo undoes what hold has done, the last first.
func (w *HeldWait) letGo() {
	b := w.inbox
	if w.sub != nil {
		w.timer.Stop()
		w.box.leave(w)
	}
	if !w.ends.IsZero() {
		b.presence.waitClosed(w.req.Session, w.entity, w.ends)
	}
	if w.box != nil {
		b.release(w.box)
		b.callers.leave(w.call)
	}
	if w.running {
		b.running.Done()
	}
	if w.counted {
		b.open.Leave(limit.Of(w.who))
	}
}

// delivery makes the answer of what the wait has found.
func (w *HeldWait) delivery() *Delivery {
	d := &Delivery{Result: shoal.WaitResult{Items: []shoal.WaitItem{}, TimedOut: true, TimeoutMs: w.req.Timeout.Milliseconds()}}
	if len(w.entries) > 0 {
		upTo := w.entries[len(w.entries)-1].Place
		cursor := w.inbox.cursor(w.box.key, w.filter, w.entries)
		d.Result.Items, d.Result.Cursor, d.Result.TimedOut, d.Result.Failed = items(w.entries), &cursor, false, w.failure()
		d.handed = w.box.hand(w.who.KeyID, w.filter, upTo)
	}
	return d
}

// answered takes the answer of the wait if it has one.
func (w *HeldWait) answered() (ok bool, err error) {
	select {
	case a := <-w.result:
		w.entries = a.entries
		return true, a.err
	default:
		return false, nil
	}
}
