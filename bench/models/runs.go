package models

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

const (
	runsAtOnce = 1000
	runsRate   = 30 // deltas/s of each
	runsRounds = 3
	runsWindow = 3 * time.Second

	heapCol       = "KiB heap + stacks"
	residentCol   = "KiB resident"
	goroutinesCol = "goroutines"
	leftCol       = "left"

	paceRow = "the model alone"
)

// streaming is the cost of many concurrent runs to their process.
type streaming struct {
	Heap       float64 `json:"heap"`     // bytes, with stacks, in use after a collection
	Resident   float64 `json:"resident"` // bytes
	Goroutines float64 `json:"goroutines"`
	Deltas     float64 `json:"deltas"` // in the window
	Seconds    float64 `json:"seconds"`
	CPU        float64 `json:"cpu"` // seconds
	Left       float64 `json:"left"`
}

// ManyRuns measures the cost of a run while many of them stream in one process.
func (r Tables) ManyRuns(ctx context.Context) error {
	t := r.Report.Add(&report.Table{
		Title: fmt.Sprintf("%s runs at once, %d deltas/s each", report.Thousands(runsAtOnce), runsRate),
		Note: "In one process, with a model that is a ticker. Memory and goroutines are those that each run adds while all of them stream: heap and stacks in use after a garbage collection, " +
			"and the proportional set size without one. CPU is for one delta; left is the number of goroutines that remain when all runs have ended.",
		Ratios: []report.Ratio{{Metric: report.CPUMicros, Base: paceRow, Heading: "CPU ÷ model"}, {Metric: heapCol, Base: paceRow, Heading: "heap + stacks ÷ model"}},
		Shown:  []string{report.CPUMicros, deltasCol, heapCol, residentCol, goroutinesCol, leftCol},
	})
	for range min(r.Rounds, runsRounds) {
		for _, name := range []string{paceRow, agentReader} {
			found, err := r.streamMany(ctx, name)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			row := t.Row(name)
			row.AddCPU(found.CPU, found.Deltas)
			row.Add(deltasCol, found.Deltas/found.Seconds)
			row.Add(heapCol, found.Heap/1024/runsAtOnce)
			row.Add(residentCol, found.Resident/1024/runsAtOnce)
			row.Add(goroutinesCol, found.Goroutines/runsAtOnce)
			row.Add(leftCol, found.Left)
		}
	}
	ours := t.Row(agentReader)
	r.Report.AtLeast(0.99*runsAtOnce*runsRate, deltasCol, ours.Value(deltasCol), t.Title+", agent.Stream")
	r.Report.AtMost(1, goroutinesCol, ours.Value(goroutinesCol), t.Title+", per run")
	r.Report.AtMost(0, goroutinesCol, ours.Worst(leftCol), t.Title+", leaked")
	return nil
}

// streamMany runs one round in a process of its own.
func (r Tables) streamMany(ctx context.Context, name string) (found streaming, err error) {
	cmd := exec.CommandContext(ctx, r.Self, "runs", "-name", name, "-n", strconv.Itoa(runsAtOnce))
	var output bytes.Buffer
	cmd.Stderr = &output
	out, err := cmd.Output()
	if err != nil {
		return found, fmt.Errorf("%w\n%s", err, output.Bytes())
	}
	return found, json.Unmarshal(out, &found)
}

// streamingRuns are runs that stream in this process.
type streamingRuns struct {
	model  pacing
	agent  *agent.Agent // nil: the model alone
	deltas atomic.Int64
	ended  sync.WaitGroup
	mu     sync.Mutex
	failed error
}

// ServeRuns runs a number of streaming runs, measures them, and writes the result to out.
func ServeRuns(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("runs", flag.ContinueOnError)
	name := flags.String("name", agentReader, "the `row`: '"+paceRow+"' or '"+agentReader+"'")
	n := flags.Int("n", runsAtOnce, "the number of concurrent runs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	c, err := newStreamingRuns(*name)
	if err != nil {
		return err
	}
	found, err := c.measure(ctx, *n)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(found)
}

func newStreamingRuns(name string) (c *streamingRuns, err error) {
	c = &streamingRuns{model: pacing{every: time.Second / runsRate, stop: make(chan struct{})}}
	if name == agentReader {
		c.agent, err = agent.New(&c.model, agent.Options{Tools: []agent.Tool{sendTool}})
	}
	return c, err
}

func (c *streamingRuns) measure(ctx context.Context, n int) (found streaming, err error) {
	heap, goroutines := inUse(), runtime.NumGoroutine()
	resident, err := process.Memory(os.Getpid())
	if err != nil {
		return found, err
	}
	for i := range n {
		c.ended.Go(func() {
			if load.Pause(ctx, time.Duration(i)*c.model.every/time.Duration(n)) {
				c.fail(c.stream(ctx))
			}
		})
	}
	load.Pause(ctx, time.Second) // until all of them stream
	used, before, began := process.OwnCPU(), c.deltas.Load(), time.Now()
	load.Pause(ctx, runsWindow)
	found.CPU, found.Deltas, found.Seconds = process.OwnCPU()-used, float64(c.deltas.Load()-before), time.Since(began).Seconds()
	now, err := process.Memory(os.Getpid())
	if err != nil {
		return found, err
	}
	found.Resident = now - resident
	found.Heap = inUse() - heap
	found.Goroutines = float64(runtime.NumGoroutine() - goroutines)
	close(c.model.stop)
	c.ended.Wait()
	for waited := time.Now(); runtime.NumGoroutine() > goroutines && time.Since(waited) < 5*time.Second; {
		load.Pause(ctx, time.Millisecond) // a goroutine that has called Done may not have ended yet
	}
	found.Left = float64(runtime.NumGoroutine() - goroutines)
	return found, errors.Join(c.failed, ctx.Err())
}

// inUse returns the bytes of the heap and of stacks in use after a garbage collection.
func inUse() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

func (c *streamingRuns) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = errors.Join(c.failed, err)
}

// stream executes one run.
func (c *streamingRuns) stream(ctx context.Context) error {
	if c.agent == nil {
		for chunk, err := range c.model.Stream(ctx, nil) {
			if err != nil {
				return err
			}
			if chunk.Kind == agent.ChunkText {
				c.deltas.Add(1)
			}
		}
		return nil
	}
	for event, err := range c.agent.Stream(ctx, agent.NewConversation(), agent.Say("Go on.")) {
		if err != nil {
			return err
		}
		switch e := event.(type) {
		case agent.TextDelta:
			c.deltas.Add(1)
		case agent.TurnFinished:
			if e.Outcome != agent.Completed {
				return fmt.Errorf("a turn ended as %s, %s: %w", e.Outcome, e.Reason, e.Err)
			}
		}
	}
	return nil
}

// pacing is a model that yields a word at each tick, until it is stopped.
type pacing struct {
	every time.Duration
	stop  chan struct{}
}

func (m *pacing) Info() agent.ModelInfo {
	return agent.ModelInfo{Provider: "bench", Name: "pacing"}
}

func (m *pacing) Stream(ctx context.Context, _ *agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		ticks := time.NewTicker(m.every)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				if !yield(agent.Chunk{Kind: agent.ChunkText, Text: "word "}, nil) {
					return
				}
			case <-m.stop:
				yield(agent.Chunk{Kind: agent.ChunkFinish, Reason: agent.FinishStop}, nil)
				return
			case <-ctx.Done():
				yield(agent.Chunk{}, context.Cause(ctx))
				return
			}
		}
	}
}
