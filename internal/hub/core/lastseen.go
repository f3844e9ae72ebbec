package core

import (
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const (
	// storedTTL is how long what is stored of an entity is used without reading it again: posts
	// that mention the same agent often follow each other quickly.
	storedTTL = time.Second
	maxStored = 1024
)

// storedEntity is what is stored of an entity, with the time of the read.
type storedEntity struct {
	lastSeenAt  *shoal.Time // nil for an entity that was never seen
	createdAt   shoal.Time
	lastFailure *shoal.Failure
	readAt      time.Time
}

// FillStored sets LastSeenAt of an entity unless this server knows it, CreatedAt and LastFailure to what
// is stored, which may be a second old.
func (p *Presence) FillStored(tx Tx, e *shoal.Entity) error {
	key, now := storage.EntityRef{Session: e.SessionID, ID: e.ID}, time.Now()
	p.mu.Lock()
	known, ok := p.stored[key]
	p.mu.Unlock()
	if !ok || now.Sub(known.readAt) >= storedTTL {
		read, err := tx.Entity(key.Session, key.ID)
		if err != nil && !errors.Is(err, shoal.NotFound) {
			return err
		}
		known = storedEntity{read.LastSeenAt, read.CreatedAt, read.LastFailure, now}
		p.mu.Lock()
		if len(p.stored) >= maxStored {
			clear(p.stored)
		}
		p.stored[key] = known
		p.mu.Unlock()
	}
	if e.LastSeenAt == nil {
		e.LastSeenAt = known.lastSeenAt
	}
	e.CreatedAt, e.LastFailure = known.createdAt, known.lastFailure
	return nil
}
