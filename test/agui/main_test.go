// Package agui_test plays conversations between agents and the official AG-UI
// client, HttpAgent of @ag-ui/client: its schemas and its sequence check refuse what
// is wrong, and its reducer decides what a person would see. The agents are served by
// agent/agui, or hosted by a whole server (server_test.go).
//
// client.mjs is the client from outside; `make setup` installs what it needs.
package agui_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/agui"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// patience is how long a test waits for what must come. It only ends a test that
// has failed anyway, so it is long enough for a machine that is busy.
const patience = 40 * time.Second

func TestMain(m *testing.M) {
	if err := prepared(); err != nil {
		fmt.Fprintf(os.Stderr, "test/agui: %v; run `make setup`\n", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// prepared reports whether what the client needs is there.
func prepared() error {
	if _, err := exec.LookPath("node"); err != nil {
		return err
	}
	_, err := os.Stat(filepath.Join("node_modules", "@ag-ui", "client"))
	return err
}

// client is the official client on one thread of an agent.
type client struct {
	*program.Lines
	t *testing.T
}

// order is one run that the client has to start.
type order struct {
	Add     []message      `json:"add,omitempty"`
	Run     map[string]any `json:"run,omitempty"`
	AbortOn string         `json:"abortOn,omitempty"`
	Connect bool           `json:"connect,omitempty"`
}

// message is a message as the client keeps it.
type message struct {
	ID            string          `json:"id"`
	Role          string          `json:"role"`
	Content       string          `json:"content,omitempty"`
	ToolCalls     []toolCall      `json:"toolCalls,omitempty"`
	ToolCallID    string          `json:"toolCallId,omitempty"`
	SubagentRunID string          `json:"subagentRunId,omitempty"`
	Metadata      json.RawMessage `json:"metadata,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// report is the client's report about a run.
type report struct {
	Events     []string         `json:"events"`
	Messages   []message        `json:"messages"`
	Outcome    string           `json:"outcome"`
	Pending    []string         `json:"pending"`
	Interrupts []agui.Interrupt `json:"interrupts"`
	Custom     []agui.Event     `json:"custom"`
	Usage      []agui.Usage     `json:"usage"`
	Error      string           `json:"error"`
	Warnings   []string         `json:"warnings"`
}

// meet serves agents from store and returns the client on a thread of theirs.
func meet(t *testing.T, store agent.Store, build agui.Build) *client {
	t.Helper()
	server := httptest.NewServer(agui.Handler(store, build))
	t.Cleanup(server.Close)
	return connect(t, server.URL)
}

// connect starts the client, on the thread that is called thread. more are headers
// in JSON.
func connect(t *testing.T, url string, more ...string) *client {
	t.Helper()
	return &client{program.StartLines(t, "node", append([]string{"client.mjs", url}, more...)...), t}
}

// run makes the client run once. It must have nothing to complain of.
func (c *client) run(o order) report {
	c.t.Helper()
	c.Send(o)
	return c.next()
}

func (c *client) next() (got report) {
	c.t.Helper()
	c.Next(patience, &got)
	if len(got.Warnings) > 0 {
		c.t.Errorf("the client complains: %q", got.Warnings)
	}
	return got
}

// say makes the client run with a new message of the person.
func (c *client) say(id, text string, run map[string]any) report {
	c.t.Helper()
	return c.run(order{Add: []message{{ID: id, Role: "user", Content: text}}, Run: run})
}

// seen writes the client's messages in short, one in a line.
func (got *report) seen() string {
	var b strings.Builder
	for _, m := range got.Messages {
		b.WriteString(m.Role)
		if m.SubagentRunID != "" {
			b.WriteString("(sub-agent)")
		}
		if m.Content != "" {
			b.WriteString(" " + m.Content)
		}
		for _, call := range m.ToolCalls {
			b.WriteString(" " + call.Function.Name + call.Function.Arguments)
		}
		if len(m.Metadata) > 0 {
			b.WriteString(" " + string(m.Metadata))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// sees compares the messages that the client ends with, and how the run ended.
func (got *report) sees(t *testing.T, outcome, want string) {
	t.Helper()
	if got.Outcome != outcome {
		t.Errorf("the run ended as %q (%s), not %q; its events were %v", got.Outcome, got.Error, outcome, got.Events)
	}
	if seen, want := got.seen(), strings.TrimLeft(want, "\n"); seen != want {
		t.Errorf("the person sees\n%sbut should see\n%s", seen, want)
	}
}
