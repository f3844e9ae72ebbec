package core

import (
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const (
	// lastSeenTTL is how long the stored time of an entity that this server has not seen is
	// used without reading it again: posts that mention an absent agent often follow each
	// other quickly.
	lastSeenTTL       = time.Second
	maxLastSeenCached = 1024
)

// lastSeen is the stored time at which an entity was last seen, with the time of the read.
type lastSeen struct {
	at     *shoal.Time // nil for an entity that was never seen
	readAt time.Time
}

// LastSeen returns when an entity that this server has not seen was last seen, or nil for
// never. The result may be up to a second old.
func (p *Presence) LastSeen(tx Tx, key storage.EntityRef) (*shoal.Time, error) {
	now := time.Now()
	p.mu.Lock()
	known, ok := p.lastSeenCache[key]
	p.mu.Unlock()
	if ok && now.Sub(known.readAt) < lastSeenTTL {
		return known.at, nil
	}
	stored, err := tx.Entity(key.Session, key.ID)
	if err != nil && !errors.Is(err, shoal.NotFound) {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.lastSeenCache) >= maxLastSeenCached {
		clear(p.lastSeenCache)
	}
	p.lastSeenCache[key] = lastSeen{stored.LastSeenAt, now}
	return stored.LastSeenAt, nil
}
