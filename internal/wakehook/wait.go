package wakehook

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

const (
	// lookEvery is how often a hook looks whether its owner is there, and what it does.
	lookEvery = 500 * time.Millisecond
	// renewEvery is a third of the time that a lease lasts.
	renewEvery = shoal.MaxWakeLease / 3
	// waitFor is how long one wait takes. A hook waits again as long as its owner lives.
	waitFor = time.Hour
	// firstPause and lastPause are between attempts that failed, or found what is another's.
	firstPause, lastPause = 250 * time.Millisecond, 15 * time.Second
	// leaveWithin is how long the end of a lease may take.
	leaveWithin = 500 * time.Millisecond
)

// errGone ends a wait whose owner has ended.
var errGone = errors.New("the coding agent has ended")

// waiter waits for the agent of a key.
type waiter struct {
	*hook
	session *client.Session
	agent   shoal.EntityID
	// idle is since when the model has nothing in its queue that it was given before, in Unix nanoseconds.
	idle atomic.Int64
}

// wait waits until it has printed messages, or the owner has ended; then it returns no error.
func (h *hook) wait(ctx context.Context) (woken bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &waiter{hook: h}
	w.idle.Store(time.Now().UnixNano())
	var tasks sync.WaitGroup
	tasks.Go(func() { w.watch(ctx, cancel) })
	if err = w.find(ctx); err == nil {
		tasks.Go(func() { w.hold(ctx) })
		woken, err = w.deliver(ctx)
	}
	ended := errors.Is(context.Cause(ctx), errGone)
	cancel(nil)
	tasks.Wait()
	if !woken {
		w.leave()
	}
	if ended {
		return woken, w.state.forget()
	}
	return woken, err
}

// watch cancels everything when the owner has ended.
func (w *waiter) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for !w.owner.gone() {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
	cancel(errGone)
}

// find finds out whose key it has.
func (w *waiter) find(ctx context.Context) error {
	return insist(ctx, func() (bool, error) {
		me, err := w.server.Me(ctx)
		if err != nil {
			return false, err
		}
		if me.EntityID == nil || me.SessionID == nil {
			return true, shoal.E("", shoal.InvalidArgument, "the key is not that of an agent")
		}
		w.session, w.agent = w.server.Session(*me.SessionID), *me.EntityID
		return true, nil
	})
}

// deliver waits, and prints the first messages that no other terminal has.
func (w *waiter) deliver(ctx context.Context) (woken bool, err error) {
	err = insist(ctx, func() (bool, error) {
		result, err := w.next(ctx)
		if err != nil || result.TimedOut || result.Cursor == nil {
			return false, err
		}
		woken, err = w.give(ctx, result)
		return woken && w.name == "claude", err
	})
	return woken && err == nil, err
}

// next returns the next messages. First it acknowledges those that the model has.
func (w *waiter) next(ctx context.Context) (shoal.WaitResult, error) {
	if d := w.state.load().Delivery; d.Seen && !d.Acked {
		result, err := w.acknowledge(ctx, d)
		if err != nil || !result.TimedOut {
			return result, err
		}
	}
	return w.session.Wait(ctx, w.agent, client.WaitRequest{Timeout: waitFor, Adapter: w.adapter()})
}

func (w *waiter) adapter() *shoal.WaitAdapter {
	return &shoal.WaitAdapter{Kind: w.via, SessionRef: w.ref()}
}

// ref names the owner among those of all machines.
func (w *waiter) ref() string { return runner() + "/" + strconv.Itoa(w.owner.pid) }

// acknowledge acknowledges a delivery that the model has. The result is what else is unread. It is the
// acknowledgment of a program, after which the key still acknowledges implicitly when the model itself
// waits.
func (w *waiter) acknowledge(ctx context.Context, d delivery) (shoal.WaitResult, error) {
	result, err := w.session.Wait(ctx, w.agent, client.WaitRequest{Ack: d.Cursor, Adapter: w.adapter()})
	if errors.Is(err, shoal.InvalidArgument) { // the database is another one now, and has no such delivery
		result, err = shoal.WaitResult{TimedOut: true}, nil
	}
	if err != nil {
		return result, err
	}
	return result, w.state.markAcked(d)
}

// give passes messages on, unless another terminal has one of them.
func (w *waiter) give(ctx context.Context, result shoal.WaitResult) (bool, error) {
	var ids []shoal.MessageID
	for _, item := range result.Items {
		for _, m := range item.Messages {
			ids = append(ids, m.ID)
		}
	}
	d := delivery{ID: "d-" + rand.Text(), Cursor: *result.Cursor, Mentions: mentionsIn(result.Items)}
	handed, err := w.state.hand(d, ids, time.Now(), time.Unix(0, w.idle.Load()))
	if !handed || err != nil {
		return false, err
	}
	text := prompt(w.agent, d.ID, w.tools, result.Items)
	if w.name == "codex" {
		return true, w.queue(ctx, text)
	}
	_, err = w.out.Write([]byte(text))
	return err == nil, err
}

// hold keeps the wake lease until ctx ends, and acknowledges what the model has.
func (w *waiter) hold(ctx context.Context) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	var renewed time.Time
	for was := false; ; {
		busy := w.state.busy()
		if busy || was {
			w.idle.Store(time.Now().UnixNano())
		}
		if busy != was || time.Since(renewed) >= renewEvery {
			if was = busy; w.renew(ctx, busy) == nil {
				renewed = time.Now()
			}
		}
		if d := w.state.load().Delivery; d.Seen && !d.Acked {
			_, _ = w.acknowledge(ctx, d) // or the next time
		}
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

func (w *waiter) renew(ctx context.Context, busy bool) error {
	ctx, cancel := context.WithTimeout(ctx, renewEvery/4)
	defer cancel()
	_, err := w.session.HoldWakeLease(ctx, w.agent, shoal.WakeLease{
		Via: w.via, Harness: w.harness, Runner: runner(), SessionRef: w.ref(), Busy: busy,
	})
	return err
}

// leave ends the wake lease. If that fails, it ends by itself.
func (w *waiter) leave() {
	if w.session == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveWithin)
	defer cancel()
	_ = w.session.ReleaseWakeLease(ctx, w.agent, w.ref())
}

// final are the failures that another attempt does not change.
var final = []shoal.Kind{shoal.Unauthenticated, shoal.Forbidden, shoal.IdentityMismatch, shoal.NotFound, shoal.InvalidArgument}

// insist repeats something until it is done or has failed for good, with pauses that grow while it fails.
func insist(ctx context.Context, do func() (done bool, err error)) error {
	pause := firstPause
	for {
		began := time.Now()
		done, err := do()
		if done || ctx.Err() != nil || isFinal(err) {
			return err
		}
		if time.Since(began) > lastPause {
			pause = firstPause
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		if pause = min(2*pause, lastPause); err == nil {
			pause = min(pause, time.Second)
		}
	}
}

func isFinal(err error) bool {
	for _, kind := range final {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
