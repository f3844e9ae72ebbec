package feed

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// memberSpaces is the set of spaces that an entity is in, at a position in the events of
// its session. The store selects events by the spaces that the entity is in now, so events
// in a space before the entity joined it are filtered out here. A nil set filters out
// nothing.
type memberSpaces map[shoal.SpaceID]bool

// apply advances the set by one event and reports whether the event concerns the entity.
func (in memberSpaces) apply(entity shoal.EntityID, ev storage.Event) bool {
	if in == nil {
		return true
	}
	if ev.Entity == entity {
		in[ev.Space] = ev.Type == shoal.EventMemberJoined
		return true
	}
	return in[ev.Space]
}

// currentSpaces returns the spaces that the entity of a feed is in now.
func currentSpaces(tx Tx, key feedKey) (memberSpaces, error) {
	if key.entity == "" {
		return nil, nil
	}
	spaces, err := tx.Spaces(key.session, storage.SpaceFilter{Member: key.entity})
	in := make(memberSpaces, len(spaces))
	for _, s := range spaces {
		in[s.ID] = true
	}
	return in, err
}

// spacesAt returns the spaces that the entity of a feed was in at a position, computed from
// its current spaces and the events since.
func spacesAt(tx Tx, key feedKey, position int64) (memberSpaces, error) {
	in, err := currentSpaces(tx, key)
	if in == nil || err != nil {
		return nil, err
	}
	seen := map[shoal.SpaceID]bool{}
	for {
		page, err := tx.Events(key.session, key.filter(), position, feedPage)
		if err != nil {
			return nil, err
		}
		for _, ev := range page {
			if ev.Entity == key.entity && !seen[ev.Space] {
				seen[ev.Space] = true
				in[ev.Space] = ev.Type == shoal.EventMemberLeft
			}
			position = ev.Position
		}
		if len(page) < feedPage {
			return in, nil
		}
	}
}
