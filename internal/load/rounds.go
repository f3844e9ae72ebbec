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

// Pairs is a server from the view of its clients. Pair i is a sender and a waiter. Different
// pairs may be used concurrently.
type Pairs interface {
	// Send returns when the message of pair i is stored; with wake its waiter is
	// mentioned. One at a time.
	Send(ctx context.Context, i int, text string, wake bool) error
	// Wait returns the response with the next message for the waiter of pair i.
	// One at a time.
	Wait(ctx context.Context, i int) ([]byte, error)
}

// Post lets senders post messages one after the other for length, at most most messages each
// unless most is 0. It returns the time of each post in µs.
func Post(ctx context.Context, p Pairs, senders int, length time.Duration, most int) ([]float64, error) {
	message := Text()
	return Repeat(senders, length, most, func(i int) error { return p.Send(ctx, i, message, false) })
}

// Repeat is Post for senders with any calls: sender i calls send(i) until it fails.
func Repeat(senders int, length time.Duration, most int, send func(i int) error) ([]float64, error) {
	var running sync.WaitGroup
	found, failed := make([][]float64, senders), make([]error, senders)
	ends := time.Now().Add(length)
	for i := range senders {
		running.Go(func() {
			for began := time.Now(); began.Before(ends) && failed[i] == nil && (most == 0 || len(found[i]) < most); {
				failed[i] = send(i)
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

// Wake wakes the waiter of each pair the given number of times, all pairs concurrently. It
// returns each time in µs: from before the post that mentions the waiter until its wait has
// returned with the message.
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

// woken is the result of a wait.
type woken struct {
	answer []byte
	at     time.Time
	err    error
}

func (w woken) holds(message string) error {
	if w.err == nil && !bytes.Contains(w.answer, []byte(message)) {
		return fmt.Errorf("the wait returned without the message: %.300s", w.answer)
	}
	return w.err
}

// waiting starts a wait, which ends at the latest with ctx.
func waiting(ctx context.Context, p Pairs, i int) <-chan woken {
	done := make(chan woken, 1)
	go func() {
		answer, err := p.Wait(ctx, i)
		done <- woken{answer, time.Now(), err}
	}()
	return done
}

// WakeAll starts the waits of the pairs, lets them block for settle, and wakes each once,
// several concurrently. It returns each time in µs, and the time from the first wake-up until
// the last wait has returned.
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

// Percentile returns the value at the nearest rank, or NaN for no values.
func Percentile(xs []float64, p float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(xs))
	at := int(math.Ceil(p/100*float64(len(sorted)))) - 1
	return sorted[min(max(at, 0), len(sorted)-1)]
}
