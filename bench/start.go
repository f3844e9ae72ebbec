package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

const (
	startMs  = "ms to the first answer"
	restMiB  = "MiB at rest"
	startPSS = 500 * time.Millisecond

	emptyRow = "Shoal, empty database"
)

// starts measures the time from the start of the program to its first answer,
// and its memory at rest.
func (r *run) starts(ctx context.Context) error {
	if err := r.makeLarge(ctx); err != nil {
		return err
	}
	largeRow := fmt.Sprintf("Shoal, %s messages", thousands(r.messages))
	t := r.report.add(&table{
		title:  "Start",
		note:   "From the start of the process to the answer of GET /readyz; memory is the proportional set size half a second later. The databases exist.",
		ratios: []ratio{{startMs, floorRow, "time ÷ floor"}, {restMiB, floorRow, "memory ÷ floor"}}, shown: []string{startMs, restMiB},
	})
	empty, ledger := r.fresh("empty"), r.fresh("floor")+".db"
	for round := range r.rounds + 1 {
		for _, s := range []struct {
			name  string
			begin func() (*process, error)
		}{
			{floorRow, func() (*process, error) { return begin(ctx, r.self, "floor", "-addr", "ADDR", "-db", ledger) }},
			{emptyRow, func() (*process, error) { return r.beginShoal(ctx, empty) }},
			{largeRow, func() (*process, error) { return r.beginShoal(ctx, r.large) }},
		} {
			p, err := s.begin()
			if err != nil {
				return err
			}
			pause(ctx, startPSS)
			used, err := memory(p.pid())
			p.stop()
			if err != nil {
				return err
			}
			if round > 0 {
				t.row(s.name).add(startMs, float64(p.ready.Microseconds())/1e3)
				t.row(s.name).add(restMiB, used/(1<<20))
			}
		}
	}
	r.report.atMost(150, "ms", t.row(largeRow).value(startMs), t.title+", "+largeRow)
	if info, err := os.Stat(r.shoal); err == nil {
		r.report.atMost(80, "MB", float64(info.Size())/1e6, "Size of the program as `make build` makes it")
	}
	return nil
}
