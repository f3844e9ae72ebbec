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

// openWait is a wait that is not answered. cancel ends its context with a cause.
type openWait struct {
	cancel    context.CancelCauseFunc
	cancelled bool
}

// errCancelled is the cause that ends a wait which its client cancelled.
var errCancelled = errors.New("the client has cancelled this call")

// begin records a wait, whose context cancel ends. ok is false if the client's session has an
// open call with that id.
func (o *openWaits) begin(key waitKey, cancel context.CancelCauseFunc) (w *openWait, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if key.session != "" && len(o.open[key]) > 0 {
		return nil, false
	}
	w = &openWait{cancel: cancel}
	o.open[key] = append(o.open[key], w)
	return w, true
}

// move replaces the context that a wait ends with.
func (o *openWaits) move(w *openWait, cancel context.CancelCauseFunc) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if w.cancel = cancel; w.cancelled {
		cancel(errCancelled)
	}
}

// end forgets a wait that was answered.
func (o *openWaits) end(key waitKey, w *openWait) {
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
	w := o.open[key][0]
	w.cancelled = true
	w.cancel(errCancelled)
	return true
}
