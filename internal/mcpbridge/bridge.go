// Package mcpbridge connects a program that speaks MCP over its standard input
// and output to a Shoal server, which speaks it over HTTP.
//
//	err := mcpbridge.Run(ctx, mcpbridge.Options{URL: "http://127.0.0.1:7462", Key: key, Stdin: os.Stdin, Stdout: os.Stdout})
//
// Guarantees:
//   - Standard output carries protocol messages and nothing else, one in a line,
//     each written whole.
//   - Every request gets exactly one answer, unless the client cancelled it:
//     that of the server, or an error that says what to do when the server does
//     not answer. The next request tries again, so a restart of the server
//     breaks nothing; a stream of notifications is opened anew, with its
//     subscriptions.
//   - When the client cancels a request or closes its output, the HTTP request
//     ends, and with it the wait that it held on the server.
//   - Both eras of the protocol pass through; the bridge adds the headers that
//     HTTP wants and keeps the session that the older one has.
package mcpbridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Options say what is connected with what. URL, Stdin and Stdout are required.
type Options struct {
	// URL is the server's, without /mcp.
	URL string
	// Key proves who calls; As and Session name the actor for an admin's key.
	Key     string
	As      string
	Session string
	Stdin   io.Reader
	Stdout  io.Writer
	// HTTP calls the server; nil is a client without time-out.
	HTTP *http.Client
}

// Bounds of the bridge.
const (
	maxMessage = 4 << 20 // the server takes no larger one
	maxOpen    = 64      // requests at the same time; further ones wait their turn
)

// errDone ends what is open when the client has closed its output.
var errDone = errors.New("the client has gone")

// Run carries messages both ways until Stdin ends, which is no error, or ctx
// does. It returns when all that it started has ended; a Stdin that never ends
// holds only the goroutine that reads it.
func Run(ctx context.Context, o Options) error {
	if o.HTTP == nil {
		o.HTTP = &http.Client{}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	b := &bridge{Options: o, open: map[string]context.CancelCauseFunc{}, subscribed: map[string]message{}, slots: make(chan struct{}, maxOpen)}
	defer b.running.Wait()
	defer cancel(errDone)
	lines := make(chan []byte)
	readErr := make(chan error, 1)
	go func() { readErr <- b.read(ctx, lines) }() // blocks in Stdin, which nobody can interrupt
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-readErr:
			return err
		case line := <-lines:
			b.take(ctx, line)
		}
	}
}

type bridge struct {
	Options
	running sync.WaitGroup
	slots   chan struct{}

	writing sync.Mutex // guards Stdout

	mu         sync.Mutex
	session    string // Mcp-Session-Id of the older era
	version    string // what initialize agreed upon
	hello      message
	streaming  bool
	open       map[string]context.CancelCauseFunc // by request id
	subscribed map[string]message                 // by resource
}

// message is a line with what the bridge needs to know of it.
type message struct {
	raw    []byte
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name            string          `json:"name"`
		URI             string          `json:"uri"`
		RequestID       json.RawMessage `json:"requestId"`
		ProtocolVersion string          `json:"protocolVersion"`
		Meta            struct {
			ProtocolVersion string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
}

func (m message) isRequest() bool { return m.Method != "" && len(m.ID) > 0 && string(m.ID) != "null" }

// read splits Stdin into lines.
func (b *bridge) read(ctx context.Context, lines chan<- []byte) error {
	in := bufio.NewReaderSize(b.Stdin, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			select {
			case lines <- line:
			case <-ctx.Done():
				return nil
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read from the client: %w", err)
		}
	}
}

// take passes one message on. Requests run beside each other; what has no
// answer, and initialize, on which the others build, are passed in order.
func (b *bridge) take(ctx context.Context, line []byte) {
	m := message{raw: line}
	if len(line) > maxMessage {
		b.fail(m, -32600, fmt.Sprintf("A message of %d bytes is too large; at most %d are allowed.", len(line), maxMessage))
		return
	}
	if err := json.Unmarshal(line, &m); err != nil && !json.Valid(line) {
		b.fail(m, -32700, "The line is not JSON; send one JSON-RPC message in each line.")
		return
	}
	switch {
	case m.Method == "notifications/cancelled":
		b.cancel(m.Params.RequestID)
		b.pass(ctx, m)
	case m.Method == "initialize":
		b.mu.Lock()
		b.hello, b.session, b.version = m, "", m.Params.ProtocolVersion
		b.mu.Unlock()
		b.pass(ctx, m)
	case !m.isRequest():
		b.pass(ctx, m)
		if m.Method == "notifications/initialized" {
			b.listen(ctx)
		}
	default:
		b.start(ctx, m)
	}
}

// start passes a request on beside others.
func (b *bridge) start(ctx context.Context, m message) {
	select {
	case b.slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	id := string(m.ID)
	b.mu.Lock()
	b.open[id] = cancel
	switch m.Method {
	case "resources/subscribe":
		b.subscribed[m.Params.URI] = m
	case "resources/unsubscribe":
		delete(b.subscribed, m.Params.URI)
	}
	b.mu.Unlock()
	b.running.Go(func() {
		defer func() {
			b.mu.Lock()
			delete(b.open, id)
			b.mu.Unlock()
			cancel(nil)
			<-b.slots
		}()
		b.pass(ctx, m)
	})
}

// cancel ends an open request; it gets no answer any more.
func (b *bridge) cancel(id json.RawMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if end := b.open[string(id)]; end != nil {
		end(errDone)
	}
}

// write puts one message on a line of Stdout. A client that has closed its
// input ends soon; until then there is nobody to tell.
func (b *bridge) write(message []byte) {
	var line bytes.Buffer
	if json.Compact(&line, message) != nil {
		return // not JSON: nothing that a client could read
	}
	line.WriteByte('\n')
	b.writing.Lock()
	defer b.writing.Unlock()
	_, _ = b.Stdout.Write(line.Bytes())
}

// fail answers a request with an error; what is no request has no answer.
func (b *bridge) fail(m message, code int, sentence string) {
	id := m.ID
	if len(id) == 0 {
		if m.Method != "" {
			return
		}
		id = json.RawMessage("null")
	}
	answer, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": sentence},
	})
	if err == nil {
		b.write(answer)
	}
}
