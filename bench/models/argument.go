package models

import (
	"context"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/compose"
)

// Arguments measures the cost of a delta of a long tool argument. The cost must not grow
// with the length of the preceding deltas.
func (r Tables) Arguments(ctx context.Context) error {
	model, err := StartModel(ctx, r.Self)
	if err != nil {
		return err
	}
	defer model.Stop()
	ours, err := r.startGoReader(ctx, agentReader, model)
	if err != nil {
		return err
	}
	theirs := r.startAI(ctx, aiUIRow, "ui", model)
	defer func() {
		for _, reader := range []*readerProcess{ours, theirs} {
			if reader == nil {
				continue
			}
			if err := reader.stop(); err != nil {
				r.Log.Printf("%s: %v", reader.name, err)
			}
		}
	}()
	ourRow := func(kb int) string { return fmt.Sprintf("%s, %s KB", agentReader, report.Thousands(kb)) }
	theirRow := func(kb int) string { return fmt.Sprintf("%s, %s KB", aiUIRow, report.Thousands(kb)) }
	composeRow := func(kb int) string { return fmt.Sprintf("compose.Reader alone, %s KB", report.Thousands(kb)) }
	t := r.Report.Add(&report.Table{
		Title: fmt.Sprintf("One tool argument in deltas of %d B", toolDelta),
		Note: "The turn streams the argument, runs the tool with it and calls the model again. Shoal emits the pieces and parses the argument once, when it is complete; " +
			"compose.Reader turns the argument of sendSpaceMessage into the text that streams into a space. " +
			"readUIMessageStream shows the partial argument and parses it again for each delta, so its 100 KB are measured once. " + Versions(ctx) + ".",
		Ratios: []report.Ratio{
			{Metric: report.CPUNanos, Base: ourRow(10), Heading: "CPU ÷ Shoal at 10 KB"},
			{Metric: report.CPUNanos, Base: theirRow(10), Heading: "CPU ÷ AI SDK at 10 KB"},
			{Metric: report.CPUNanos, Base: composeRow(10), Heading: "CPU ÷ compose.Reader at 10 KB"},
			{Metric: allocatedCol, Base: ourRow(10), Heading: "allocated ÷ Shoal at 10 KB"},
		},
		Shown: []string{deltasCol, report.CPUNanos, allocatedCol},
	})
	for round := range r.Rounds + 1 {
		for _, kb := range []int{10, 100, 1000} {
			p := played{tool: true, deltas: kb * 1000 / toolDelta}
			if err := ours.into(t.Row(ourRow(kb)), p, round > 0); err != nil {
				return err
			}
		}
		for _, kb := range []int{10, 100, 1000} {
			readArgument(t.Row(composeRow(kb)), played{tool: true, deltas: kb * 1000 / toolDelta}, round > 0)
		}
		for _, kb := range []int{10, 100} {
			if theirs == nil || (kb > 10 && round != 1) {
				continue
			}
			if err := theirs.into(t.Row(theirRow(kb)), played{tool: true, deltas: kb * 1000 / toolDelta}, round > 0); err != nil {
				return err
			}
		}
	}
	for _, kb := range []int{100, 1000} {
		what := fmt.Sprintf("%s, %s KB, ", t.Title, report.Thousands(kb))
		r.Report.AtMost(1.2, "× 10 KB", t.Ratio(report.CPUNanos, ourRow(kb), ourRow(10)), what+"CPU of a delta")
		r.Report.AtMost(1.2, "× 10 KB", t.Ratio(allocatedCol, ourRow(kb), ourRow(10)), what+"bytes allocated for a delta")
	}
	for _, kb := range []int{100, 1000} {
		what := fmt.Sprintf("%s, %s KB, ", t.Title, report.Thousands(kb))
		r.Report.AtMost(1.2, "× 10 KB", t.Ratio(report.CPUNanos, composeRow(kb), composeRow(10)), what+"CPU of a delta in compose.Reader")
		r.Report.AtLeast(5e6, deltasCol, t.Row(composeRow(kb)).Value(deltasCol), what+"compose.Reader")
	}
	return nil
}

// readArgument reads an argument repeatedly in this process for 200 ms, which is long
// enough for the resolution of the CPU time.
func readArgument(into *report.Row, p played, counts bool) {
	pieces := make([]string, p.deltas)
	for i := range pieces {
		pieces[i] = p.delta(i)
	}
	used, began, deltas := process.OwnCPU(), time.Now(), 0
	for time.Since(began) < 200*time.Millisecond {
		reader, text := compose.NewReader(false, compose.Field{Name: "spaceId"}, compose.Field{Name: "text", Stream: true}), 0
		for _, piece := range pieces {
			for _, token := range reader.Feed(piece) {
				text += len(token.Text)
			}
		}
		if reader.Close(); reader.Err() != nil || text == 0 {
			panic(fmt.Sprintf("compose.Reader failed on a valid argument: %v", reader.Err()))
		}
		deltas += p.deltas
	}
	took, cpu := time.Since(began), process.OwnCPU()-used
	if counts {
		into.Add(deltasCol, float64(deltas)/took.Seconds())
		into.AddCPU(cpu, float64(deltas))
	}
}
