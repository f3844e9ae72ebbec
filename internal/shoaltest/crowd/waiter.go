package crowd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
)

// Waiter waits for messages or mentions, one wait at a time.
type Waiter struct {
	Speaker
	*Inbox
	dice    *rand.Rand
	clock   func() time.Duration
	answers *atomic.Int64 // of all clients
	Lasts   time.Duration // the time-out of each wait

	cursors map[int]string // by index of the wait
	newest  int            // the index of the wait with the newest cursor, -1 before
	Sticky  bool           // a wait with a response has acknowledged explicitly
	met     int            // the last life of the server in which it has waited
	wrong   []string
}

// waitFor is the time-out of a wait: longer than most lives, and short enough for the end
// of a test.
const waitFor = 2500 * time.Millisecond

// Run waits repeatedly until the server is gone.
func (w *Waiter) Run(ctx context.Context, life int) {
	first := life != w.met // a server remembers the batches that it has delivered in this life
	for w.met = life; ctx.Err() == nil; first = false {
		_, err := w.once(ctx, life, w.chooseAck(first), w.Lasts.Milliseconds())
		if errors.Is(err, ErrUnknown) && !errors.Is(err, ErrGone) && Pause(ctx, ThinkTime) {
			continue // the server runs, but failed
		}
		if err != nil {
			return
		}
	}
}

// chooseAck returns the batch that the next wait acknowledges. Sometimes it chooses none, or an
// old one: then the unacknowledged messages must be delivered again. A key that has not
// acknowledged explicitly yet acknowledges by waiting without a cursor.
func (w *Waiter) chooseAck(first bool) int {
	if w.Implicit || w.newest < 0 {
		return -1
	}
	roll := w.dice.IntN(16)
	switch {
	case first && roll < 6, w.Sticky && roll == 0:
		return -1
	case w.Sticky && roll == 1:
		for i := w.newest - 1; i >= 0; i-- {
			if w.cursors[i] != "" {
				return i
			}
		}
	}
	return w.newest
}

// once makes one wait and reports whether it returned messages.
func (w *Waiter) once(ctx context.Context, life, ack int, timeoutMs int64) (bool, error) {
	call := wait{life: life, ack: ack, sent: w.clock()}
	ask := Waiting{Kind: w.kind, TimeoutMs: timeoutMs}
	if ack >= 0 {
		ask.Ack = w.cursors[ack]
	}
	result, err := w.Wait(ctx, ask)
	call.answered, call.ended = err == nil, w.clock()
	for _, item := range result.Items {
		for _, m := range item.Messages {
			call.batch = append(call.batch, delivered{See(m.Message), m.Delivery})
		}
	}
	w.waits = append(w.waits, call)
	if err != nil {
		if !errors.Is(err, ErrUnknown) {
			w.wrong = append(w.wrong, fmt.Sprintf("%s: %v", w.owner, err))
		}
		return false, err
	}
	w.answers.Add(1)
	w.Sticky = w.Sticky || ack >= 0
	if result.Cursor != nil {
		w.newest = len(w.waits) - 1
		w.cursors[w.newest] = *result.Cursor
	}
	if timedOut := len(call.batch) == 0; timedOut != result.TimedOut || timedOut != (result.Cursor == nil) {
		w.wrong = append(w.wrong, fmt.Sprintf("%s: wait %d has %d messages, timedOut %v, cursor %v", w.owner, len(w.waits)-1, len(call.batch), result.TimedOut, result.Cursor))
	}
	return len(call.batch) > 0, nil
}

// drain reads and acknowledges everything that is unread.
func (w *Waiter) drain(ctx context.Context, life int) error {
	for {
		ack := w.newest
		if w.Implicit {
			ack = -1
		}
		if more, err := w.once(ctx, life, ack, 0); err != nil || !more {
			return err
		}
	}
}

func newInbox(owner shoal.EntityID, kind shoal.WaitKind, implicit bool, spaces ...*Room) *Inbox {
	in := &Inbox{owner: owner, kind: kind, Implicit: implicit}
	for _, r := range spaces {
		in.spaces = append(in.spaces, r.ID)
	}
	return in
}
