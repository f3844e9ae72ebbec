package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Of every round of a wake-up table.
const (
	wakeGap   = 10 * time.Millisecond // lets the waiter block again
	wakeTimes = 40
)

var bothRatios = []ratio{
	{p50, floorRow, "p50 ÷ floor"}, {p50, sdkRow, "p50 ÷ SDK"}, {cpuCol, floorRow, "CPU ÷ floor"}, {cpuCol, sdkRow, "CPU ÷ SDK"},
}

// wakes measures how long it takes from the moment that A sends a message that
// mentions B to the moment that B's wait returns with it.
func (r *run) wakes(ctx context.Context) error {
	for _, pairs := range []int{1, 32} {
		t := r.report.add(&table{
			title: fmt.Sprintf("Wake-up, %d at once", pairs),
			note: "A's message is stored and B's open wait returns with it. B acknowledges with its next wait, " +
				"which is a durable write of its own in Shoal and nothing at all in the others.",
			ratios: bothRatios, shown: []string{p50, p99, cpuCol},
		})
		if pairs == 1 {
			t.title = "Wake-up, one pair"
		}
		if err := r.wakeTable(ctx, t, pairs); err != nil {
			return err
		}
		restLimit := 1.4
		if pairs > 1 {
			restLimit = 1.5
		}
		r.report.atMost(restLimit, "× floor", t.ratio(p50, restRow, floorRow), t.title+", REST, p50")
		r.report.atMost(1.2, "× SDK", t.ratio(p50, mcpRow, sdkRow), t.title+", MCP, p50")
	}
	return nil
}

func (r *run) wakeTable(ctx context.Context, t *table, pairs int) error {
	sides, done, err := r.sides(ctx, pairs)
	if err != nil {
		return err
	}
	defer done()
	for round := range r.rounds + 1 {
		for _, s := range sides {
			before := cpu(s.process().pid())
			latencies, err := wakeRound(ctx, s, pairs)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name(), err)
			}
			used, into := cpu(s.process().pid())-before, t.row(s.name())
			if round == 0 {
				continue // to warm up
			}
			into.add(p50, percentile(latencies, 50))
			into.add(p99, percentile(latencies, 99))
			into.cpu, into.ops = into.cpu+used, into.ops+float64(len(latencies))
		}
	}
	return nil
}

func wakeRound(ctx context.Context, s side, pairs int) ([]float64, error) {
	var running sync.WaitGroup
	found, failed := make([][]float64, pairs), make([]error, pairs)
	for i := range pairs {
		running.Go(func() {
			pause(ctx, time.Duration(i)*wakeGap/time.Duration(pairs))
			for range wakeTimes {
				took, err := wakeOnce(ctx, s, i)
				if err != nil {
					failed[i] = err
					return
				}
				found[i] = append(found[i], float64(took.Nanoseconds())/1e3)
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

func wakeOnce(ctx context.Context, s side, i int) (time.Duration, error) {
	type woken struct {
		answer []byte
		at     time.Time
		err    error
	}
	done := make(chan woken, 1)
	go func() { // ends with the wait, which ends with ctx
		answer, err := s.wait(ctx, i)
		done <- woken{answer, time.Now(), err}
	}()
	if !pause(ctx, wakeGap) {
		return 0, context.Cause(ctx)
	}
	message := text()
	began := time.Now()
	if err := s.send(ctx, i, message, true); err != nil {
		return 0, err
	}
	w := <-done
	if w.err == nil && !bytes.Contains(w.answer, []byte(message)) {
		w.err = fmt.Errorf("the wait answered without the message: %s", w.answer)
	}
	return w.at.Sub(began), w.err
}
