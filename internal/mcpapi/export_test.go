package mcpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/mcpapi/tools"
)

// Server is the SDK's server of a caller, to be connected in memory.
func Server(a *API, who shoal.Principal, session shoal.SessionID) *mcp.Server {
	return a.peer(caller{Principal: who, Session: session}).server
}

// Sessions counts the sessions of the older era that are kept.
func Sessions(a *API) int {
	a.sessions.mu.Lock()
	defer a.sessions.mu.Unlock()
	return len(a.sessions.byID)
}

// SDKSessions counts the sessions that hold a session of the SDK.
func SDKSessions(a *API) (n int) {
	a.sessions.mu.Lock()
	defer a.sessions.mu.Unlock()
	for _, s := range a.sessions.byID {
		s.live.Lock()
		if s.sdk != nil {
			n++
		}
		s.live.Unlock()
	}
	return n
}

// Watches counts the threads that are followed for subscribers.
func Watches(a *API) (n int) {
	a.peers.mu.Lock()
	defer a.peers.mu.Unlock()
	for _, p := range a.peers.open {
		p.watches.mu.Lock()
		n += len(p.watches.open)
		p.watches.mu.Unlock()
	}
	return n
}

// Streams counts the open streams.
func Streams(a *API) int { return a.Limits.Streams() }

// Carriers counts the calls that came through the SDK and are not answered.
func Carriers(a *API) int {
	a.carriers.mu.Lock()
	defer a.carriers.mu.Unlock()
	return len(a.carriers.open)
}

// OpenWaits counts the waits that can be cancelled by their id.
func OpenWaits(a *API) (n int) {
	a.waits.mu.Lock()
	defer a.waits.mu.Unlock()
	for _, each := range a.waits.open {
		n += len(each)
	}
	return n
}

const anyObject = `{"type":"object"}`

// Row is a tool that a test offers. It takes any object.
type Row struct {
	Name, About string
	// Schema is the JSON Schema of what it takes; empty, that of any object.
	Schema string
	// Waits makes it one that may block for long.
	Waits bool
	// Call answers without the SDK, as the tools of Shoal do.
	Call func(context.Context) (string, error)
	// Handle answers through the SDK. A row has one of the two.
	Handle mcp.ToolHandler
}

// NewOffering returns an API that offers these tools and what server adds to the
// server of each caller, in place of what Shoal does. All else about it is that
// of [New].
func NewOffering(o Options, rows []Row, options mcp.ServerOptions, add func(*mcp.Server)) *API {
	var table []*tools.Tool
	for _, r := range rows {
		t := &tools.Tool{Name: r.Name, Description: r.About, Waits: r.Waits, InputSchema: json.RawMessage(cmp.Or(r.Schema, anyObject))}
		if r.Call != nil {
			t.Run = func(ctx context.Context, _ tools.Caller, _ []byte) (tools.Result, error) {
				text, err := r.Call(ctx)
				return tools.Result{Texts: []string{text}}, err
			}
		}
		table = append(table, t)
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Handle == nil })
	return newAPI(o, offer{table: func(tools.Set) []*tools.Tool { return table }, server: func(p *peer) *mcp.Server {
		server := mcp.NewServer(p.api.self, &options)
		for _, r := range rows {
			schema := json.RawMessage(cmp.Or(r.Schema, anyObject))
			server.AddTool(&mcp.Tool{Name: r.Name, Description: r.About, InputSchema: schema}, r.Handle)
		}
		add(server)
		return server
	}})
}
