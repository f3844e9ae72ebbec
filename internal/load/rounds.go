package load

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// Pairs is a server as its clients use it. Pair i is a sender and a waiter; pairs may
// be used at once.
type Pairs interface {
	// Send returns when the message of pair i is stored; with wake its waiter is
	// mentioned. One at a time.
	Send(ctx context.Context, i int, text string, wake bool) error
	// Wait returns the answer that holds the next message for the waiter of pair i.
	// One at a time.
	Wait(ctx context.Context, i int) ([]byte, error)
}

// Post lets so many senders post one message after the other, for so long, each at
// most so many if most is not 0. It returns what each post took, in µs.
func Post(ctx context.Context, p Pairs, senders int, length time.Duration, most int) ([]float64, error) {
	var running sync.WaitGroup
	found, failed := make([][]float64, senders), make([]error, senders)
	ends, message := time.Now().Add(length), Text()
	for i := range senders {
		running.Go(func() {
			for began := time.Now(); began.Before(ends) && failed[i] == nil && (most == 0 || len(found[i]) < most); {
				failed[i] = p.Send(ctx, i, message, false)
				now := time.Now()
				found[i] = append(found[i], micros(now.Sub(began)))
				began = now
			}
		})
	}
	running.Wait()
	return slices.Concat(found...), firstOf(failed)
}

// wakeGap lets the waiter block again.
const wakeGap = 10 * time.Millisecond

// Wake wakes the waiter of each of so many pairs so many times, all pairs at once. It
// returns what each time took, in µs: from before the post that mentions the waiter
// until its wait has returned with that message.
func Wake(ctx context.Context, p Pairs, pairs, times int) ([]float64, error) {
	var running sync.WaitGroup
	found, failed := make([][]float64, pairs), make([]error, pairs)
	for i := range pairs {
		running.Go(func() {
			Pause(ctx, time.Duration(i)*wakeGap/time.Duration(pairs))
			for range times {
				took, err := wakeOnce(ctx, p, i)
				if err != nil {
					failed[i] = err
					return
				}
				found[i] = append(found[i], micros(took))
			}
		})
	}
	running.Wait()
	return slices.Concat(found...), firstOf(failed)
}

func wakeOnce(ctx context.Context, p Pairs, i int) (time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := waiting(ctx, p, i)
	if !Pause(ctx, wakeGap) {
		return 0, context.Cause(ctx)
	}
	message := Text()
	began := time.Now()
	if err := p.Send(ctx, i, message, true); err != nil {
		cancel()
		<-done
		return 0, err
	}
	w := <-done
	return w.at.Sub(began), w.holds(message)
}

// woken is how a wait ended.
type woken struct {
	answer []byte
	at     time.Time
	err    error
}

func (w woken) holds(message string) error {
	if w.err == nil && !bytes.Contains(w.answer, []byte(message)) {
		return fmt.Errorf("the wait answered without the message: %.300s", w.answer)
	}
	return w.err
}

// waiting opens a wait, which ends at the latest with ctx.
func waiting(ctx context.Context, p Pairs, i int) <-chan woken {
	done := make(chan woken, 1)
	go func() {
		answer, err := p.Wait(ctx, i)
		done <- woken{answer, time.Now(), err}
	}()
	return done
}

// WakeAll opens the waits of so many pairs, lets them block for settle, and wakes each
// once, several at a time. It returns what each took, in µs, and how long it took until
// the first had been woken and the last had returned.
func WakeAll(ctx context.Context, p Pairs, pairs int, settle time.Duration) (took []float64, all time.Duration, err error) {
	ctx, cancel := context.WithCancel(ctx)
	waits := make([]<-chan woken, pairs)
	for i := range waits {
		waits[i] = waiting(ctx, p, i)
	}
	defer func() {
		cancel()
		for _, w := range waits {
			if w != nil {
				<-w
			}
		}
	}()
	if !Pause(ctx, settle) {
		return nil, 0, context.Cause(ctx)
	}
	took = make([]float64, pairs)
	began := time.Now()
	err = each(pairs, func(i int) error {
		message := Text()
		sent := time.Now()
		if err := p.Send(ctx, i, message, true); err != nil {
			return err
		}
		w := <-waits[i]
		waits[i] = nil
		took[i] = micros(w.at.Sub(sent))
		return w.holds(message)
	})
	return took, time.Since(began), err
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// Percentile is the value at the nearest rank, NaN of nothing.
func Percentile(xs []float64, p float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(xs))
	at := int(math.Ceil(p/100*float64(len(sorted)))) - 1
	return sorted[min(max(at, 0), len(sorted)-1)]
}
