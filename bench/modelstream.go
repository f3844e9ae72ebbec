package main

import (
	"context"
	"errors"
	"fmt"
)

const (
	deltasCol    = "deltas/s"
	allocatedCol = "B allocated"

	readTime    = 0.4 // seconds of a round
	parseDeltas = 10_000
)

// parses measures the speed of reading the stream of a model: without decoding it, with
// encoding/json, with Shoal, and with other SDKs.
func (r *run) parses(ctx context.Context) error {
	model, err := r.startPlayedModel(ctx)
	if err != nil {
		return err
	}
	defer model.stop()
	all, done, err := r.startReaders(ctx, model)
	if err != nil {
		return err
	}
	defer done()
	for _, p := range []played{{deltas: parseDeltas}, {tool: true, deltas: parseDeltas}} {
		t := r.report.add(&table{
			title: fmt.Sprintf("Parsing a model stream, text, %s deltas of %d B", thousands(p.deltas), textDelta),
			note: "An OpenAI chat completions stream over HTTP from another process, sent without pauses; CPU is that of the reading process only. " +
				"agent.Stream and the Vercel AI SDK (" + aiVersions(ctx) + ") run a complete turn. The stream of openai-go is only read.",
			ratios: []ratio{
				{deltasCol, jsonReader, "deltas/s ÷ encoding/json"},
				{deltasCol, openaiRow, "deltas/s ÷ openai-go"},
				{deltasCol, aiRow, "deltas/s ÷ AI SDK"},
				{cpuNs, bareReader, "CPU ÷ raw read"},
				{cpuNs, openaiRow, "CPU ÷ openai-go"},
				{cpuNs, aiRow, "CPU ÷ AI SDK"},
			},
			shown: []string{deltasCol, cpuNs},
		})
		if p.tool {
			t.title = fmt.Sprintf("Parsing a model stream, tool arguments, %s deltas of %d B", thousands(p.deltas), toolDelta)
			t.note += " Both turns run the tool and call the model again."
		}
		for round := range r.rounds + 1 {
			for _, reader := range all {
				if err := reader.into(t.row(reader.name), p, round > 0); err != nil {
					return err
				}
			}
		}
		r.report.atLeast(parseLeast, "× encoding/json", t.ratio(deltasCol, agentReader, jsonReader), t.title+", agent.Stream, deltas/s")
		r.report.atLeast(parseLeastPeer, "× openai-go", t.ratio(deltasCol, agentReader, openaiRow), t.title+", agent.Stream, deltas/s").withTarget(parseTargetPeer)
		r.report.atMost(parseMost, "× AI SDK", t.ratio(cpuNs, agentReader, aiRow), t.title+", agent.Stream, CPU")
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

func (r *run) startPlayedModel(ctx context.Context) (*process, error) {
	return startProcess(ctx, r.self, "model", "-addr", "ADDR")
}

// startReaders starts a process for each reader. done stops them.
func (r *run) startReaders(ctx context.Context, model *process) (all []*readerProcess, done func(), err error) {
	done = func() {
		for _, reader := range all {
			if err := reader.stop(); err != nil {
				r.log.Printf("%s: %v", reader.name, err)
			}
		}
	}
	for _, reader := range readers {
		if !r.wants(reader.name) {
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

func (r *run) startGoReader(ctx context.Context, name string, model *process) (*readerProcess, error) {
	return startReader(ctx, name, r.self, "reader", "-name", name, "-url", model.url())
}

// startOpenAI starts the reader of openai-go. If that fails, it logs the reason and returns
// nil.
func (r *run) startOpenAI(ctx context.Context, model *process) *readerProcess {
	if !r.wants(openaiRow) {
		return nil
	}
	program, err := r.peerProgram(ctx, "openai-go", "./openai")
	var p *readerProcess
	if err == nil {
		p, err = startReader(ctx, openaiRow, program, model.url())
	}
	if err != nil {
		r.log.Print(err)
		return nil
	}
	return p
}

// startAI starts a reader of the Vercel AI SDK. If that fails, it logs the reason and
// returns nil.
func (r *run) startAI(ctx context.Context, name, how string, model *process) *readerProcess {
	if !r.wants(name) {
		return nil
	}
	p, err := startAI(ctx, name, how, model.url())
	if errors.Is(err, errNoNode) {
		r.log.Print(err)
		return nil
	}
	if err != nil {
		r.log.Printf("the rows of the Vercel AI SDK are left out: %v", err)
		return nil
	}
	return p
}

// into runs one round and adds its result to the row if counts is set.
func (p *readerProcess) into(row *row, answer played, counts bool) error {
	found, err := p.read(answer.order(readTime))
	if err != nil || !counts {
		return err
	}
	row.add(deltasCol, found.Deltas/found.Seconds)
	if found.Allocated > 0 {
		row.add(allocatedCol, found.Allocated/found.Deltas)
	}
	row.cpu, row.ops = row.cpu+found.CPU, row.ops+found.Deltas
	return nil
}
