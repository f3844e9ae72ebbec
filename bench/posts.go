package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	perSecond  = "posts/s"
	postTime   = 800 * time.Millisecond
	postWarmUp = 300 * time.Millisecond
)

// posts measures how many messages a second are stored, sent one after the other
// by one sender or by many.
func (r *run) posts(ctx context.Context) error {
	for _, senders := range []int{1, 64} {
		t := r.report.add(&table{
			title: fmt.Sprintf("Durable posts, %d senders", senders),
			note:  "Each sender waits for the answer before it sends again. Shoal also writes the receiver's inbox entry and the event.",
			ratios: []ratio{
				{perSecond, floorRow, "posts/s ÷ floor"},
				{perSecond, sdkRow, "posts/s ÷ SDK"},
				{cpuCol, floorRow, "CPU ÷ floor"},
				{cpuCol, sdkRow, "CPU ÷ SDK"},
			},
			shown: []string{perSecond, p50, p99, cpuCol},
		})
		if senders == 1 {
			t.title = "Durable posts, one sender"
		}
		if err := r.postTable(ctx, t, senders); err != nil {
			return err
		}
		restLimit, mcpLimit := 0.7, 0.85
		if senders > 1 {
			restLimit, mcpLimit = 0.6, 1
		}
		r.report.atLeast(restLimit, "× floor", t.ratio(perSecond, restRow, floorRow), t.title+", REST")
		r.report.atLeast(mcpLimit, "× SDK", t.ratio(perSecond, mcpRow, sdkRow), t.title+", MCP")
		if senders > 1 {
			r.report.atLeast(1, "× PostgreSQL", t.ratio(perSecond, restRow, postgresRow), t.title+", REST")
		}
	}
	return nil
}

func (r *run) postTable(ctx context.Context, t *table, senders int) error {
	sides, done, err := r.sides(ctx, senders)
	if err != nil {
		return err
	}
	defer done()
	if senders > 1 && r.wants(postgresRow) {
		pg, err := r.beginPostgres(ctx)
		switch {
		case errors.Is(err, errNoPostgres):
			r.log.Print(err)
		case err != nil:
			return err
		default:
			defer pg.process().stop()
			if err := pg.open(ctx, senders); err != nil {
				return err
			}
			sides = append(sides, pg)
		}
	}
	for round := range r.rounds + 1 {
		for _, s := range sides {
			length := postTime
			if round == 0 {
				length = postWarmUp
			}
			before, began := cpu(s.process().pid()), time.Now()
			latencies, err := postRound(ctx, s, senders, length)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name(), err)
			}
			took, used := time.Since(began), cpu(s.process().pid())-before
			into := t.row(s.name())
			if round == 0 {
				continue
			}
			into.add(perSecond, float64(len(latencies))/took.Seconds())
			into.add(p50, percentile(latencies, 50))
			into.add(p99, percentile(latencies, 99))
			into.cpu, into.ops = into.cpu+used, into.ops+float64(len(latencies))
		}
	}
	return nil
}

func postRound(ctx context.Context, s side, senders int, length time.Duration) ([]float64, error) {
	var running sync.WaitGroup
	found, failed := make([][]float64, senders), make([]error, senders)
	ends, message := time.Now().Add(length), text()
	for i := range senders {
		running.Go(func() {
			for began := time.Now(); began.Before(ends) && failed[i] == nil; {
				failed[i] = s.send(ctx, i, message, false)
				now := time.Now()
				found[i] = append(found[i], float64(now.Sub(began).Nanoseconds())/1e3)
				began = now
			}
		})
	}
	running.Wait()
	var all []float64
	for _, f := range found {
		all = append(all, f...)
	}
	return all, errors.Join(failed...)
}
