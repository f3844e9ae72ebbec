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
	number, last, due := uint64(0), time.Time{}, time.Time{}
	for {
		some, onlyEvents := b.out.state()
		next := last.Add(beatEvery)
		switch {
		case some && onlyEvents:
			next = last.Add(limits.EventPause)
		case some:
			next = due.Add(-maxBurst * limits.Pause)
		}
		timer.Reset(time.Until(next))
		select {
		case <-ctx.Done():
			for b.sendFrame(context.WithoutCancel(ctx), &number, limits) == nil {
				if some, _ := b.out.state(); !some {
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
		if due.Before(last) {
			due = last
		}
		due = due.Add(limits.Pause)
		_ = b.sendFrame(ctx, &number, limits) // the others notice the missing frame
	}
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
