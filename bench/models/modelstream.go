// Package models measures readers of the stream of a model: ones that do less than
// Shoal's agent, the agent, and the SDKs of others.
package models

import (
	"context"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal/bench/driver"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
)

// Tables measures readers of the stream of a model.
type Tables struct{ *driver.Run }

const (
	deltasCol    = "deltas/s"
	allocatedCol = "B allocated"

	readTime    = 0.4 // seconds of a round
	parseDeltas = 10_000
)

// Parse measures the speed of reading the stream of a model: without decoding it, with
// encoding/json, with Shoal, and with other SDKs.
func (r Tables) Parse(ctx context.Context) error {
	model, err := StartModel(ctx, r.Self)
	if err != nil {
		return err
	}
	defer model.Stop()
	all, done, err := r.startReaders(ctx, model)
	if err != nil {
		return err
	}
	defer done()
	for _, p := range []played{{deltas: parseDeltas}, {tool: true, deltas: parseDeltas}} {
		t := r.Report.Add(&report.Table{
			Title: fmt.Sprintf("Parsing a model stream, text, %s deltas of %d B", report.Thousands(p.deltas), textDelta),
			Note: "An OpenAI chat completions stream over HTTP from another process, sent without pauses; CPU is that of the reading process only. " +
				"agent.Stream and the Vercel AI SDK (" + Versions(ctx) + ") run a complete turn. The stream of openai-go is only read.",
			Ratios: []report.Ratio{
				{Metric: deltasCol, Base: jsonReader, Heading: "deltas/s ÷ encoding/json"},
				{Metric: deltasCol, Base: openaiRow, Heading: "deltas/s ÷ openai-go"},
				{Metric: deltasCol, Base: aiRow, Heading: "deltas/s ÷ AI SDK"},
				{Metric: report.CPUNanos, Base: bareReader, Heading: "CPU ÷ raw read"},
				{Metric: report.CPUNanos, Base: openaiRow, Heading: "CPU ÷ openai-go"},
				{Metric: report.CPUNanos, Base: aiRow, Heading: "CPU ÷ AI SDK"},
			},
			Shown: []string{deltasCol, report.CPUNanos},
		})
		if p.tool {
			t.Title = fmt.Sprintf("Parsing a model stream, tool arguments, %s deltas of %d B", report.Thousands(p.deltas), toolDelta)
			t.Note += " Both turns run the tool and call the model again."
		}
		for round := range r.Rounds + 1 {
			for _, reader := range all {
				if err := reader.into(t.Row(reader.name), p, round > 0); err != nil {
					return err
				}
			}
		}
		r.Report.AtLeast(parseLeast, "× encoding/json", t.Ratio(deltasCol, agentReader, jsonReader), t.Title+", agent.Stream, deltas/s")
		r.Report.AtLeast(parseLeastPeer, "× openai-go", t.Ratio(deltasCol, agentReader, openaiRow), t.Title+", agent.Stream, deltas/s").WithTarget(parseTargetPeer)
		r.Report.AtMost(parseMost, "× AI SDK", t.Ratio(report.CPUNanos, agentReader, aiRow), t.Title+", agent.Stream, CPU")
	}
	return nil
}

// Limits and targets of reading a stream.
const (
	parseLeast      = 1.5
	parseLeastPeer  = 1
	parseTargetPeer = 3
	parseMost       = 0.05
)

// StartModel starts the simulated model in a process of its own; program is this command.
func StartModel(ctx context.Context, program string) (*process.Process, error) {
	return process.Start(ctx, program, "model", "-addr", "ADDR")
}

// startReaders starts a process for each reader. done stops them.
func (r Tables) startReaders(ctx context.Context, model *process.Process) (all []*readerProcess, done func(), err error) {
	done = func() {
		for _, reader := range all {
			if err := reader.stop(); err != nil {
				r.Log.Printf("%s: %v", reader.name, err)
			}
		}
	}
	for _, reader := range readers {
		if !r.Wants(reader.name) {
			continue
		}
		p, err := r.startGoReader(ctx, reader.name, model)
		if err != nil {
			done()
			return nil, nil, err
		}
		all = append(all, p)
	}
	if p := r.startOpenAI(ctx, model); p != nil {
		all = append(all, p)
	}
	if p := r.startAI(ctx, aiRow, "full", model); p != nil {
		all = append(all, p)
	}
	return all, done, nil
}

func (r Tables) startGoReader(ctx context.Context, name string, model *process.Process) (*readerProcess, error) {
	return startReader(ctx, name, r.Self, "reader", "-name", name, "-url", model.URL())
}

// startOpenAI starts the reader of openai-go. If that fails, it logs the reason and returns
// nil.
func (r Tables) startOpenAI(ctx context.Context, model *process.Process) *readerProcess {
	if !r.Wants(openaiRow) {
		return nil
	}
	program, err := r.BuildPeer(ctx, "openai-go", "./openai")
	var p *readerProcess
	if err == nil {
		p, err = startReader(ctx, openaiRow, program, model.URL())
	}
	if err != nil {
		r.Log.Print(err)
		return nil
	}
	return p
}

// startAI starts a reader of the Vercel AI SDK. If that fails, it logs the reason and
// returns nil.
func (r Tables) startAI(ctx context.Context, name, how string, model *process.Process) *readerProcess {
	if !r.Wants(name) {
		return nil
	}
	p, err := startAI(ctx, name, how, model.URL())
	if errors.Is(err, process.ErrNoNode) {
		r.Log.Print(err)
		return nil
	}
	if err != nil {
		r.Log.Printf("the rows of the Vercel AI SDK are left out: %v", err)
		return nil
	}
	return p
}

// into runs one round and adds its result to the row if counts is set.
func (p *readerProcess) into(row *report.Row, answer played, counts bool) error {
	found, err := p.read(answer.order(readTime))
	if err != nil || !counts {
		return err
	}
	row.Add(deltasCol, found.Deltas/found.Seconds)
	if found.Allocated > 0 {
		row.Add(allocatedCol, found.Allocated/found.Deltas)
	}
	row.AddCPU(found.CPU, found.Deltas)
	return nil
}
