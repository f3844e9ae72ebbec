package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/bench/compare/harness"
	"github.com/shoal-dev/shoal/bench/compare/mock"
)

// A cost is that of a long turn less that of a short one, divided by what it has more.
var measured = []struct {
	name        string
	long, short string // questions
	more        float64
	turns       int
	tools       int64 // that the long turn executes
}{
	{"a delta", "deltas 5001", "deltas 1", 5000, 6, 0},
	{"a tool step", "steps 16", "steps 0", 16, 12, 16},
}

type cell struct{ cpu, allocs []float64 }

// costs prints what a delta and a tool step cost: the processor time as a ratio to that of the
// first library in the same round, medians of all rounds.
func costs(ctx context.Context, out io.Writer, model *mock.Server, rounds int) error {
	cells := make([][]cell, len(libraries))
	for i := range cells {
		cells[i] = make([]cell, len(measured))
	}
	for range rounds {
		for i, l := range libraries {
			for j, m := range measured {
				long, err := l.cost(ctx, model, m.long, m.turns)
				if err == nil && long.Tools != m.tools {
					err = fmt.Errorf("%s, %s: %d tools ran", l.name, m.long, long.Tools)
				}
				if err != nil {
					return err
				}
				short, err := l.cost(ctx, model, m.short, m.turns)
				if err != nil {
					return err
				}
				c := &cells[i][j]
				c.cpu = append(c.cpu, float64(long.CPU-short.CPU)/m.more)
				c.allocs = append(c.allocs, (long.Allocs-short.Allocs)/m.more)
			}
		}
	}
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d rounds; load of the machine at the end: %s\n\n", rounds, strings.Join(strings.Fields(string(load))[:3], " "))
	titles := []string{""}
	for _, m := range measured {
		titles = append(titles, m.name+", CPU ÷ Shoal", "µs", "allocations")
	}
	head(out, titles...)
	for i, l := range libraries {
		line := []string{l.name}
		for j := range measured {
			c, first := cells[i][j], cells[base(i)][j]
			ratios := make([]float64, rounds)
			for r := range ratios {
				ratios[r] = c.cpu[r] / first.cpu[r]
			}
			line = append(line, fmt.Sprintf("%.1f", median(ratios)), fmt.Sprintf("%.2f", median(c.cpu)/1e3), fmt.Sprintf("%.1f", median(c.allocs)))
		}
		row(out, line...)
	}
	return nil
}

func (l *library) cost(ctx context.Context, model *mock.Server, question string, turns int) (c harness.Cost, err error) {
	defer model.Take()
	cmd := exec.CommandContext(ctx, l.program, "-url", model.URL, "-turns", fmt.Sprint(turns), question)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	text, err := cmd.Output()
	if err != nil {
		return c, fmt.Errorf("%s, %s: %w\n%s", l.name, question, err, &problem)
	}
	return c, json.Unmarshal(last(text), &c)
}

// last returns the last line of an output; libraries print others before it.
func last(text []byte) []byte {
	text = bytes.TrimSpace(text)
	return text[bytes.LastIndexByte(text, '\n')+1:]
}

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}
