package mcpapi

import (
	"context"
	"net/http"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
)

// callMark is the header by which a tool that the SDK calls finds the HTTP
// request or stream that its call came by. It is set here and never taken from
// a client.
const callMark = "X-Shoal-Call"

// carrier is what a call through the SDK came by. A nil carrier means a
// transport that is not known here, such as one in memory.
type carrier struct {
	ctx     context.Context // ends with the request or stream
	request string          // the name of the request
	posted  bool            // whether the answer goes to a POST to /mcp, where calls can be tasks

	mu       sync.Mutex
	delivery *inbox.Delivery
}

// carriers finds carriers by their marks.
type carriers struct {
	mu   sync.Mutex
	last int64
	open map[string]*carrier
}

// add makes a carrier and returns its mark, by which it is found until dropped.
func (t *carriers) add(ctx context.Context, request string, posted bool) (mark string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	mark = strconv.FormatInt(t.last, 10)
	t.open[mark] = &carrier{ctx: ctx, request: request, posted: posted}
	return mark
}

// drop forgets the carrier with a mark, and returns it.
func (t *carriers) drop(mark string) *carrier {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.open[mark]
	delete(t.open, mark)
	return c
}

// of returns the carrier of a call, or nil.
func (t *carriers) of(extra *mcp.RequestExtra) *carrier {
	if extra == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open[extra.Header.Get(callMark)]
}

// marked is what a request of the SDK carries to be found by.
func marked(mark string) *mcp.RequestExtra {
	return &mcp.RequestExtra{Header: http.Header{callMark: {mark}}}
}

// name returns the name of the request that the call came by.
func (c *carrier) name() string {
	if c == nil {
		return ""
	}
	return c.request
}

// bind returns a context that ends with ctx or the carrier.
func (c *carrier) bind(ctx context.Context) (context.Context, func()) {
	if c == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })
	return ctx, func() { stop(); cancel(nil) }
}

// carry sets the delivery that the response of the call contains.
func (c *carrier) carry(d *inbox.Delivery) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.delivery = d
}

// settle records whether the response was written completely.
func (c *carrier) settle(written bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.delivery != nil {
		c.delivery.Settle(written)
	}
}
