package shoaltest

import (
	"context"
	"errors"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// gate is a store whose calls a scenario can hold, and whose results it can lose.
type gate struct {
	storage.Store

	mu     sync.Mutex
	reads  barrier // for calls that have read an inbox
	counts barrier // for calls that have counted deliveries
	acks   barrier // for calls that have acknowledged
	unsure bool
	dead   bool // every change fails
}

// barrier holds calls while it is not nil; closing the channel releases them.
type barrier chan struct{}

func (b *barrier) hold() {
	if *b == nil {
		*b = make(barrier)
	}
}

func (b *barrier) release() {
	if *b != nil {
		close(*b)
		*b = nil
	}
}

// hold holds calls that read an inbox, count deliveries or acknowledge, after they have
// done so.
func (g *gate) hold(which func(*gate) *barrier) {
	g.mu.Lock()
	defer g.mu.Unlock()
	which(g).hold()
}

func reads(g *gate) *barrier  { return &g.reads }
func counts(g *gate) *barrier { return &g.counts }
func acks(g *gate) *barrier   { return &g.acks }

// step releases the calls that are held now, and no later ones.
func (g *gate) step() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, b := range []*barrier{&g.reads, &g.counts, &g.acks} {
		if *b != nil {
			b.release()
			b.hold()
		}
	}
}

// release releases all calls, and holds no later ones.
func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reads.release()
	g.counts.release()
	g.acks.release()
}

// pass waits if calls of that kind are held.
func (g *gate) pass(w *watched) {
	g.mu.Lock()
	reads, counts, acks := g.reads, g.counts, g.acks
	g.mu.Unlock()
	if w.read && reads != nil {
		<-reads
	}
	if w.counted && counts != nil {
		<-counts
	}
	if w.acked && acks != nil {
		<-acks
	}
}

// loseResult makes the next change that is stored return an error, as if it may not be.
func (g *gate) loseResult() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unsure = true
}

// refuse sets whether every change fails, as if the process had died.
func (g *gate) refuse(dead bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dead = dead
}

func (g *gate) refuses() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dead
}

// View implements [hub.Store].
func (g *gate) View(ctx context.Context, fn func(storage.Tx) error) error {
	var w watched
	err := g.Store.View(ctx, func(tx storage.Tx) error {
		w = watched{Tx: tx}
		return fn(&w)
	})
	g.pass(&w)
	return err
}

// Update implements [hub.Store].
func (g *gate) Update(ctx context.Context, at storage.At, fn func(storage.Tx) error) error {
	if g.refuses() {
		return errors.New("the process is dead")
	}
	var w watched
	err := g.Store.Update(ctx, storage.Global, func(tx storage.Tx) error {
		w = watched{Tx: tx}
		return fn(&w)
	})
	g.pass(&w)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err == nil && g.unsure {
		g.unsure = false
		return &shoal.Error{Op: "sqlstore.Update", Kind: shoal.Busy, Err: storage.ErrUnknownOutcome, Msg: "The database went away before it answered. Repeat the call with the same idempotency key."}
	}
	return err
}

// watched records what a transaction does with inboxes.
type watched struct {
	storage.Tx
	read, counted, acked bool
}

func (w *watched) Unread(session shoal.SessionID, entity shoal.EntityID, filter storage.InboxFilter, limit int) ([]storage.InboxEntry, error) {
	w.read = true
	return w.Tx.Unread(session, entity, filter, limit)
}

func (w *watched) MarkDelivered(session shoal.SessionID, entity shoal.EntityID, delivered []storage.DeliveredEntry) error {
	w.counted = true
	return w.Tx.MarkDelivered(session, entity, delivered)
}

func (w *watched) Acknowledge(session shoal.SessionID, entity shoal.EntityID, filter storage.InboxFilter, upTo int64, known []storage.DeliveredEntry) (storage.Acknowledged, error) {
	w.acked = true
	return w.Tx.Acknowledge(session, entity, filter, upTo, known)
}
