package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
)

// withKey sends a key along with every request.
type withKey string

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
}

func viaGo(version string) func(*testing.T, *server, shoal.EntityID, string) agent {
	return func(t *testing.T, s *server, name shoal.EntityID, key string) agent {
		t.Helper()
		transport := &mcp.StreamableClientTransport{Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: withKey(key)}}
		return goAgentOf(t, name, transport, version)
	}
}

func viaGoSSE(t *testing.T, s *server, name shoal.EntityID, key string) agent {
	t.Helper()
	transport := &mcp.SSEClientTransport{Endpoint: s.url + "/sse", HTTPClient: &http.Client{Transport: withKey(key)}}
	return goAgentOf(t, name, transport, "2025-06-18")
}

// goAgent is a client session of the Go SDK.
type goAgent struct{ session *mcp.ClientSession }

func goAgentOf(t *testing.T, name shoal.EntityID, transport mcp.Transport, version string) *goAgent {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: string(name), Version: "1.0.0"}, nil)
	session, err := c.Connect(bounded(t), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("the Go SDK does not connect: %v", err)
	}
	t.Cleanup(func() { _ = session.Close() })
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Errorf("the Go SDK asked for %s and got %s", version, got)
	}
	return &goAgent{session}
}

func (a *goAgent) hello() greeting {
	init := a.session.InitializeResult()
	era := "legacy"
	if init.ProtocolVersion >= "2026-07-28" {
		era = "modern"
	}
	return greeting{Era: era, ProtocolVersion: init.ProtocolVersion, SessionID: a.session.ID(), Instructions: init.Instructions}
}

func (a *goAgent) begin(t *testing.T, tool string, in args) *call {
	t.Helper()
	ctx, cancel := context.WithCancel(bounded(t))
	done := make(chan outcome, 1)
	go func() { // ends with ctx at the latest
		res, err := a.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: in})
		if err != nil {
			done <- outcome{err: err}
			return
		}
		o := outcome{result: toolResult{IsError: res.IsError}}
		for _, c := range res.Content {
			if text, ok := c.(*mcp.TextContent); ok {
				o.result.add(text.Text)
			}
		}
		if res.StructuredContent != nil {
			o.result.Structured, o.err = json.Marshal(res.StructuredContent)
		}
		done <- o
	}()
	return &call{tool, done, cancel}
}

// restAgent waits over the REST API, which accepts the arguments of the tools.
type restAgent struct {
	server *server
	id     shoal.EntityID
	key    string
}

func viaREST(_ *testing.T, s *server, name shoal.EntityID, key string) agent {
	return &restAgent{s, name, key}
}

func (a *restAgent) hello() greeting { return greeting{} }

func (a *restAgent) begin(t *testing.T, tool string, in args) *call {
	t.Helper()
	body := args{"kind": map[string]shoal.WaitKind{"wait_for_mentions": shoal.WaitMentions, "wait_for_messages": shoal.WaitMessages}[tool]}
	maps.Copy(body, in)
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(bounded(t))
	path := a.server.url + "/v1/sessions/default/entities/" + string(a.id) + "/wait"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + a.key}, "Content-Type": {"application/json"}}
	done := make(chan outcome, 1)
	go func() { done <- a.answer(req) }() // ends with ctx at the latest
	return &call{tool, done, cancel}
}

func (a *restAgent) answer(req *http.Request) outcome {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return outcome{err: err}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return outcome{toolResult{Text: string(body), Structured: body, IsError: res.StatusCode != http.StatusOK}, err}
}
