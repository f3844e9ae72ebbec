package core

import (
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// FillSpace fills in the members of one space and the counts of the caller.
func FillSpace(tx Tx, who shoal.Principal, s shoal.Space) (shoal.Space, error) {
	all, err := FillSpaces(tx, who, s.SessionID, []shoal.Space{s})
	if err != nil {
		return s, err
	}
	return all[0], nil
}

// FillSpaces fills in the members of spaces and the counts of the caller.
func FillSpaces(tx Tx, who shoal.Principal, session shoal.SessionID, spaces []shoal.Space) ([]shoal.Space, error) {
	ids := make([]shoal.SpaceID, len(spaces))
	for i, s := range spaces {
		ids[i] = s.ID
	}
	members, err := tx.MembersOf(session, ids)
	if err != nil {
		return nil, err
	}
	var counts map[shoal.SpaceID]storage.Unread
	if who.EntityID != "" {
		if counts, err = tx.Counts(session, who.EntityID, ids); err != nil {
			return nil, err
		}
	}
	for i, id := range ids {
		spaces[i].Members = append([]shoal.Member{}, members[id]...)
		spaces[i].UnreadCount, spaces[i].MentionCount, spaces[i].FirstUnreadSeq = counts[id].Messages, counts[id].Mentions, counts[id].First
		spaces[i].Muted = slices.ContainsFunc(spaces[i].Members, func(m shoal.Member) bool { return m.Muted && m.EntityID == who.EntityID })
	}
	return spaces, nil
}

// SaveSpace stores the space and emits an event for its followers.
func SaveSpace(ch *Change, s shoal.Space, what shoal.EventType) error {
	if err := ch.UpdateSpace(s); err != nil {
		return err
	}
	return EmitSpace(ch, s, what)
}

// EmitSpace emits an event with the current state of the space, without the fields that
// differ for each caller: the counts and whether it is muted.
func EmitSpace(ch *Change, s shoal.Space, what shoal.EventType) error {
	s.UnreadCount, s.MentionCount, s.FirstUnreadSeq, s.Muted = 0, 0, 0, false
	return EmitInSpace(ch, s.SessionID, s.ID, "", what, func(h shoal.EventHead) any {
		return shoal.SpaceData{EventHead: h, Space: s}
	})
}
