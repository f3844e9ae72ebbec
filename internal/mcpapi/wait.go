package mcpapi

import (
	"context"
	"errors"
	"sync"
)

// openWaits knows the waits that are open over streamable HTTP, so that a client
// can cancel one by its JSON-RPC id.
type openWaits struct {
	mu   sync.Mutex
	open map[waitKey][]*openWait
}

// waitKey names a call as its client does. Without a session several clients of
// one caller may use the same id.
type waitKey struct {
	caller  caller
	session string // Mcp-Session-Id, as sent
	id      string // raw JSON
}

type openWait struct{ cancel context.CancelCauseFunc }

// errCancelled is the cause that ends a wait which its client cancelled.
var errCancelled = errors.New("the client has cancelled this call")

// begin notes a wait. ok is false if the client's session has a call of that id
// open already. The returned context ends with parent, or cancelled.
func (o *openWaits) begin(parent context.Context, key waitKey) (ctx context.Context, end func(), ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if key.session != "" && len(o.open[key]) > 0 {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancelCause(parent)
	w := &openWait{cancel}
	o.open[key] = append(o.open[key], w)
	return ctx, func() { o.end(key, w) }, true
}

func (o *openWaits) end(key waitKey, w *openWait) {
	w.cancel(nil)
	o.mu.Lock()
	defer o.mu.Unlock()
	rest := o.open[key][:0]
	for _, other := range o.open[key] {
		if other != w {
			rest = append(rest, other)
		}
	}
	if len(rest) == 0 {
		delete(o.open, key)
		return
	}
	o.open[key] = rest
}

// cancel ends the wait that key names and reports whether there is one. If
// several waits have this key, the request is ambiguous and none ends.
func (o *openWaits) cancel(key waitKey) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.open[key]) != 1 {
		return false
	}
	o.open[key][0].cancel(errCancelled)
	return true
}
