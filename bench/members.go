package main

import (
	"context"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

const (
	membersTime = time.Second
	kibWritten  = "KiB written"
)

// memberCounts are the sizes of the spaces that posts are compared in.
var memberCounts = []int{2, 100, 1000, shoal.MaxMembers}

func membersRow(n int) string { return "a space of " + report.Thousands(n) + " members" }

// members compares posts into spaces of different sizes.
func (r *run) members(ctx context.Context) error {
	p, err := r.startNewShoal(ctx)
	if err != nil {
		return err
	}
	defer p.Stop()
	w, err := newWorld(ctx, p, shoal.MaxMembers)
	if err != nil {
		return err
	}
	for _, n := range memberCounts {
		if err := w.Room(ctx, load.SpaceID(n), 0, n); err != nil {
			return err
		}
	}
	t := r.Report.Add(&report.Table{
		Title: "Durable posts, by the members of the space",
		Note:  "One sender posts over REST and waits for the response before it sends the next message, which mentions nobody. The spaces are in one server and take turns. Written is what the server wrote to the disk for one post, with its share of the checkpoints.",
		Ratios: []report.Ratio{
			{Metric: report.P50, Base: membersRow(2), Heading: "p50 ÷ 2 members"},
			{Metric: report.CPUMicros, Base: membersRow(2), Heading: "CPU ÷ 2 members"},
		},
		Shown: []string{perSecond, report.P50, report.P99, report.CPUMicros, kibWritten},
	})
	rest := load.RESTOf(load.NewWire(p.URL()), w, 0)
	defer rest.Close()
	for round := range r.Rounds + 1 {
		for _, n := range memberCounts {
			if err := postInto(ctx, p, rest, load.SpaceID(n), t.Row(membersRow(n)), round > 0); err != nil {
				return err
			}
		}
	}
	r.Report.AtMost(1.3, "× 2 members", t.Ratio(report.P50, membersRow(1000), membersRow(2)), t.Title+", p50 at 1,000")
	r.Report.TargetAtMost(1.3, "× 2 members", t.Ratio(report.P50, membersRow(shoal.MaxMembers), membersRow(2)), t.Title+", p50 at 10,000")
	r.Report.TargetAtMost(1.3, "× 2 members", t.Row(membersRow(shoal.MaxMembers)).Value(kibWritten)/t.Row(membersRow(2)).Value(kibWritten), t.Title+", written at 10,000")
	return nil
}

// postInto posts into one space for a while.
func postInto(ctx context.Context, p *process.Process, rest *load.REST, space shoal.SpaceID, into *report.Row, keep bool) error {
	written, err := process.Written(p.PID())
	if err != nil {
		return err
	}
	used, began := process.CPU(p.PID()), time.Now()
	text := load.Text()
	took, err := load.Repeat(1, membersTime, 0, func(int) error { return rest.PostTo(ctx, 0, space, text, []shoal.EntityID{}) })
	if err != nil {
		return fmt.Errorf("%s: %w", space, err)
	}
	length, spent := time.Since(began), process.CPU(p.PID())-used
	after, err := process.Written(p.PID())
	if err != nil || !keep {
		return err
	}
	into.Add(perSecond, float64(len(took))/length.Seconds())
	into.AddLatencies(took)
	into.AddCPU(spent, float64(len(took)))
	into.Add(kibWritten, (after-written)/1024/float64(len(took)))
	return nil
}
