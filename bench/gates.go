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
	"github.com/shoal-dev/shoal/bench/peer"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

// requiredLoad is a load that a server must sustain: rate posts per second into a number
// of spaces, each with a number of readers.
type requiredLoad struct {
	name    string
	rate    int
	spaces  int
	readers int // of each space
	length  time.Duration
	ackMs   float64 // limit of the p99 of acknowledgements
}

// requiredLoads returns the loads. With -full the first one takes five minutes.
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
	// maxInProgress limits the number of posts in progress.
	maxInProgress = 4096
	// requiredShare is the share of a rate that must be achieved.
	requiredShare = 0.98
)

// gates measures open loads: posts are sent at their rate even if the server lags.
func (r *run) gates(ctx context.Context) error {
	t := r.Report.Add(&report.Table{
		Title: "Required loads",
		Note: "Posts are sent at a fixed rate, whether or not earlier ones have been answered. The latency of an acknowledgement counts from the time at which its post was due, " +
			"that of a delivery from the time at which the post was sent. CPU is the server's for one post with its deliveries. Before each load the floor receives the same posts, without readers: its p99 shows the influence of the disk and of other processes.",
		Shown: []string{sentCol, ackP50, ackP99, deliveries, report.P99, lostEvents, report.CPUMicros},
	})
	for _, b := range r.requiredLoads() {
		if !r.Wants(b.name) {
			continue
		}
		if err := r.runLoadOnFloor(ctx, t.Row(b.name+": floor, posts only"), b); err != nil {
			return fmt.Errorf("%s, floor: %w", b.name, err)
		}
		if err := r.runLoad(ctx, t.Row(b.name), b); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		found := t.Row(b.name)
		r.Report.AtLeast(requiredShare*float64(b.rate), "posts/s", found.Value(sentCol), b.name)
		r.Report.AtMost(b.ackMs*1e3, "µs", found.Value(ackP99), b.name+", p99 of the acknowledgement")
		if b.readers > 0 {
			r.Report.AtMost(0, "events", found.Value(lostEvents), b.name+", lost")
			r.Report.AtLeast(requiredShare*float64(b.rate*b.readers), deliveries, found.Value(deliveries), b.name+", delivered")
		}
	}
	return nil
}

// runLoad runs one load against a new server.
func (r *run) runLoad(ctx context.Context, into *report.Row, b requiredLoad) error {
	p, err := r.startNewShoal(ctx)
	if err != nil {
		return err
	}
	defer p.Stop()
	s := &restSide{server: p}
	if err := s.Prepare(ctx, b.spaces); err != nil {
		return err
	}
	f := &fan{Side: s, Readers: new(load.Readers)}
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
	before, began := process.CPU(p.PID()), time.Now()
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
		into.Add(deliveries, float64(f.Seen())/took)
		into.Add(report.P99, load.Percentile(f.Took(), 99))
		into.Add(lostEvents, float64(due-f.Seen()))
	}
	into.AddCPU(process.CPU(p.PID())-before, float64(len(found.took)))
	return ctx.Err()
}

// runLoadOnFloor runs the posts of one load against a new floor.
func (r *run) runLoadOnFloor(ctx context.Context, into *report.Row, b requiredLoad) error {
	p, err := peer.StartFloor(ctx, r.Run)
	if err != nil {
		return err
	}
	defer p.Stop()
	s := peer.NewFloor(p)
	if err := b.warm(ctx, s); err != nil {
		return err
	}
	before := process.CPU(p.PID())
	found, err := b.flow(s, b.length).runWithoutFailure(ctx)
	if err != nil {
		return err
	}
	found.addTo(into)
	into.AddCPU(process.CPU(p.PID())-before, float64(len(found.took)))
	return ctx.Err()
}

// flow returns the posts of a load.
func (b requiredLoad) flow(to peer.Side, length time.Duration) flow {
	return flow{rate: b.rate, length: length, send: func(ctx context.Context, n int) error {
		return to.Send(ctx, n%b.spaces, load.Marked(), false)
	}}
}

// warm runs the load for a second, then waits for another second.
func (b requiredLoad) warm(ctx context.Context, to peer.Side) error {
	_, err := b.flow(to, time.Second).run(ctx)
	load.Pause(ctx, time.Second)
	return err
}

// flow is a sequence of posts at a fixed rate, independent of their responses.
type flow struct {
	rate   int
	length time.Duration
	send   func(ctx context.Context, n int) error
}

// flowResult is the result of a flow.
type flowResult struct {
	took    []float64       // µs of those that were acknowledged, from when they were due
	at      []time.Duration // when each of them was acknowledged, from the start
	refused int             // answered with 429 or 503
	unsent  int             // not sent because maxInProgress posts were in progress
	failed  error           // the first other failure
	lasted  time.Duration   // from the start to the last response
}

// run sends the posts and returns when all of them have been answered.
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

// runWithoutFailure is like run, but returns the first failure as its error. A refused
// post is not a failure.
func (f flow) runWithoutFailure(ctx context.Context) (flowResult, error) {
	found, err := f.run(ctx)
	if err == nil {
		err = found.failed
	}
	return found, err
}

// addTo adds the rate and the latencies of acknowledgements to a row.
func (f *flowResult) addTo(into *report.Row) {
	into.Add(sentCol, float64(len(f.took))/f.lasted.Seconds())
	into.Add(ackP50, load.Percentile(f.took, 50))
	into.Add(ackP99, load.Percentile(f.took, 99))
}

// addPost records the outcome of one post.
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
