package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
)

// A caller without a valid key does not reach a tool, and its client reports
// why.
func TestClientsWithoutAKeyDoNotConnect(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	const sentence = "unauthenticated: This key is unknown or was revoked. Ask an admin for a new one."
	ways := []struct {
		name    string
		options []string
		told    string // what the client passes on
	}{
		{"ts1-http", []string{"--sdk", "1", "--transport", "http", "--url", s.url + "/mcp"}, sentence},
		{"ts1-sse", []string{"--sdk", "1", "--transport", "sse", "--url", s.url + "/sse"}, "401"},
		{"ts2-session", []string{"--sdk", "2", "--transport", "http", "--url", s.url + "/mcp"}, sentence},
		{"ts2-2026-07-28", []string{"--sdk", "2", "--transport", "http", "--era", "2026-07-28", "--url", s.url + "/mcp"}, "401"},
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			_, err := startNode(t, nil, append(way.options, "--name", "stranger", "--key", "shoal_nobody"))
			if err == nil || !strings.Contains(err.Error(), way.told) {
				t.Errorf("connecting with an invalid key: %v, want %q", err, way.told)
			}
		})
	}
	t.Run("go", func(t *testing.T) {
		t.Parallel()
		transport := &mcp.StreamableClientTransport{Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: withKey("shoal_nobody")}}
		_, err := mcp.NewClient(&mcp.Implementation{Name: "stranger", Version: "1"}, nil).Connect(bounded(t), transport, nil)
		if err == nil || !strings.Contains(err.Error(), "Unauthorized") {
			t.Errorf("connecting with an invalid key: %v", err)
		}
	})
}

// An MCP session proves nothing: with somebody else's, one is still oneself.
func TestForeignMCPSessionGrantsNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	ann := ts1HTTP.connect(t, s, "ann", s.key(t, shoal.DefaultSession, "ann"))
	header := http.Header{
		"Authorization": {"Bearer " + s.key(t, shoal.DefaultSession, "bob")}, "Mcp-Session-Id": {ann.hello().SessionID},
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
	}
	if header.Get("Mcp-Session-Id") == "" {
		t.Fatal("the client has no session that could be taken")
	}
	res := request(t, http.MethodPost, s.url+"/mcp", header,
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"register_agent","arguments":{"agentName":"Mallory"}}}`))
	var got struct {
		Result struct{ StructuredContent shoal.Entity }
	}
	if err := json.Unmarshal(res.body, &got); err != nil || got.Result.StructuredContent.ID != "bob" {
		t.Errorf("with the session of ann and the key of bob one is answered %d %s", res.status, res.body)
	}
	var me shoal.Entity
	if do(t, ann, "register_agent", nil, &me); me.Name != "ann" {
		t.Errorf("ann is called %q now", me.Name)
	}
}

// An agent that is killed while it waits finds what came meanwhile when it is
// started again.
func TestKilledAgentsLoseNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	for _, with := range []client{ts1HTTP, ts1SSE, ts1Stdio, ts2Modern} {
		t.Run(with.name, func(t *testing.T) {
			t.Parallel()
			p := meet(t, s, with)
			p.agent.begin(t, "wait_for_mentions", args{"timeoutMs": 600_000})
			s.untilWaiting(t, shoal.DefaultSession, p.id)
			p.agent.(*nodeAgent).signal(syscall.SIGKILL)
			s.until(t, shoal.DefaultSession, p.id, shoal.Connected)
			p.post("are you there?")
			again := with.connect(t, s, p.id, p.agentKey)
			var got shoal.WaitResult
			do(t, again, "wait_for_mentions", args{"timeoutMs": 0}, &got)
			if diff := cmp.Diff(map[string]int{"are you there?": 1}, texts(got)); diff != "" {
				t.Errorf("the agent that was started again hears (-want +got):\n%s", diff)
			}
		})
	}
}
