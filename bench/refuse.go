package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal/bench/peer"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

const (
	refuseSenders = 32
	// refuseKeys is the number of callers: each has one call a second that is not refused.
	refuseKeys = 2
	refuseTime = 2 * time.Second

	refusedFloor = "net/http handler that answers 429"
	refusedRow   = "Shoal, over the calls per second"
	refusals     = "refusals/s"
)

// refuser makes calls that a server refuses with 429.
type refuser struct {
	name   string
	server *process.Process
	call   func(ctx context.Context, sender int, body []byte) error
}

// refuse measures the cost of refusing a call of a caller over its limit.
func (r *run) refuse(ctx context.Context) error {
	sides, done, err := r.refusers(ctx)
	if err != nil {
		return err
	}
	defer done()
	for _, size := range []int{256, 32 << 10} {
		t := r.Report.Add(&report.Table{
			Title: fmt.Sprintf("Refusals of posts of %s bytes", report.Thousands(size)),
			Note: fmt.Sprintf("%d senders with %d keys post as fast as they are answered for %v, and all posts but one a second of each key are refused with 429. "+
				"The other handler does nothing else; net/http reads the body, so that the connection can be used again.", refuseSenders, refuseKeys, refuseTime),
			Ratios: []report.Ratio{{Metric: report.CPUMicros, Base: refusedFloor, Heading: "CPU ÷ handler"}}, Shown: []string{report.CPUMicros, refusals},
		})
		body := fmt.Appendf(nil, `{"text": "%s"}`, strings.Repeat("x", size-len(`{"text": ""}`)))
		for round := range r.Rounds + 1 {
			for _, s := range sides {
				if !r.Wants(s.name) {
					continue
				}
				into := t.Row(s.name)
				if round == 0 { // this also uses up what the callers may do at once
					into = new(report.Table).Row(s.name)
				}
				if err := s.measure(ctx, into, body); err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
			}
		}
		r.Report.TargetAtMost(1.3, "× handler", t.Ratio(report.CPUMicros, refusedRow, refusedFloor), t.Title+", CPU")
	}
	return nil
}

// refusers starts the servers.
func (r *run) refusers(ctx context.Context) (sides []refuser, done func(), err error) {
	floor, err := peer.StartFloor(ctx, r.Run)
	if err != nil {
		return nil, nil, err
	}
	p, err := process.Start(ctx, r.Shoal, "serve", "--max-calls-per-second", "1", "--addr", "ADDR", "--data", r.NewPath("shoal"))
	if err != nil {
		floor.Stop()
		return nil, nil, err
	}
	done = func() { floor.Stop(); p.Stop() }
	w, err := newWorld(ctx, p, refuseKeys)
	if err == nil {
		err = w.Rooms(ctx, refuseKeys, 1)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	bare, wire := load.NewWire(floor.URL()), load.NewWire(p.URL())
	return []refuser{
		{refusedFloor, floor, func(ctx context.Context, sender int, body []byte) error {
			_, _, err := bare.Do(ctx, http.MethodPost, "/refuse", load.Header(w.Keys[sender%refuseKeys]), body)
			return err
		}},
		{refusedRow, p, func(ctx context.Context, sender int, body []byte) error {
			_, _, err := wire.Do(ctx, http.MethodPost, w.MessagesPath(load.SpaceID(sender%refuseKeys)), load.Header(w.Keys[sender%refuseKeys]), body)
			return err
		}},
	}, done, nil
}

// measure sends posts for a while. The few that a limit lets pass count for nothing.
func (s refuser) measure(ctx context.Context, into *report.Row, body []byte) error {
	var refused atomic.Int64
	before, began := process.CPU(s.server.PID()), time.Now()
	_, err := load.Repeat(refuseSenders, refuseTime, 0, func(sender int) error {
		err := s.call(ctx, sender, body)
		var answer *load.RefusedError
		if errors.As(err, &answer) && answer.Status == http.StatusTooManyRequests {
			refused.Add(1)
			return nil
		}
		return err
	})
	into.AddCPU(process.CPU(s.server.PID())-before, float64(refused.Load()))
	into.Add(refusals, float64(refused.Load())/time.Since(began).Seconds())
	return err
}
