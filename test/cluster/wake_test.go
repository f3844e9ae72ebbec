package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// waited is the end of a wait.
type waited struct {
	result shoal.WaitResult
	err    error
	at     time.Time
}

// waitFunc waits once for mentions.
type waitFunc func(ctx context.Context, timeout time.Duration) (shoal.WaitResult, error)

// overREST waits over REST on one server.
func overREST(t *testing.T, n *node, key string, as shoal.EntityID) waitFunc {
	t.Helper()
	s := n.session(t, key)
	return func(ctx context.Context, timeout time.Duration) (shoal.WaitResult, error) {
		return s.Wait(ctx, as, client.WaitRequest{Timeout: timeout})
	}
}

// withKey sends a key with every request.
type withKey string

// RoundTrip implements [http.RoundTripper].
func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// overMCP waits over MCP on one server, with the official Go SDK.
func overMCP(t *testing.T, n *node, key string, as shoal.EntityID) waitFunc {
	t.Helper()
	transport := &mcp.StreamableClientTransport{Endpoint: n.URL() + "/mcp", HTTPClient: &http.Client{Transport: withKey(key)}}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "waiter", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() }) // the server may be gone
	return func(ctx context.Context, timeout time.Duration) (out shoal.WaitResult, err error) {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "wait_for_mentions", Arguments: map[string]any{"agentId": as, "timeoutMs": timeout.Milliseconds()}})
		if err != nil {
			return out, err
		}
		text, err := json.Marshal(res.StructuredContent)
		if err != nil {
			return out, err
		}
		if res.IsError {
			return out, fmt.Errorf("wait_for_mentions: %s", text)
		}
		return out, json.Unmarshal(text, &out)
	}
}

// open starts a wait, and returns once it is open on the server, besides as many others.
func (n *node) open(ctx context.Context, t *testing.T, wait waitFunc, others int) <-chan waited {
	t.Helper()
	until(t, fmt.Sprintf("%d waits are open on %s", others, n.name), patience, func() bool { return n.waits(t) == others })
	done := make(chan waited, 1)
	go func() { // ends with ctx at the latest
		result, err := wait(ctx, patience)
		done <- waited{result, err, time.Now()}
	}()
	until(t, "the wait opens on "+n.name, patience, func() bool { return n.waits(t) == others+1 })
	return done
}

// A mention that is posted on one server wakes a wait on another, over REST and MCP.
func wakesAcrossServers(t *testing.T, c *cluster) {
	const rounds = 20
	ann, bea := c.newKey(t, "ann", shoal.Human), c.newKey(t, "bea", shoal.Agent)
	c.space(t, "den", "ann", "bea")
	for name, connect := range map[string]func(*testing.T, *node, string, shoal.EntityID) waitFunc{"REST": overREST, "MCP": overMCP} {
		wait := connect(t, c.nodes[1], *bea.Secret, "bea")
		var took []time.Duration
		for i := range rounds {
			done := c.nodes[1].open(t.Context(), t, wait, 0)
			took = append(took, c.wakes(t, done, c.nodes[0], *ann.Secret, "den", "bea", fmt.Sprintf("%s %d", name, i)))
		}
		slices.Sort(took)
		t.Logf("%s: from a post on a to the response of the wait on b: p50 %v, slowest of %d %v", name, took[len(took)/2], rounds, took[len(took)-1])
	}
}

// wakes posts a mention on a server, and returns how long it takes until a wait that is open
// elsewhere returns it. It fails the test above hintLimit.
func (c *cluster) wakes(t *testing.T, done <-chan waited, on *node, key string, space shoal.SpaceID, whom shoal.EntityID, text string) time.Duration {
	t.Helper()
	sent := time.Now()
	if _, err := on.session(t, key).Post(t.Context(), space, say(text, whom)); err != nil {
		t.Fatal(err)
	}
	got := <-done
	took := got.at.Sub(sent)
	if got.err != nil || texts(got.result) != text || took > hintLimit {
		t.Fatalf("the wait returned %q (%v) %v after the post, want %q within %v", texts(got.result), got.err, took, text, hintLimit)
	}
	return took
}

// say is a draft with mentions.
func say(text string, mentions ...shoal.EntityID) shoal.Draft {
	return shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: mentions}
}

// texts returns the texts of a result.
func texts(r shoal.WaitResult) (all string) {
	for _, item := range r.Items {
		for _, m := range item.Messages {
			all += m.Text()
		}
	}
	return all
}
