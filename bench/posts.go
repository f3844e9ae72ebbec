package main

import (
	"context"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal/bench/peer"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
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
		t := r.Report.Add(&report.Table{
			Title: fmt.Sprintf("Durable posts, %d senders", senders),
			Note:  "Each sender waits for the response before it sends the next message. The messages mention nobody. PostgreSQL, NATS JetStream and Redis are called directly, without a server in between.",
			Ratios: []report.Ratio{
				{Metric: perSecond, Base: peer.FloorRow, Heading: "posts/s ÷ floor"},
				{Metric: perSecond, Base: peer.SDKRow, Heading: "posts/s ÷ SDK"},
				{Metric: perSecond, Base: peer.TSRow, Heading: "posts/s ÷ TS SDK"},
				{Metric: report.CPUMicros, Base: peer.FloorRow, Heading: "CPU ÷ floor"},
				{Metric: report.CPUMicros, Base: peer.SDKRow, Heading: "CPU ÷ SDK"},
			},
			Shown: []string{perSecond, report.P50, report.P99, report.CPUMicros},
		})
		if senders == 1 {
			t.Title = "Durable posts, one sender"
		}
		if err := r.postTable(ctx, t, senders); err != nil {
			return err
		}
		restLimit, restTarget, mcpLimit, mcpTarget := 0.7, 0.8, 0.85, 0.8
		if senders > 1 {
			restLimit, restTarget, mcpLimit, mcpTarget = 0.6, 0.75, 1, 0.5
		}
		r.Report.AtLeast(restLimit, "× floor", t.Ratio(perSecond, restRow, peer.FloorRow), t.Title+", REST").WithTarget(restTarget)
		r.Report.AtLeast(mcpLimit, "× SDK", t.Ratio(perSecond, mcpRow, peer.SDKRow), t.Title+", MCP")
		r.Report.TargetAtLeast(mcpTarget, "× floor", t.Ratio(perSecond, mcpRow, peer.FloorRow), t.Title+", MCP")
		if senders > 1 {
			r.Report.AtLeast(1, "× PostgreSQL", t.Ratio(perSecond, restRow, peer.PostgresRow), t.Title+", REST")
		}
	}
	return nil
}

func (r *run) postTable(ctx context.Context, t *report.Table, senders int) error {
	sides, done, err := r.sides(ctx, senders)
	if err != nil {
		return err
	}
	defer done()
	for round := range r.Rounds + 1 {
		for _, s := range sides {
			length := postTime
			if round == 0 {
				length = postWarmUp
			}
			before, began := process.CPU(s.Process().PID()), time.Now()
			latencies, err := load.Post(ctx, s, senders, length, 0)
			if err != nil {
				return fmt.Errorf("%s: %w", s.Name(), err)
			}
			took, used := time.Since(began), process.CPU(s.Process().PID())-before
			into := t.Row(s.Name())
			if round == 0 {
				continue
			}
			into.Add(perSecond, float64(len(latencies))/took.Seconds())
			into.AddLatencies(latencies)
			into.AddCPU(used, float64(len(latencies)))
		}
	}
	return nil
}
