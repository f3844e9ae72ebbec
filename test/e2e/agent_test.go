package e2e_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
)

// args are the arguments of a tool call.
type args = map[string]any

// toolResult is what a tool call brought.
type toolResult struct {
	Text       string          // the first text
	More       []string        // the others
	Structured json.RawMessage // nil if there is none
	IsError    bool
	CacheScope string // the callers that may share it, if the version has the field
}

func (r *toolResult) add(text string) {
	if r.Text == "" {
		r.Text = text
	} else {
		r.More = append(r.More, text)
	}
}

// outcome is how a call ended: with a result, or as an error of the protocol.
type outcome struct {
	result toolResult
	err    error
}

// call is a call under way.
type call struct {
	tool   string
	done   <-chan outcome
	cancel func()
}

// agent is a connected MCP client, whatever its implementation.
type agent interface {
	// begin sends a call and returns without its answer.
	begin(t *testing.T, tool string, in args) *call
	// hello says with whom it has connected.
	hello() greeting
}

// greeting is what a client learnt when it connected.
type greeting struct {
	Era             string `json:"era"`
	ProtocolVersion string `json:"protocolVersion"`
	SessionID       string `json:"sessionId"`
	Instructions    string `json:"instructions"`
	Tools           []struct {
		Name    string `json:"name"`
		Checked bool   `json:"checked"` // whether results are checked against a schema
	} `json:"tools"`
}

// answer waits for the result of a call. An error of the protocol fails the
// test: by the contract, failures of tools are results.
func (c *call) answer(t *testing.T) toolResult {
	t.Helper()
	select {
	case o := <-c.done:
		if o.err != nil {
			t.Fatalf("%s: the client reports %v", c.tool, o.err)
		}
		return o.result
	case <-time.After(patience):
		t.Fatalf("%s: no answer within %v", c.tool, patience)
	}
	return toolResult{}
}

// do makes a call that must succeed and decodes its structured content into out,
// unless that is nil.
func do(t *testing.T, a agent, tool string, in args, out any) toolResult {
	t.Helper()
	return succeeded(t, a.begin(t, tool, in), out)
}

func succeeded(t *testing.T, c *call, out any) toolResult {
	t.Helper()
	res := c.answer(t)
	if res.IsError {
		t.Fatalf("%s: refused: %s", c.tool, res.Text)
	}
	if out != nil {
		if err := json.Unmarshal(res.Structured, out); err != nil {
			t.Fatalf("%s: structured content: %v in %s", c.tool, err, res.Structured)
		}
	}
	return res
}

// refused makes a call that must fail and returns its text.
func refused(t *testing.T, a agent, tool string, in args) string {
	t.Helper()
	res := a.begin(t, tool, in).answer(t)
	if !res.IsError {
		t.Fatalf("%s: not refused, but answered %s", tool, res.Text)
	}
	if res.Structured != nil {
		t.Errorf("%s: a refusal with structured content %s", tool, res.Structured)
	}
	return res.Text
}

// client is one way to connect.
type client struct {
	name    string
	connect func(t *testing.T, s *server, name shoal.EntityID, key string) agent
	era     string // legacy or modern, as SDK 2 calls them
}

// The ways of the TypeScript SDKs.
var (
	ts1HTTP     = client{"ts1-http", viaNode("/mcp", "--sdk", "1", "--transport", "http"), "legacy"}
	ts1SSE      = client{"ts1-sse", viaNode("/sse", "--sdk", "1", "--transport", "sse"), "legacy"}
	ts1Stdio    = client{"ts1-stdio", viaBridge("--sdk", "1"), "legacy"}
	ts2Session  = client{"ts2-session", viaNode("/mcp", "--sdk", "2", "--transport", "http"), "legacy"}
	ts2Modern   = client{"ts2-2026-07-28", viaNode("/mcp", "--sdk", "2", "--transport", "http", "--era", "2026-07-28"), "modern"}
	ts2Auto     = client{"ts2-auto", viaNode("/mcp", "--sdk", "2", "--transport", "http", "--era", "auto"), "modern"}
	ts1Progress = client{"ts1-progress", viaNode("/mcp", "--sdk", "1", "--transport", "http", "--progress"), "legacy"}
	ts2Progress = client{"ts2-progress", viaNode("/mcp", "--sdk", "2", "--transport", "http", "--era", "2026-07-28", "--progress"), "modern"}
	ts2SSE      = client{"ts2-sse", viaNode("/sse", "--sdk", "2", "--transport", "sse"), "legacy"}
	ts2Stdio    = client{"ts2-stdio", viaBridge("--sdk", "2", "--era", "2026-07-28"), "modern"}
)

// The ways of the Go SDK, and plain HTTP beside it, for waiting only.
var (
	goModern  = client{"go-2026-07-28", viaGo("2026-07-28"), "modern"}
	goSession = client{"go-2025-06-18", viaGo("2025-06-18"), "legacy"}
	goSSE     = client{"go-sse", viaGoSSE, "legacy"}
	overREST  = client{"rest", viaREST, ""}
)

// viaNode connects with agent.mjs over HTTP.
func viaNode(path string, options ...string) func(*testing.T, *server, shoal.EntityID, string) agent {
	return func(t *testing.T, s *server, name shoal.EntityID, key string) agent {
		t.Helper()
		return nodeAgentOf(t, nil, append(options, "--name", string(name), "--url", s.url+path, "--key", key)...)
	}
}

// viaBridge connects with agent.mjs over the standard input and output of
// `shoal mcp`.
func viaBridge(options ...string) func(*testing.T, *server, shoal.EntityID, string) agent {
	return func(t *testing.T, s *server, name shoal.EntityID, key string) agent {
		t.Helper()
		env := []string{"SHOAL_URL=" + s.url, "SHOAL_KEY=" + key, "SHOAL_DATA=" + s.data}
		return nodeAgentOf(t, env, append(options, "--name", string(name), "--transport", "stdio", "--", shoalBinary.Path(), "mcp")...)
	}
}
