package models

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os/exec"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
)

const (
	nsCol      = "CPU ns per delta"
	nsAddedCol = "ns added"
	allocsCol  = "allocations"

	loopRow = "Shoal, agent.Stream on chunks in memory"

	benchTime = "150ms"
)

// benchmarked is the result of a Go benchmark for one reader, per delta.
type benchmarked struct {
	Name      string  `json:"name"`
	Tool      bool    `json:"tool"`
	Ns        float64 `json:"ns"`
	Allocs    float64 `json:"allocs"`
	Allocated float64 `json:"allocated"`
}

// Added measures the cost of turning a delta in memory into an event, without a network.
func (r Tables) Added(ctx context.Context) error {
	byTool := map[bool]*report.Table{}
	for _, p := range []played{{deltas: parseDeltas}, {tool: true, deltas: parseDeltas}} {
		t := r.Report.Add(&report.Table{
			Title: "Added to each delta, text",
			Note: "Go benchmarks of the same readers with the same bytes, which an HTTP client returns from memory; ns are CPU time, including garbage collection, and added is the time beyond the raw read. " +
				"The last row is the loop alone: its model yields chunks that were built before.",
			Ratios: []report.Ratio{{Metric: nsCol, Base: bareReader, Heading: "ns ÷ raw read"}, {Metric: nsCol, Base: jsonReader, Heading: "ns ÷ encoding/json"}},
			Shown:  []string{nsCol, nsAddedCol, allocsCol, allocatedCol},
		})
		if p.tool {
			t.Title = "Added to each delta, tool arguments"
		}
		byTool[p.tool] = t
	}
	for round := range r.Rounds + 1 {
		found, err := r.benchmark(ctx)
		if err != nil {
			return err
		}
		bare := map[bool]float64{}
		for _, b := range found {
			if b.Name == bareReader {
				bare[b.Tool] = b.Ns
			}
			if round == 0 {
				continue // warm-up
			}
			row := byTool[b.Tool].Row(b.Name)
			row.Add(nsCol, b.Ns)
			row.Add(nsAddedCol, b.Ns-bare[b.Tool])
			row.Add(allocsCol, b.Allocs)
			row.Add(allocatedCol, b.Allocated)
		}
	}
	for _, tool := range []bool{false, true} {
		t := byTool[tool]
		r.Report.AtMost(200, "ns", t.Row(loopRow).Value(nsCol), t.Title+", the loop alone")
		r.Report.AtMost(2.2, allocsCol, t.Row(agentReader).Value(allocsCol), t.Title+", agent.Stream") // the text, the event, and a share of the turn
	}
	return nil
}

// benchmark runs one round in a process of its own.
func (r Tables) benchmark(ctx context.Context) ([]benchmarked, error) {
	cmd := exec.CommandContext(ctx, r.Self, "added")
	var output bytes.Buffer
	cmd.Stderr = &output
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, output.Bytes())
	}
	var found []benchmarked
	return found, json.Unmarshal(out, &found)
}

// ServeAdded runs the benchmarks and writes the results to out.
func ServeAdded(ctx context.Context, out io.Writer) error {
	testing.Init()
	if err := flag.Set("test.benchtime", benchTime); err != nil {
		return err
	}
	var found []benchmarked
	for _, p := range []played{{deltas: parseDeltas}, {tool: true, deltas: parseDeltas}} {
		from := source{p, "http://played/v1", &http.Client{Transport: inMemory{p.stream(), played{deltas: 1}.stream()}}}
		for _, r := range readers {
			b, err := benchmarkOf(ctx, r.name, p, func() (reader, error) { return r.open(from) })
			if err != nil {
				return err
			}
			found = append(found, b)
		}
		loop, err := benchmarkOf(ctx, loopRow, p, func() (reader, error) {
			model, err := recordOf(ctx, from)
			if err != nil {
				return nil, err
			}
			return agentOn(model, p)
		})
		if err != nil {
			return err
		}
		found = append(found, loop)
	}
	return json.NewEncoder(out).Encode(found)
}

func benchmarkOf(ctx context.Context, name string, p played, open func() (reader, error)) (benchmarked, error) {
	read, err := open()
	if err != nil {
		return benchmarked{}, err
	}
	var used float64
	result := testing.Benchmark(func(b *testing.B) {
		before := process.OwnCPU()
		for b.Loop() {
			if failed := read.readAll(ctx, p); failed != nil {
				err = fmt.Errorf("%s: %w", name, failed)
			}
		}
		used = process.OwnCPU() - before
	})
	each := float64(result.N) * float64(p.deltas)
	return benchmarked{name, p.tool, used * 1e9 / each, float64(result.MemAllocs) / each, float64(result.MemBytes) / each}, err
}

// inMemory is a transport that answers requests like servePlayed, without a network.
type inMemory struct{ first, afterTool []byte }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	stream := m.first
	if bytes.Contains(body, []byte(`"role":"tool"`)) {
		stream = m.afterTool
	}
	return &http.Response{
		StatusCode: http.StatusOK, Request: r, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(bytes.NewReader(stream)),
	}, nil
}

// recorded is a model that yields recorded chunks.
type recorded struct{ first, afterTool []agent.Chunk }

// recordOf records the chunks that the model of from yields.
func recordOf(ctx context.Context, from source) (recorded, error) {
	var m recorded
	messages := []agent.Message{agent.Say("Go on.")}
	keep := func(into *[]agent.Chunk) error {
		for c, err := range from.model().Stream(ctx, &agent.Request{Messages: messages}) {
			if err != nil {
				return err
			}
			*into = append(*into, c)
		}
		return nil
	}
	if err := keep(&m.first); err != nil {
		return m, err
	}
	messages = append(messages,
		agent.Message{Role: agent.Assistant, Parts: []agent.Part{{Type: agent.CallPart, Call: &agent.ToolCall{ID: "call_1", Name: playedTool, Arguments: "{}"}}}},
		agent.Message{Role: agent.ToolRole, Parts: []agent.Part{{Type: agent.ResultPart, Result: &agent.ToolResult{CallID: "call_1", Text: "sent"}}}})
	return m, keep(&m.afterTool)
}

func (m recorded) Info() agent.ModelInfo { return agent.ModelInfo{Provider: "bench", Name: "recorded"} }

func (m recorded) Stream(_ context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	chunks := m.first
	if req.Messages[len(req.Messages)-1].Role == agent.ToolRole {
		chunks = m.afterTool
	}
	return func(yield func(agent.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
}
