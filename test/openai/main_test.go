// Package openai_test plays conversations between the agents of a whole server and the official
// OpenAI client for JavaScript, unmodified: its accumulator refuses streams that do not fit, and its
// error classes are those that programs catch.
//
// client.mjs is the client from outside; `make setup` installs what it needs.
package openai_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
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
type client struct {
	t     *testing.T
	in    io.WriteCloser
	lines chan []byte
}

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
}

// connect starts the client with a key and more headers.
func connect(t *testing.T, url, key string, headers map[string]string) *client {
	t.Helper()
	more, err := json.Marshal(headers)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program.Node(t), "client.mjs", url+"/openai/v1", key, string(more))
	cmd.WaitDelay = 5 * time.Second
	var notes bytes.Buffer
	cmd.Stderr = &notes
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, in: in, lines: make(chan []byte, 16)}
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(c.lines)
		scan := bufio.NewScanner(out)
		scan.Buffer(nil, 16<<20)
		for scan.Scan() {
			c.lines <- bytes.Clone(scan.Bytes())
		}
	})
	t.Cleanup(func() {
		_ = in.Close() // it may be gone
		reader.Wait()
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil || t.Failed() {
			t.Logf("the client ended with %v; it said:\n%s", err, notes.String())
		}
	})
	return c
}

// send begins a call.
func (c *client) send(order args) {
	c.t.Helper()
	text, err := json.Marshal(order)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(text, '\n')); err != nil {
		c.t.Fatal(err)
	}
}

// next returns the report about a call.
func (c *client) next() (got report) {
	c.t.Helper()
	select {
	case line, more := <-c.lines:
		if !more {
			c.t.Fatal("the client has ended")
		}
		if err := json.Unmarshal(line, &got); err != nil {
			c.t.Fatalf("%s: %v", line, err)
		}
	case <-time.After(patience):
		c.t.Fatalf("the client said nothing for %v", patience)
	}
	return got
}

// chat completes a chat with a model. more are further parameters.
func (c *client) chat(model string, more args, messages ...args) report {
	c.t.Helper()
	parameters := args{"model": model, "messages": messages}
	for name, value := range more {
		parameters[name] = value
	}
	c.send(args{"chat": parameters})
	return c.next()
}

// user is a message of the user.
func user(text string) args { return args{"role": "user", "content": text} }

// assistant is a message of the assistant.
func assistant(text string) args { return args{"role": "assistant", "content": text} }
