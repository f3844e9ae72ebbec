package main

import (
	"context"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal/internal/load"
)

const (
	perSecond  = "posts/s"
	postTime   = 1500 * time.Millisecond
	postWarmUp = 300 * time.Millisecond
)

// posts measures how many messages per second are stored if one sender, or each of many,
// sends them one after the other.
func (r *run) posts(ctx context.Context) error {
	for _, senders := range []int{1, 64} {
		t := r.report.add(&table{
			title: fmt.Sprintf("Durable posts, %d senders", senders),
			note:  "Each sender waits for the response before it sends the next message. Shoal also writes the recipient's inbox entry and the event. PostgreSQL, NATS JetStream and Redis are called directly, without a server in between.",
			ratios: []ratio{
				{perSecond, floorRow, "posts/s ÷ floor"},
				{perSecond, sdkRow, "posts/s ÷ SDK"},
				{perSecond, tsRow, "posts/s ÷ TS SDK"},
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
		restLimit, restTarget, mcpLimit, mcpTarget := 0.7, 0.8, 0.85, 0.8
		if senders > 1 {
			restLimit, restTarget, mcpLimit, mcpTarget = 0.6, 0.75, 1, 0.5
		}
		r.report.atLeast(restLimit, "× floor", t.ratio(perSecond, restRow, floorRow), t.title+", REST").withTarget(restTarget)
		r.report.atLeast(mcpLimit, "× SDK", t.ratio(perSecond, mcpRow, sdkRow), t.title+", MCP")
		r.report.targetAtLeast(mcpTarget, "× floor", t.ratio(perSecond, mcpRow, floorRow), t.title+", MCP")
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
	for round := range r.rounds + 1 {
		for _, s := range sides {
			length := postTime
			if round == 0 {
				length = postWarmUp
			}
			before, began := cpu(s.process().pid()), time.Now()
			latencies, err := load.Post(ctx, s, senders, length, 0)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name(), err)
			}
			took, used := time.Since(began), cpu(s.process().pid())-before
			into := t.row(s.name())
			if round == 0 {
				continue
			}
			into.add(perSecond, float64(len(latencies))/took.Seconds())
			into.add(p50, load.Percentile(latencies, 50))
			into.add(p99, load.Percentile(latencies, 99))
			into.cpu, into.ops = into.cpu+used, into.ops+float64(len(latencies))
		}
	}
	return nil
}
