package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

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
	largeRow := fmt.Sprintf("Shoal, %s messages", thousands(r.messages))
	t := r.report.add(&table{
		title:  "Start",
		note:   "The time from the start of the process to the response of GET /readyz; memory is the proportional set size half a second later. The databases exist already. nats-server is called over its own protocol, and responds when its stream is recovered.",
		ratios: []ratio{{startMs, floorRow, "time ÷ floor"}, {restMiB, floorRow, "memory ÷ floor"}}, shown: []string{startMs, restMiB},
	})
	empty, ledger := r.newPath("empty"), r.newPath("floor")+".db"
	stream, err := r.natsStream(ctx)
	var missing missingError
	if errors.As(err, &missing) {
		r.log.Print(err)
	} else if err != nil {
		return err
	}
	natsStart := fmt.Sprintf("nats-server, a stream of %s messages", thousands(r.messages))
	for round := range r.rounds + 1 {
		for _, s := range []struct {
			name  string
			start func() (*process, error)
		}{
			{natsStart, func() (*process, error) { return r.startNATS(ctx, stream) }},
			{floorRow, func() (*process, error) { return startProcess(ctx, r.self, "floor", "-addr", "ADDR", "-db", ledger) }},
			{emptyRow, func() (*process, error) { return r.startShoal(ctx, empty) }},
			{largeRow, func() (*process, error) { return r.startShoal(ctx, r.large) }},
		} {
			if s.name == natsStart && stream == "" {
				continue
			}
			p, err := s.start()
			if err != nil {
				return err
			}
			load.Pause(ctx, startPSS)
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
	r.report.targetAtMost(2, "× nats-server", t.ratio(startMs, largeRow, natsStart), t.title+", "+largeRow)
	if info, err := os.Stat(r.shoal); err == nil {
		r.report.atMost(80, "MB", float64(info.Size())/1e6, "Size of the binary that `make build` builds")
	}
	return nil
}

// natsStream creates a directory with a stream of as many messages as the large space
// has. It returns a missingError if NATS cannot be built.
func (r *run) natsStream(ctx context.Context) (dir string, err error) {
	dir = r.newPath("nats")
	p, err := r.startNATS(ctx, dir)
	if err != nil {
		return "", err
	}
	defer p.stop()
	c, err := dialNATS(ctx, p.addr)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, c.conn.Close()) }()
	if err := c.makeStream(ctx); err != nil {
		return "", err
	}
	const group = 500 // unacknowledged messages
	for done := 0; done < r.messages; done += group {
		for range group {
			if err := c.publish("log.nobody", pageText); err != nil {
				return "", err
			}
		}
		for range group {
			if _, err := c.receive(ctx); err != nil {
				return "", err
			}
		}
	}
	return dir, nil
}
