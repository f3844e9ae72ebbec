package main

import (
	"context"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal/internal/compose"
)

// arguments measures the cost of a delta of a long tool argument. The cost must not grow
// with the length of the preceding deltas.
func (r *run) arguments(ctx context.Context) error {
	model, err := r.startPlayedModel(ctx)
	if err != nil {
		return err
	}
	defer model.stop()
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
				r.log.Printf("%s: %v", reader.name, err)
			}
		}
	}()
	ourRow := func(kb int) string { return fmt.Sprintf("%s, %s KB", agentReader, thousands(kb)) }
	theirRow := func(kb int) string { return fmt.Sprintf("%s, %s KB", aiUIRow, thousands(kb)) }
	composeRow := func(kb int) string { return fmt.Sprintf("compose.Reader alone, %s KB", thousands(kb)) }
	t := r.report.add(&table{
		title: fmt.Sprintf("One tool argument in deltas of %d B", toolDelta),
		note: "The turn streams the argument, runs the tool with it and calls the model again. Shoal emits the pieces and parses the argument once, when it is complete; " +
			"compose.Reader turns the argument of sendSpaceMessage into the text that streams into a space. " +
			"readUIMessageStream shows the partial argument and parses it again for each delta, so its 100 KB are measured once. " + aiVersions(ctx) + ".",
		ratios: []ratio{
			{cpuNs, ourRow(10), "CPU ÷ Shoal at 10 KB"},
			{cpuNs, theirRow(10), "CPU ÷ AI SDK at 10 KB"},
			{cpuNs, composeRow(10), "CPU ÷ compose.Reader at 10 KB"},
			{allocatedCol, ourRow(10), "allocated ÷ Shoal at 10 KB"},
		},
		shown: []string{deltasCol, cpuNs, allocatedCol},
	})
	for round := range r.rounds + 1 {
		for _, kb := range []int{10, 100, 1000} {
			p := played{tool: true, deltas: kb * 1000 / toolDelta}
			if err := ours.into(t.row(ourRow(kb)), p, round > 0); err != nil {
				return err
			}
		}
		for _, kb := range []int{10, 100, 1000} {
			readArgument(t.row(composeRow(kb)), played{tool: true, deltas: kb * 1000 / toolDelta}, round > 0)
		}
		for _, kb := range []int{10, 100} {
			if theirs == nil || (kb > 10 && round != 1) {
				continue
			}
			if err := theirs.into(t.row(theirRow(kb)), played{tool: true, deltas: kb * 1000 / toolDelta}, round > 0); err != nil {
				return err
			}
		}
	}
	for _, kb := range []int{100, 1000} {
		what := fmt.Sprintf("%s, %s KB, ", t.title, thousands(kb))
		r.report.atMost(1.2, "× 10 KB", t.ratio(cpuNs, ourRow(kb), ourRow(10)), what+"CPU of a delta")
		r.report.atMost(1.2, "× 10 KB", t.ratio(allocatedCol, ourRow(kb), ourRow(10)), what+"bytes allocated for a delta")
	}
	for _, kb := range []int{100, 1000} {
		what := fmt.Sprintf("%s, %s KB, ", t.title, thousands(kb))
		r.report.atMost(1.2, "× 10 KB", t.ratio(cpuNs, composeRow(kb), composeRow(10)), what+"CPU of a delta in compose.Reader")
		r.report.atLeast(5e6, deltasCol, t.row(composeRow(kb)).value(deltasCol), what+"compose.Reader")
	}
	return nil
}

// readArgument reads an argument repeatedly in this process for 200 ms, which is long
// enough for the resolution of the CPU time.
func readArgument(into *row, p played, counts bool) {
	pieces := make([]string, p.deltas)
	for i := range pieces {
		pieces[i] = p.delta(i)
	}
	used, began, deltas := ownCPU(), time.Now(), 0
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
	took, cpu := time.Since(began), ownCPU()-used
	if counts {
		into.add(deltasCol, float64(deltas)/took.Seconds())
		into.cpu, into.ops = into.cpu+cpu, into.ops+float64(deltas)
	}
}
