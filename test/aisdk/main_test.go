// Package aisdk_test plays conversations between the agents of a whole server and the official clients of
// the AI SDK, unmodified: its schemas refuse chunks that do not fit, its reducer decides what a person
// would see, and useChat shows it in Chromium, on a page of another origin, alone and with assistant-ui.
//
// client.mjs is the client in Node, page.jsx and assistant.jsx are those in a browser; `make setup` installs what they need.
package aisdk_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// patience is how long a test waits for what must come. It only ends a test that
// has failed anyway, so it is long enough for a machine that is busy.
const patience = 40 * time.Second

func TestMain(m *testing.M) {
	if _, err := os.Stat(filepath.Join("node_modules", "ai")); err != nil {
		fmt.Fprintf(os.Stderr, "test/aisdk: %v; run `make setup`\n", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// args is a JSON object.
type args = map[string]any

// report is what the client reports about an order.
type report struct {
	Messages   []message `json:"messages"`
	Status     string    `json:"status"`
	Error      string    `json:"error"`
	StatusCode int       `json:"statusCode"`
	Data       []struct {
		Type string         `json:"type"`
		Data map[string]any `json:"data"`
	} `json:"data"`
	Calls  []string `json:"calls"`
	Finish string   `json:"finish"`
	Pieces int      `json:"pieces"`
}

// message is a message as the client has it.
type message struct {
	ID    string `json:"id"`
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

type part struct {
	Type       string          `json:"type"`
	Text       string          `json:"text"`
	State      string          `json:"state"`
	ToolCallID string          `json:"toolCallId"`
	Input      json.RawMessage `json:"input"`
	Output     json.RawMessage `json:"output"`
	ErrorText  string          `json:"errorText"`
	URL        string          `json:"url"`
	Approval   *struct {
		ID       string `json:"id"`
		Approved *bool  `json:"approved"`
	} `json:"approval"`
}

// seen writes the messages in short, one in a line.
func (got *report) seen() string {
	var b strings.Builder
	for _, m := range got.Messages {
		b.WriteString(m.Role)
		for _, p := range m.Parts {
			switch p.Type {
			case "step-start":
				continue
			case "text":
				fmt.Fprintf(&b, " %q", p.Text)
			case "file":
				b.WriteString(" file " + p.URL)
			default:
				fmt.Fprintf(&b, " %s(%s) %s %s%s", strings.TrimPrefix(p.Type, "tool-"), p.Input, p.State, p.Output, p.ErrorText)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// shows compares what the client shows.
func (got *report) shows(t *testing.T, want string) {
	t.Helper()
	if seen, want := got.seen(), strings.TrimLeft(want, "\n"); seen != want || got.Error != "" || got.Status != "ready" {
		t.Errorf("the client is %s (%s) and shows\n%sbut should show\n%s", got.Status, got.Error, seen, want)
	}
}

// ignored returns what the server has named as without effect.
func (got *report) ignored() (all []string) {
	for _, d := range got.Data {
		if d.Type == "data-ignored" {
			all = append(all, fmt.Sprint(d.Data["what"]))
		}
	}
	return all
}

// find returns the last part of a type.
func (got *report) find(t *testing.T, kind string) part {
	t.Helper()
	for i := len(got.Messages) - 1; i >= 0; i-- {
		for k := len(got.Messages[i].Parts) - 1; k >= 0; k-- {
			if p := got.Messages[i].Parts[k]; p.Type == kind {
				return p
			}
		}
	}
	t.Fatalf("the client has no %s:\n%s", kind, got.seen())
	return part{}
}

// client is the official client.
type client struct{ *program.Lines }

func start(t *testing.T) *client {
	t.Helper()
	return &client{program.StartLines(t, program.Node(t), "client.mjs")}
}

// as begins a chat without messages at an address with a key. body is sent with each message.
func (c *client) as(api, key string, body args) {
	c.order(args{"as": args{"api": api, "key": key, "body": body}})
}

// order gives the client an order and returns its report.
func (c *client) order(o args) (got report) {
	c.Send(o)
	c.Next(patience, &got)
	return got
}

// say sends a message of the user.
func (c *client) say(text string) report { return c.order(args{"send": args{"text": text}}) }
