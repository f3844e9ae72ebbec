package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/load"
)

// requiredLoad is a load that a server must bear for a while: so many posts a second, into so
// many spaces, each with so many readers.
type requiredLoad struct {
	name    string
	rate    int
	spaces  int
	readers int // of each space
	length  time.Duration
	ackMs   float64 // at most, p99
}

// requiredLoads returns the loads. The first one takes five minutes with -full.
func (r *run) requiredLoads() []requiredLoad {
	long := time.Minute
	if r.messages == 1_000_000 {
		long = 5 * time.Minute
	}
	return []requiredLoad{
		{"500 posts/s to 10 readers each", 500, 64, 10, long, 50},
		{"2,000 posts/s without readers", 2000, 64, 0, 10 * time.Second, 100},
		{"300 posts/s to 50 readers each", 300, 8, 50, 15 * time.Second, 50},
	}
}

const (
	sentCol = "posts/s"
	// maxInProgress bounds how many posts may be under way.
	maxInProgress = 4096
	// requiredShare is the part of a rate that must come through.
	requiredShare = 0.98
)

// gates measures loads that come whether the server keeps up or not.
func (r *run) gates(ctx context.Context) error {
	t := r.report.add(&table{
		title: "Required loads",
		note: "Posts are sent at a fixed rate, whether or not earlier ones have been answered. The latency of an acknowledgement counts from the time at which its post was due, " +
			"that of a delivery from the time at which the post was sent. CPU is the server's for one post with its deliveries. Before each load the floor receives the same posts, without readers: its p99 shows the influence of the disk and of other processes.",
		shown: []string{sentCol, ackP50, ackP99, deliveries, p99, lostEvents, cpuCol},
	})
	for _, b := range r.requiredLoads() {
		if !r.wants(b.name) {
			continue
		}
		if err := r.runLoadOnFloor(ctx, t.row(b.name+": floor, posts only"), b); err != nil {
			return fmt.Errorf("%s, floor: %w", b.name, err)
		}
		if err := r.runLoad(ctx, t.row(b.name), b); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		found := t.row(b.name)
		r.report.atLeast(requiredShare*float64(b.rate), "posts/s", found.value(sentCol), b.name)
		r.report.atMost(b.ackMs*1e3, "µs", found.value(ackP99), b.name+", p99 of the acknowledgement")
		if b.readers > 0 {
			r.report.atMost(0, "events", found.value(lostEvents), b.name+", lost")
			r.report.atLeast(requiredShare*float64(b.rate*b.readers), deliveries, found.value(deliveries), b.name+", delivered")
		}
	}
	return nil
}

// bear puts one load on a new server.
func (r *run) runLoad(ctx context.Context, into *row, b requiredLoad) error {
	p, err := r.startNewShoal(ctx)
	if err != nil {
		return err
	}
	defer p.stop()
	s := &restSide{server: p}
	if err := s.open(ctx, b.spaces); err != nil {
		return err
	}
	f := &fan{side: s, Readers: new(load.Readers)}
	defer f.Close()
	if f.connect, err = s.readerConnector(ctx, b.spaces*b.readers, func(i int) shoal.SpaceID { return load.SpaceID(i % b.spaces) }); err != nil {
		return err
	}
	for i := range b.spaces * b.readers {
		if err := f.follow(i); err != nil {
			return err
		}
	}
	if err := b.warm(ctx, s); err != nil {
		return err
	}
	f.Forget()
	before, began := cpu(p.pid()), time.Now()
	found, err := b.flow(s, b.length).runWithoutFailure(ctx)
	if err != nil {
		return err
	}
	due := int64(len(found.took) * b.readers)
	for waited := time.Now(); f.Seen() < due && time.Since(waited) < 5*time.Second && load.Pause(ctx, 10*time.Millisecond); {
	}
	took := time.Since(began).Seconds()
	found.addTo(into)
	if b.readers > 0 {
		into.add(deliveries, float64(f.Seen())/took)
		into.add(p99, load.Percentile(f.Took(), 99))
		into.add(lostEvents, float64(due-f.Seen()))
	}
	into.cpu, into.ops = into.cpu+cpu(p.pid())-before, into.ops+float64(len(found.took))
	return ctx.Err()
}

