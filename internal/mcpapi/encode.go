package mcpapi

import (
	"bytes"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal/internal/mcpapi/rawjson"
)

// rpcResult is a JSON-RPC answer with the result of a call.
type rpcResult struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  callResult      `json:"result"`
}

// callResult is the result of a tools/call. Type is of the era without sessions, and so is Meta, except for
// results of tasks.
type callResult struct {
	Meta       *resultMeta   `json:"_meta,omitempty"`
	Content    []textContent `json:"content"`
	Structured any           `json:"structuredContent,omitempty"`
	IsError    bool          `json:"isError,omitempty"`
	Type       string        `json:"resultType,omitempty"`
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type resultMeta struct {
	Server *mcp.Implementation `json:"io.modelcontextprotocol/serverInfo,omitempty"`
	Task   *taskID             `json:"io.modelcontextprotocol/related-task,omitempty"`
}

type rpcError struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// buffers are reused: results are encoded into them and written from them.
var buffers = bufferPool{sync.Pool{New: func() any { return new(bytes.Buffer) }}}

type bufferPool struct{ pool sync.Pool }

// maxReused keeps one large answer from holding its memory for ever.
const maxReused = 64 << 10

func (p *bufferPool) get() *bytes.Buffer { return p.pool.Get().(*bytes.Buffer) }

func (p *bufferPool) put(b *bytes.Buffer) {
	if b.Cap() <= maxReused {
		b.Reset()
		p.pool.Put(b)
	}
}

// encode writes the answer to a call into buffer, which holds it until it is put
// back.
func (a *API) encode(buffer *bytes.Buffer, c toolCall, out outcome) ([]byte, error) {
	answer := rpcResult{Version: "2.0", ID: c.id, Result: callResult{Structured: out.structured, IsError: out.failed}}
	for _, text := range out.texts {
		answer.Result.Content = append(answer.Result.Content, textContent{"text", text})
	}
	if c.modern {
		answer.Result.Meta, answer.Result.Type = &resultMeta{Server: a.self}, "complete"
	}
	if c.related != "" {
		answer.Result.Meta = &resultMeta{Task: &taskID{c.related}}
	}
	return rawjson.Marshal(buffer, answer)
}

func errorBody(id []byte, code int64, message string) []byte {
	e := rpcError{Version: "2.0", ID: id}
	e.Error.Code, e.Error.Message = code, message
	body, err := rawjson.Marshal(new(bytes.Buffer), e)
	if err != nil {
		panic(err) // an id that was scanned, and a text
	}
	return body
}

// messageEvent is a JSON-RPC message as a server-sent event. JSON on one line
// needs no care.
func messageEvent(body []byte) []byte {
	event := make([]byte, 0, len(body)+32)
	event = append(event, "event: message\ndata: "...)
	event = append(event, body...)
	return append(event, "\n\n"...)
}

// progressEvent says that a wait goes on.
func progressEvent(token []byte, since time.Duration) []byte {
	body := []byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`)
	body = append(body, token...)
	body = append(body, `,"progress":`...)
	body = strconv.AppendFloat(body, since.Seconds(), 'f', 3, 64)
	return messageEvent(append(body, `,"message":"Still waiting."}}`...))
}
