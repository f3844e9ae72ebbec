package shoaltest

import (
	"context"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// gate is a store that a scenario can slow down and make unsure.
type gate struct {
	hub.Store

	mu     sync.Mutex
	closed chan struct{} // nil while whoever has read an inbox may pass
	unsure bool
}

// hold keeps whoever reads an inbox from learning what it read.
func (g *gate) hold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed == nil {
		g.closed = make(chan struct{})
	}
}

// release lets everybody pass.
func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed != nil {
		close(g.closed)
		g.closed = nil
	}
}

// loseAnswer makes the next change that is stored say that it may not be.
func (g *gate) loseAnswer() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unsure = true
}

// View implements [hub.Store].
func (g *gate) View(ctx context.Context, fn func(hub.Tx) error) error {
	var read inboxReader
	err := g.Store.View(ctx, func(tx hub.Tx) error {
		read = inboxReader{Tx: tx}
		return fn(&read)
	})
	g.mu.Lock()
	closed := g.closed
	g.mu.Unlock()
	if read.inbox && closed != nil {
		<-closed
	}
	return err
}

// Update implements [hub.Store].
func (g *gate) Update(ctx context.Context, fn func(hub.Tx) error) error {
	err := g.Store.Update(ctx, fn)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err == nil && g.unsure {
		g.unsure = false
		return shoal.E("sqlstore.Update", shoal.Busy, "The database went away before it answered. Repeat the call with the same idempotency key.")
	}
	return err
}

// inboxReader notes whether a transaction reads an inbox.
type inboxReader struct {
	hub.Tx
	inbox bool
}

func (r *inboxReader) Unread(session shoal.SessionID, entity shoal.EntityID, filter hub.InboxFilter, limit int) ([]hub.InboxEntry, error) {
	r.inbox = true
	return r.Tx.Unread(session, entity, filter, limit)
}
