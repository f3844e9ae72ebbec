package models

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/openai"
	"github.com/shoal-dev/shoal/bench/process"
)

// The readers of the stream of a model.
const (
	bareReader  = "raw read of the lines"
	jsonReader  = "encoding/json of each event"
	modelReader = "Shoal, provider"
	agentReader = "Shoal, agent.Stream"
)

// source is an answer of the simulated model and the address to request it from.
type source struct {
	played
	base string
	http *http.Client
}

// reader reads one answer. It returns the number of deltas and their total size in bytes.
type reader func(ctx context.Context) (deltas, size int, err error)

// readers lists the readers in Go, each written as a user would write it.
var readers = []struct {
	name string
	open func(source) (reader, error)
}{
	{bareReader, func(s source) (reader, error) { return s.readBare, nil }},
	{jsonReader, func(s source) (reader, error) { return s.readJSON, nil }},
	{modelReader, func(s source) (reader, error) { return s.readModel, nil }},
	{agentReader, func(s source) (reader, error) { return agentOn(s.model(), s.played) }},
}

// lines requests the answer and calls f with the data of each event.
func (s source) lines(ctx context.Context, f func(data []byte) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/chat/completions", strings.NewReader("{}"))
	if err != nil {
		return err
	}
	res, err := s.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	for in := bufio.NewReaderSize(res.Body, 16<<10); ; {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if data, found := bytes.CutPrefix(line, []byte("data: ")); found {
			if err := f(data); err != nil {
				return err
			}
		}
	}
}

// readBare counts the events without decoding them, and returns the expected size.
func (s source) readBare(ctx context.Context) (deltas, size int, err error) {
	err = s.lines(ctx, func([]byte) error { deltas++; return nil })
	return deltas - besideDeltas, s.bytes(), err
}

// readJSON decodes the necessary fields of each event.
func (s source) readJSON(ctx context.Context) (deltas, size int, err error) {
	err = s.lines(ctx, func(data []byte) error {
		if data[0] != '{' {
			return nil
		}
		var event struct {
			Choices []struct {
				Delta struct {
					Content   string `json:"content"`
					ToolCalls []struct {
						Function struct {
							Arguments string `json:"arguments"`
						} `json:"function"`
					} `json:"tool_calls"`
				} `json:"delta"`
			} `json:"choices"`
		}
		if err := json.Unmarshal(data, &event); err != nil {
			return err
		}
		for _, c := range event.Choices {
			text := c.Delta.Content
			for _, call := range c.Delta.ToolCalls {
				text = call.Function.Arguments
			}
			if text != "" {
				deltas++
				size += len(text)
			}
		}
		return nil
	})
	return deltas, size, err
}

func (s source) model() agent.Model {
	return openai.Chat("played", openai.Options{BaseURL: s.base, APIKey: "none", HTTPClient: s.http})
}

func (s source) readModel(ctx context.Context) (deltas, size int, err error) {
	for c, err := range s.model().Stream(ctx, &agent.Request{Messages: []agent.Message{agent.Say("Go on.")}}) {
		if err != nil {
			return 0, 0, err
		}
		if c.Kind == agent.ChunkText || c.Kind == agent.ChunkCallDelta {
			deltas++
			size += len(c.Text)
		}
	}
	return deltas, size, nil
}

// sendTool is the tool that the model calls.
var sendTool = agent.Func(playedTool, "Sends a text.", func(_ context.Context, in struct {
	Text string `json:"text"`
},
) (string, error) {
	return fmt.Sprintf("sent %d bytes", len(in.Text)), nil
})

// agentOn returns a reader that runs a turn in a new conversation. If the answer is a
// tool call, the tool runs and the model is called again.
func agentOn(model agent.Model, p played) (reader, error) {
	a, err := agent.New(model, agent.Options{Tools: []agent.Tool{sendTool}})
	return func(ctx context.Context) (int, int, error) { return runTurn(ctx, a, p) }, err
}

func runTurn(ctx context.Context, a *agent.Agent, p played) (deltas, size int, err error) {
	for event, err := range a.Stream(ctx, agent.NewConversation(), agent.Say("Go on.")) {
		if err != nil {
			return 0, 0, err
		}
		switch e := event.(type) {
		case agent.TextDelta:
			if !p.tool {
				deltas++
				size += len(e.Text)
			}
		case agent.ToolArgsDelta:
			deltas++
			size += len(e.Text)
		case agent.TurnFinished:
			if e.Outcome != agent.Completed {
				return 0, 0, fmt.Errorf("the turn ended as %s, %s: %w", e.Outcome, e.Reason, e.Err)
			}
		}
	}
	return deltas, size, nil
}

// order is a command to a reader's process: read one answer repeatedly, for the given
// number of seconds and at least once. Readers in other languages and modules use the
// same format, so it contains everything they need: where the answer is, and its size.
type order struct {
	Tool    bool    `json:"tool"`
	Path    string  `json:"path"` // below the model's URL
	Deltas  int     `json:"deltas"`
	Bytes   int     `json:"bytes"` // of all deltas together
	Seconds float64 `json:"seconds"`
}

func (p played) order(seconds float64) order {
	return order{Tool: p.tool, Path: p.path(), Deltas: p.deltas, Bytes: p.bytes(), Seconds: seconds}
}

// reading is the result of an order: the resources that the process used.
type reading struct {
	Deltas    float64 `json:"deltas"`
	Seconds   float64 `json:"seconds"`
	CPU       float64 `json:"cpu"`       // seconds, user and system
	Allocated float64 `json:"allocated"` // bytes, 0 if unknown
}

// ServeReader executes orders from standard input until its end.
func ServeReader(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("reader", flag.ContinueOnError)
	name := flags.String("name", agentReader, "the name of the `reader`")
	url := flags.String("url", "", "the `URL` of the model")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for _, r := range readers {
		if r.name == *name {
			return serveOrders(os.Stdin, out, func(o order) (reading, error) {
				p := played{o.Tool, o.Deltas}
				read, err := r.open(source{p, *url + p.path(), http.DefaultClient})
				if err != nil {
					return reading{}, err
				}
				return measureReader(ctx, p, o.Seconds, read)
			})
		}
	}
	return fmt.Errorf("unknown reader %q", *name)
}

func serveOrders(in io.Reader, out io.Writer, do func(order) (reading, error)) error {
	orders, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var o order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		found, err := do(o)
		if err == nil {
			err = answers.Encode(found)
		}
		if err != nil {
			return err
		}
	}
}

// readAll reads one answer and returns an error if deltas or bytes are missing.
func (read reader) readAll(ctx context.Context, p played) error {
	deltas, size, err := read(ctx)
	if err == nil && (deltas != p.deltas || size != p.bytes()) {
		err = fmt.Errorf("got %d deltas with %d bytes, want %d with %d", deltas, size, p.deltas, p.bytes())
	}
	return err
}

// measureReader reads answers for the given number of seconds, at least one.
func measureReader(ctx context.Context, p played, seconds float64, read reader) (found reading, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	used, began := process.OwnCPU(), time.Now()
	for found.Seconds == 0 || found.Seconds < seconds {
		if err := read.readAll(ctx, p); err != nil {
			return found, err
		}
		found.Deltas += float64(p.deltas)
		found.Seconds = time.Since(began).Seconds()
	}
	found.CPU = process.OwnCPU() - used
	runtime.ReadMemStats(&after)
	found.Allocated = float64(after.TotalAlloc - before.TotalAlloc)
	return found, nil
}
