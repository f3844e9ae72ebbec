// Package jsonrpc speaks JSON-RPC 2.0 in lines with a coding agent. It exists beside the SDKs of
// single protocols because the order between answers and notifications matters: both are handled
// on the goroutine that reads, in the order of the lines.
package jsonrpc

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/shoal-dev/shoal/internal/harness"
)

// Error is an answer of the other side that refuses a call.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Codes of errors with which a peer refuses.
const (
	MethodNotFound = -32601
	InvalidParams  = -32602
)

// Message is a request or a notification of the other side. ID is nil for a notification.
type Message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

// wireMessage is a line.
type wireMessage struct {
	Version string          `json:"jsonrpc,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Then receives the answer to a call, on the goroutine of Read.
type Then func(result json.RawMessage, err error)

// Peer is one end of a connection.
type Peer struct {
	version string
	handle  func(Message)

	writing sync.Mutex
	out     io.Writer

	mu     sync.Mutex
	last   int
	calls  map[string]Then
	closed bool
}

// New returns a peer that writes to out. handle receives the requests and notifications of the
// other side, on the goroutine of Read. version is "2.0", or empty for a protocol that leaves the
// version out.
func New(out io.Writer, version string, handle func(Message)) *Peer {
	return &Peer{out: out, version: version, handle: handle, calls: map[string]Then{}}
}

// Read reads and handles messages until the input ends, and then fails all open calls. Lines that
// are not messages are skipped: some programs print warnings there.
func (p *Peer) Read(in io.Reader) error {
	err := harness.ReadLines(in, p.receive)
	p.mu.Lock()
	p.closed = true
	open := p.calls
	p.calls = nil
	p.mu.Unlock()
	for _, then := range open {
		then(nil, harness.ErrClosed)
	}
	return err
}

func (p *Peer) receive(line []byte) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  *Error          `json:"error"`
	}
	if json.Unmarshal(line, &m) != nil {
		return
	}
	if string(m.ID) == "null" {
		m.ID = nil
	}
	if m.Method != "" {
		p.handle(Message{ID: m.ID, Method: m.Method, Params: m.Params})
		return
	}
	p.mu.Lock()
	then := p.calls[string(m.ID)]
	delete(p.calls, string(m.ID))
	p.mu.Unlock()
	switch {
	case then == nil:
	case m.Error != nil:
		then(nil, m.Error)
	default:
		then(m.Result, nil)
	}
}

// Go calls a method. It returns as soon as the call is written; then receives the answer. If the
// call cannot be written, then is not called.
func (p *Peer) Go(method string, params any, then Then) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return harness.ErrClosed
	}
	p.last++
	id := fmt.Sprint(p.last)
	p.calls[id] = then
	p.mu.Unlock()
	err := p.write(wireMessage{ID: json.RawMessage(id), Method: method, Params: params})
	if err != nil {
		p.mu.Lock()
		delete(p.calls, id)
		p.mu.Unlock()
	}
	return err
}

// Call calls a method and waits for the answer, which it decodes into result unless that is nil. It
// must not be called on the goroutine of Read.
func (p *Peer) Call(ctx context.Context, method string, params, result any) error {
	answered := make(chan error, 1)
	err := p.Go(method, params, func(raw json.RawMessage, err error) {
		if err == nil && result != nil {
			err = json.Unmarshal(raw, result)
		}
		answered <- err
	})
	if err != nil {
		return err
	}
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Notify sends a notification.
func (p *Peer) Notify(method string, params any) error {
	return p.write(wireMessage{Method: method, Params: params})
}

// Respond answers a request.
func (p *Peer) Respond(id json.RawMessage, result any) error {
	return p.write(wireMessage{ID: id, Result: result})
}

// Refuse answers a request with an error.
func (p *Peer) Refuse(id json.RawMessage, code int, message string) error {
	return p.write(wireMessage{ID: id, Error: &Error{Code: code, Message: message}})
}

func (p *Peer) write(m wireMessage) error {
	m.Version = p.version
	p.writing.Lock()
	defer p.writing.Unlock()
	return harness.WriteLine(p.out, m)
}