// runLoadOnFloor puts the posts of one load on a new floor.
func (r *run) runLoadOnFloor(ctx context.Context, into *row, b requiredLoad) error {
	p, err := r.startFloor(ctx)
	if err != nil {
		return err
	}
	defer p.stop()
	s := newFloorSide(p)
	if err := b.warm(ctx, s); err != nil {
		return err
	}
	before := cpu(p.pid())
	found, err := b.flow(s, b.length).runWithoutFailure(ctx)
	if err != nil {
		return err
	}
	found.addTo(into)
	into.cpu, into.ops = into.cpu+cpu(p.pid())-before, into.ops+float64(len(found.took))
	return ctx.Err()
}

// flow is the posts of a load.
func (b requiredLoad) flow(to side, length time.Duration) flow {
	return flow{rate: b.rate, length: length, send: func(ctx context.Context, n int) error {
		return to.Send(ctx, n%b.spaces, load.Marked(), false)
	}}
}

// warm puts the load on a server for a second, and lets it rest for another.
func (b requiredLoad) warm(ctx context.Context, to side) error {
	_, err := b.flow(to, time.Second).run(ctx)
	load.Pause(ctx, time.Second)
	return err
}

// flow is posts at a rate that nothing slows down.
type flow struct {
	rate   int
	length time.Duration
	send   func(ctx context.Context, n int) error
}

// flowed is what came of them.
type flowResult struct {
	took    []float64       // µs of those that were acknowledged, from when they were due
	at      []time.Duration // when each of these was acknowledged
	refused int             // answered 429 or 503
	unsent  int             // because too many were under way
	failed  error           // the first that failed in another way
	lasted  time.Duration   // until the last was answered
}

// run returns when all posts have been answered.
func (f flow) run(ctx context.Context) (flowResult, error) {
	var (
		found   flowResult
		mu      sync.Mutex
		sending sync.WaitGroup
		open    atomic.Int64
	)
	began := time.Now()
	for n := range int(f.length.Seconds() * float64(f.rate)) {
		due := began.Add(time.Duration(n) * time.Second / time.Duration(f.rate))
		if wait := time.Until(due); wait > 0 && !load.Pause(ctx, wait) {
			break
		}
		if open.Load() >= maxInProgress {
			mu.Lock()
			found.unsent++
			mu.Unlock()
			continue
		}
		open.Add(1)
		sending.Go(func() {
			defer open.Add(-1)
			err := f.send(ctx, n)
			now := time.Now()
			mu.Lock()
			defer mu.Unlock()
			found.addPost(err, now.Sub(due), now.Sub(began))
		})
	}
	sending.Wait()
	found.lasted = time.Since(began)
	return found, context.Cause(ctx)
}

// runWithoutFailure is run for a server that may refuse posts, but must not fail them: a failure
// is its error.
func (f flow) runWithoutFailure(ctx context.Context) (flowResult, error) {
	found, err := f.run(ctx)
	if err == nil {
		err = found.failed
	}
	return found, err
}

// tell puts the rate and the times of acknowledgements into a row.
func (f *flowResult) addTo(into *row) {
	into.add(sentCol, float64(len(f.took))/f.lasted.Seconds())
	into.add(ackP50, load.Percentile(f.took, 50))
	into.add(ackP99, load.Percentile(f.took, 99))
}

// note notes how one post ended.
func (f *flowResult) addPost(err error, took, at time.Duration) {
	var refused *load.RefusedError
	switch {
	case err == nil:
		f.took, f.at = append(f.took, float64(took.Nanoseconds())/1e3), append(f.at, at)
	case errors.As(err, &refused) && (refused.Status == http.StatusTooManyRequests || refused.Status == http.StatusServiceUnavailable):
		f.refused++
	case f.failed == nil:
		f.failed = err
	}
}
