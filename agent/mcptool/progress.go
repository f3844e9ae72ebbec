package mcptool

import (
	"context"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal/agent"
)

// progress routes a server's progress notifications to the calls that they concern.
type progress struct {
	mu    sync.Mutex
	last  int
	calls map[string]*following
}

// following is a call that is running.
type following struct {
	mu   sync.Mutex
	ctx  context.Context
	done bool
}

// follow returns the token of a call, and a function that ends the reports of its
// progress.
func (p *progress) follow(ctx context.Context) (token string, done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	token = strconv.Itoa(p.last)
	if p.calls == nil {
		p.calls = map[string]*following{}
	}
	f := &following{ctx: ctx}
	p.calls[token] = f
	return token, func() {
		p.mu.Lock()
		delete(p.calls, token)
		p.mu.Unlock()
		f.mu.Lock()
		f.done = true
		f.mu.Unlock()
	}
}

// report handles a notification.
func (p *progress) report(_ context.Context, n *mcp.ProgressNotificationClientRequest) {
	token, _ := n.Params.ProgressToken.(string)
	p.mu.Lock()
	f := p.calls[token]
	p.mu.Unlock()
	if f == nil {
		return
	}
	percent := -1.0
	if n.Params.Total > 0 {
		percent = 100 * n.Params.Progress / n.Params.Total
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.done {
		agent.Progress(f.ctx, n.Params.Message, percent)
	}
}
