package main

import (
	"context"
	"fmt"

	"github.com/shoal-dev/shoal/internal/load"
)

// wakeTimes is the number of times that each waiter is woken in a round.
const wakeTimes = 40

var bothRatios = []ratio{
	{p50, floorRow, "p50 ÷ floor"}, {p50, sdkRow, "p50 ÷ SDK"}, {p50, tsRow, "p50 ÷ TS SDK"}, {cpuCol, floorRow, "CPU ÷ floor"}, {cpuCol, sdkRow, "CPU ÷ SDK"},
}

// wakes measures the time from the moment A sends a message that mentions B until B's
// wait returns it.
func (r *run) wakes(ctx context.Context) error {
	for _, pairs := range []int{1, 32} {
		t := r.report.add(&table{
			title: fmt.Sprintf("Wake-up, %d at once", pairs),
			note: "The time from the moment A sends a message until B's open wait returns it; the message is stored first. B acknowledges with its next wait, " +
				"which is another durable write in Shoal and no work in the others. PostgreSQL (INSERT with NOTIFY, LISTEN), NATS JetStream (an acknowledged publish, a push consumer) and Redis (XADD, XREAD BLOCK) are called directly, without a server in between.",
			ratios: bothRatios, shown: []string{p50, p99, cpuCol},
		})
		if pairs == 1 {
			t.title = "Wake-up, one pair"
		}
		if err := r.wakeTable(ctx, t, pairs); err != nil {
			return err
		}
		restLimit, mcpTarget := 1.4, 1.2
		if pairs > 1 {
			restLimit, mcpTarget = 1.5, 1.3
		}
		r.report.atMost(restLimit, "× floor", t.ratio(p50, restRow, floorRow), t.title+", REST, p50")
		r.report.atMost(1.2, "× SDK", t.ratio(p50, mcpRow, sdkRow), t.title+", MCP, p50")
		r.report.targetAtMost(mcpTarget, "× floor", t.ratio(p50, mcpRow, floorRow), t.title+", MCP, p50")
		if pairs == 1 {
			r.report.atMost(0.75, "× TS SDK", t.ratio(p50, mcpRow, tsRow), t.title+", MCP, p50").withTarget(0.5)
			r.report.atMost(25e3, "µs", t.row(restRow).value(p99), t.title+", REST, p99").withTarget(10e3)
		} else {
			r.report.targetAtMost(0.4, "× SDK", t.ratio(cpuCol, mcpRow, sdkRow), t.title+", MCP, CPU")
		}
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
			latencies, err := load.Wake(ctx, s, pairs, wakeTimes)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name(), err)
			}
			used, into := cpu(s.process().pid())-before, t.row(s.name())
			if round == 0 {
				continue // warm-up
			}
			into.add(p50, load.Percentile(latencies, 50))
			into.add(p99, load.Percentile(latencies, 99))
			into.cpu, into.ops = into.cpu+used, into.ops+float64(len(latencies))
		}
	}
	return nil
}
