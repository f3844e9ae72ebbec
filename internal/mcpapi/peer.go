package mcpapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/mcpapi/skill"
	"github.com/shoal-dev/shoal/internal/mcpapi/tools"
)

// peer is the SDK's server for one caller. Each caller has its own, so that
// one caller's subscriptions never reach another.
type peer struct {
	api    *API
	caller caller
	server *mcp.Server
	// stateless serves what belongs to no session: the newer era, and the older
	// one where the session is not known here.
	stateless http.Handler
	watches   watches

	users int       // sessions and requests; guarded by peers.mu
	used  time.Time // when the last of them ended
}

// peers keeps the peers that are in use, and some that were.
type peers struct {
	mu   sync.Mutex
	open map[caller]*peer
}

// sparePeers is how many peers are kept although nothing uses them.
const sparePeers = 256

// peer returns the caller's peer and holds it until release.
func (a *API) peer(c caller) *peer {
	a.peers.mu.Lock()
	defer a.peers.mu.Unlock()
	p := a.peers.open[c]
	if p == nil {
		p = a.newPeer(c)
		a.peers.open[c] = p
		a.peers.trim()
	}
	p.users++
	return p
}

func (a *API) release(p *peer) {
	a.peers.mu.Lock()
	defer a.peers.mu.Unlock()
	p.users--
	p.used = time.Now()
}

// trim forgets the peer that was unused the longest, if there are many. It must
// be called with mu held.
func (t *peers) trim() {
	if len(t.open) <= sparePeers {
		return
	}
	var oldest *peer
	for _, p := range t.open {
		if p.users == 0 && !p.used.IsZero() && (oldest == nil || p.used.Before(oldest.used)) {
			oldest = p
		}
	}
	if oldest != nil {
		delete(t.open, oldest.caller)
	}
}

func (a *API) newPeer(c caller) *peer {
	p := &peer{api: a, caller: c}
	p.watches = watches{peer: p, open: map[shoal.SpaceID]*watch{}}
	p.server = a.server(p)
	p.server.AddReceivingMiddleware(p.declareTasks, p.tools, p.keepLevel)
	p.stateless = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return p.server }, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // the guard knows which hosts are right
	})
	return p
}

// conversation is the server that a caller of Shoal has: its threads as
// resources, to which it may subscribe, and the skills.
func conversation(p *peer) *mcp.Server {
	server := mcp.NewServer(p.api.self, &mcp.ServerOptions{
		Instructions: instructions,
		// The lists never change, so no change notifications are needed.
		Capabilities: &mcp.ServerCapabilities{
			Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{Subscribe: true}, Extensions: map[string]any{skill.Extension: map[string]any{}},
		},
		SubscribeHandler:   p.watches.subscribe,
		UnsubscribeHandler: p.watches.unsubscribe,
		// Otherwise a cache between us and the clients might show one's to another.
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	})
	server.AddReceivingMiddleware(withoutPrompts)
	p.addResources(server)
	skill.Add(server)
	return server
}

// withoutPrompts answers as a server that has no prompts and does not say that
// it has. The SDK would list none, which looks as if it had forgotten to say so.
func withoutPrompts(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if strings.HasPrefix(method, "prompts/") {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("method not found: %q", method)}
		}
		return next(ctx, method, req)
	}
}

// described is the tool as tools/list shows it.
func described(t *tools.Tool) *mcp.Tool {
	closedWorld := false
	shown := &mcp.Tool{
		Name: t.Name, Description: t.Description, InputSchema: t.InputSchema,
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: t.ReadOnly, IdempotentHint: t.Idempotent, DestructiveHint: &t.Destructive, OpenWorldHint: &closedWorld,
		},
	}
	if t.OutputSchema != nil {
		shown.OutputSchema = t.OutputSchema
	}
	return shown
}

// tools answers what the SDK is asked about tools from the API's own table. To
// add them to every caller's server would cost far more than all else about it.
func (p *peer) tools(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case "tools/list":
			listed, err := p.api.offered(ctx, p.caller)
			return &mcp.ListToolsResult{Cacheable: mcp.Cacheable{CacheScope: "private"}, Tools: listed}, err
		case "tools/call":
			if call, ok := req.(*mcp.CallToolRequest); ok && p.api.byName[call.Params.Name] != nil {
				return p.handler(p.api.byName[call.Params.Name])(ctx, call)
			}
		}
		return next(ctx, method, req)
	}
}

// offered returns the tools that a caller is shown.
func (a *API) offered(ctx context.Context, c caller) ([]*mcp.Tool, error) {
	if len(a.remote) == len(a.listed) {
		return a.listed, nil
	}
	remote, err := a.set.IsRemote(ctx, c)
	if remote {
		return a.remote, err
	}
	return a.listed, err
}

// handler calls a tool for the SDK: over /sse, in a batch, in memory.
func (p *peer) handler(t *tools.Tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		p.api.Hub.Entities.RecordCall(p.caller.Principal, p.caller.Session)
		from := p.api.carriers.of(req.Extra)
		ctx, end := from.bind(ctx)
		defer end()
		if token := req.Params.GetProgressToken(); t.Waits && token != nil {
			defer p.api.keepAlive(ctx, req.Session, token)()
		}
		out, err := p.api.do(ctx, from.name(), p.caller, t, req.Params.Arguments)
		if err != nil {
			return nil, err
		}
		from.carry(out.delivery)
		res := &mcp.CallToolResult{IsError: out.failed, StructuredContent: out.structured}
		for _, text := range out.texts {
			res.Content = append(res.Content, &mcp.TextContent{Text: text})
		}
		return res, nil
	}
}

// keepAlive sends progress notifications until the returned function is called.
func (a *API) keepAlive(ctx context.Context, to *mcp.ServerSession, token any) (stop func()) {
	began := time.Now()
	var mu sync.Mutex
	var timer *time.Timer
	stopped := false
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(a.ProgressEvery, func() {
		mu.Lock()
		defer mu.Unlock()
		if stopped {
			return
		}
		// A broken connection is detected when the response is written.
		_ = to.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: time.Since(began).Seconds(), Message: "Still waiting.",
		})
		timer.Reset(a.ProgressEvery)
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}
