package feed

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// memberSpaces says in which spaces an entity is, at a place in the events of its
// session. The store chooses by where the entity is now, so what happened in a
// space before it joined must be left out here. nil leaves out nothing.
type memberSpaces map[shoal.SpaceID]bool

// pass goes one event on and tells whether that concerns the entity.
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

// currentSpaces tells in which spaces the entity of a feed is now.
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

// spacesAt tells in which spaces the entity of a feed was at a place: where it
// is now, but for what the events since then say.
func spacesAt(tx Tx, key feedKey, place int64) (memberSpaces, error) {
	in, err := currentSpaces(tx, key)
	if in == nil || err != nil {
		return nil, err
	}
	seen := map[shoal.SpaceID]bool{}
	for {
		page, err := tx.Events(key.session, key.filter(), place, feedPage)
		if err != nil {
			return nil, err
		}
		for _, ev := range page {
			if ev.Entity == key.entity && !seen[ev.Space] {
				seen[ev.Space] = true
				in[ev.Space] = ev.Type == shoal.EventMemberLeft
			}
			place = ev.Place
		}
		if len(page) < feedPage {
			return in, nil
		}
	}
}
