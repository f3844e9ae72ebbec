package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/shoal-dev/shoal/bench/peer"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

const (
	startMs  = "ms to the first response"
	restMiB  = "MiB idle"
	startPSS = 500 * time.Millisecond

	emptyRow = "Shoal, empty database"
)

// starts measures the time from the start of a server to its first response, and its idle
// memory.
func (r *run) starts(ctx context.Context) error {
	if err := r.createLargeSpace(ctx); err != nil {
		return err
	}
	largeRow := fmt.Sprintf("Shoal, %s messages", report.Thousands(r.messages))
	t := r.Report.Add(&report.Table{
		Title:  "Start",
		Note:   "The time from the start of the process to the response of GET /readyz; memory is the proportional set size half a second later. The databases exist already. nats-server is called over its own protocol, and responds when its stream is recovered.",
		Ratios: []report.Ratio{{Metric: startMs, Base: peer.FloorRow, Heading: "time ÷ floor"}, {Metric: restMiB, Base: peer.FloorRow, Heading: "memory ÷ floor"}}, Shown: []string{startMs, restMiB},
	})
	empty, ledger := r.NewPath("empty"), r.NewPath("floor")+".db"
	stream, err := peer.CreateStream(ctx, r.Run, r.messages, pageText)
	var missing process.MissingError
	if errors.As(err, &missing) {
		r.Log.Print(err)
	} else if err != nil {
		return err
	}
	natsStart := fmt.Sprintf("nats-server, a stream of %s messages", report.Thousands(r.messages))
	for round := range r.Rounds + 1 {
		for _, s := range []struct {
			name  string
			start func() (*process.Process, error)
		}{
			{natsStart, func() (*process.Process, error) { return peer.StartNATS(ctx, r.Run, stream) }},
			{peer.FloorRow, func() (*process.Process, error) {
				return process.Start(ctx, r.Self, "floor", "-addr", "ADDR", "-db", ledger)
			}},
			{emptyRow, func() (*process.Process, error) { return r.StartShoal(ctx, empty) }},
			{largeRow, func() (*process.Process, error) { return r.StartShoal(ctx, r.large) }},
		} {
			if s.name == natsStart && stream == "" {
				continue
			}
			p, err := s.start()
			if err != nil {
				return err
			}
			load.Pause(ctx, startPSS)
			used, err := process.Memory(p.PID())
			p.Stop()
			if err != nil {
				return err
			}
			if round > 0 {
				t.Row(s.name).Add(startMs, float64(p.Ready.Microseconds())/1e3)
				t.Row(s.name).Add(restMiB, used/(1<<20))
			}
		}
	}
	r.Report.AtMost(150, "ms", t.Row(largeRow).Value(startMs), t.Title+", "+largeRow)
	r.Report.TargetAtMost(2, "× nats-server", t.Ratio(startMs, largeRow, natsStart), t.Title+", "+largeRow)
	if info, err := os.Stat(r.Shoal); err == nil {
		r.Report.AtMost(80, "MB", float64(info.Size())/1e6, "Size of the binary that `make build` builds")
	}
	return nil
}
