package main

import (
	"context"
	"fmt"

	"github.com/shoal-dev/shoal/bench/peer"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

// wakeTimes is the number of times that each waiter is woken in a round.
const wakeTimes = 40

var bothRatios = []report.Ratio{
	{Metric: report.P50, Base: peer.FloorRow, Heading: "p50 ÷ floor"}, {Metric: report.P50, Base: peer.SDKRow, Heading: "p50 ÷ SDK"}, {Metric: report.P50, Base: peer.TSRow, Heading: "p50 ÷ TS SDK"}, {Metric: report.CPUMicros, Base: peer.FloorRow, Heading: "CPU ÷ floor"}, {Metric: report.CPUMicros, Base: peer.SDKRow, Heading: "CPU ÷ SDK"},
}

// wakes measures the time from the moment A sends a message that mentions B until B's
// wait returns it.
func (r *run) wakes(ctx context.Context) error {
	for _, pairs := range []int{1, 32} {
		t := r.Report.Add(&report.Table{
			Title: fmt.Sprintf("Wake-up, %d at once", pairs),
			Note: "The time from the moment A sends a message until B's open wait returns it; the message is stored first. B acknowledges with its next wait, " +
				"which is another durable write in Shoal and no work in the others. PostgreSQL (INSERT with NOTIFY, LISTEN), NATS JetStream (an acknowledged publish, a push consumer) and Redis (XADD, XREAD BLOCK) are called directly, without a server in between.",
			Ratios: bothRatios, Shown: []string{report.P50, report.P99, report.CPUMicros},
		})
		if pairs == 1 {
			t.Title = "Wake-up, one pair"
		}
		if err := r.wakeTable(ctx, t, pairs); err != nil {
			return err
		}
		restLimit, mcpTarget := 1.4, 1.2
		if pairs > 1 {
			restLimit, mcpTarget = 1.5, 1.3
		}
		r.Report.AtMost(restLimit, "× floor", t.Ratio(report.P50, restRow, peer.FloorRow), t.Title+", REST, p50")
		r.Report.AtMost(1.2, "× SDK", t.Ratio(report.P50, mcpRow, peer.SDKRow), t.Title+", MCP, p50")
		r.Report.TargetAtMost(mcpTarget, "× floor", t.Ratio(report.P50, mcpRow, peer.FloorRow), t.Title+", MCP, p50")
		if pairs == 1 {
			r.Report.AtMost(0.75, "× TS SDK", t.Ratio(report.P50, mcpRow, peer.TSRow), t.Title+", MCP, p50").WithTarget(0.5)
			r.Report.AtMost(25e3, "µs", t.Row(restRow).Value(report.P99), t.Title+", REST, p99").WithTarget(10e3)
		} else {
			r.Report.TargetAtMost(0.4, "× SDK", t.Ratio(report.CPUMicros, mcpRow, peer.SDKRow), t.Title+", MCP, CPU")
		}
	}
	return nil
}

func (r *run) wakeTable(ctx context.Context, t *report.Table, pairs int) error {
	sides, done, err := r.sides(ctx, pairs)
	if err != nil {
		return err
	}
	defer done()
	for round := range r.Rounds + 1 {
		for _, s := range sides {
			before := process.CPU(s.Process().PID())
			latencies, err := load.Wake(ctx, s, pairs, wakeTimes)
			if err != nil {
				return fmt.Errorf("%s: %w", s.Name(), err)
			}
			used, into := process.CPU(s.Process().PID())-before, t.Row(s.Name())
			if round == 0 {
				continue // warm-up
			}
			into.AddLatencies(latencies)
			into.AddCPU(used, float64(len(latencies)))
		}
	}
	return nil
}
