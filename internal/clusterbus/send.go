package clusterbus

import (
	"context"
	"time"
)

// beatEvery is the longest time between two frames of a server.
const beatEvery = time.Second

// maxBurst is how many frames may follow each other without a pause. On average there is a pause
// before each frame.
const maxBurst = 8

// sendLoop sends what is in the outbox until ctx ends, and then the rest.
func (b *Bus) sendLoop(ctx context.Context) {
	limits := b.o.Transport.Limits()
	timer := time.NewTimer(0)
	defer timer.Stop()
	number, last := uint64(0), time.Time{}
	var due, quietDue time.Time // when the next frame would be due without bursts
	for {
		next := last.Add(beatEvery)
		switch b.out.state() {
		case onlyEvents:
			next = last.Add(limits.EventPause)
		case quiet:
			next = quietDue.Add(-maxBurst * limits.QuietPause)
		case prompt:
			next = due.Add(-maxBurst * limits.Pause)
		}
		timer.Reset(time.Until(next))
		select {
		case <-ctx.Done():
			for b.sendFrame(context.WithoutCancel(ctx), &number, limits) == nil {
				if b.out.state() == nothing {
					break
				}
			}
			return
		case <-b.out.ready:
			continue // there may be more to do before the timer fires
		case <-b.greet:
		case <-timer.C:
		}
		last = time.Now()
		due, quietDue = later(due, last).Add(limits.Pause), later(quietDue, last).Add(limits.QuietPause)
		_ = b.sendFrame(ctx, &number, limits) // the others notice the missing frame
	}
}

// later returns the later one of two times.
func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// sendLimit is how long a frame may take to send.
const sendLimit = 2 * time.Second

// sendFrame sends one frame with the next items, if there are any.
func (b *Bus) sendFrame(ctx context.Context, number *uint64, limits Limits) error {
	t := b.out.take(limits.FrameBytes - headBytes)
	if t.overflow {
		*number++
	}
	*number++
	b.metrics.dropped.Add(float64(t.dropped))
	ctx, cancel := context.WithTimeout(ctx, sendLimit)
	defer cancel()
	err := b.o.Transport.Send(ctx, encodeFrame(b.key, b.self, *number, t.items))
	if err == nil {
		b.metrics.sent.Add(1)
	}
	return err
}
