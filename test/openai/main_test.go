// Package openai_test plays conversations between the agents of a whole server and the official
// OpenAI client for JavaScript, unmodified: its accumulator refuses streams that do not fit, and its
// error classes are those that programs catch.
//
// client.mjs is the client from outside; `make setup` installs what it needs.
package openai_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// patience is how long a test waits for what must come. It only ends a test that
// has failed anyway, so it is long enough for a machine that is busy.
const patience = 40 * time.Second

func TestMain(m *testing.M) {
	if _, err := os.Stat(filepath.Join("node_modules", "openai")); err != nil {
		fmt.Fprintf(os.Stderr, "test/openai: %v; run `make setup`\n", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// client is the official client with one key.
type client struct{ *program.Lines }

// args is a JSON object.
type args = map[string]any

// report is what the client reports about a call.
type report struct {
	Models    []string `json:"models"`
	Text      string   `json:"text"`
	Reasoning string   `json:"reasoning"`
	Pieces    int      `json:"pieces"`
	Calls     []struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"calls"`
	Finish string `json:"finish"`
	Model  string `json:"model"`
	Usage  struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
	Status int `json:"status"`
	Error  struct {
		Name    string `json:"name"`
		Code    string `json:"code"`
		Type    string `json:"type"`
		Param   string `json:"param"`
		Message string `json:"message"`
	} `json:"error"`
	Aborted bool `json:"aborted"`

	// Of a response:
	ID           string   `json:"id"`
	Texts        []string `json:"texts"`
	Conversation string   `json:"conversation"`
	Last         string   `json:"last"`
}

// connect starts the client with a key and more headers.
func connect(t *testing.T, url, key string, headers map[string]string) *client {
	t.Helper()
	more, err := json.Marshal(headers)
	if err != nil {
		t.Fatal(err)
	}
	return &client{program.StartLines(t, program.Node(t), "client.mjs", url+"/openai/v1", key, string(more))}
}

// next returns the report about a call.
func (c *client) next() (got report) {
	c.Next(patience, &got)
	return got
}

// chat completes a chat with a model. more are further parameters.
func (c *client) chat(model string, more args, messages ...args) report {
	c.Send(args{"chat": with(args{"model": model, "messages": messages}, more)})
	return c.next()
}

// respond creates a response of a model to an input. more are further parameters.
func (c *client) respond(model string, more args, input any) report {
	c.Send(args{"respond": with(args{"model": model, "input": input}, more)})
	return c.next()
}

// of retrieves or cancels the response with an id.
func (c *client) of(what, id string) report {
	c.Send(args{what: id})
	return c.next()
}

// user is a message of the user.
func user(text string) args { return args{"role": "user", "content": text} }

// assistant is a message of the assistant.
func assistant(text string) args { return args{"role": "assistant", "content": text} }
