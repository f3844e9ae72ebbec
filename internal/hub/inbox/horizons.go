package inbox

import (
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// horizons are places up to which inboxes contain nothing, from reads of whole inboxes. A
// read then starts there, and need not search each space of its entity. A horizon stays
// valid: whatever enters an inbox later has a greater place.
type horizons struct {
	mu     sync.Mutex
	places map[storage.EntityRef]int64
}

// maxHorizons limits the inboxes whose horizons are remembered; without one, a read takes
// longer.
const maxHorizons = 50_000

// horizon returns the place up to which an inbox contains nothing, 0 if that is not known.
func (b *Inbox) horizon(key storage.EntityRef) int64 {
	b.horizons.mu.Lock()
	defer b.horizons.mu.Unlock()
	return b.horizons.places[key]
}

// setHorizon sets the horizon of an inbox.
func (b *Inbox) setHorizon(key storage.EntityRef, place int64) {
	b.horizons.mu.Lock()
	defer b.horizons.mu.Unlock()
	if b.horizons.places == nil || len(b.horizons.places) >= maxHorizons {
		b.horizons.places = map[storage.EntityRef]int64{}
	}
	b.horizons.places[key] = max(b.horizons.places[key], place)
}

// fromHorizon returns a filter for entries after the horizon of an inbox, before which
// nothing matches any filter.
func (b *Inbox) fromHorizon(key storage.EntityRef, f storage.InboxFilter) storage.InboxFilter {
	if f.Kind != shoal.WaitMentions {
		f.After = b.horizon(key)
	}
	return f
}
