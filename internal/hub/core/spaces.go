package core

import (
	"github.com/shoal-dev/shoal"
)

// FillSpace fills in the members that one space lists and the counts of the caller.
func FillSpace(tx Tx, caller shoal.Principal, s shoal.Space) (shoal.Space, error) {
	all, err := FillSpaces(tx, caller, s.SessionID, []shoal.Space{s})
	if err != nil {
		return s, err
	}
	return all[0], nil
}

// FillSpaces fills in the members that spaces list and the counts of the caller.
func FillSpaces(tx Tx, caller shoal.Principal, session shoal.SessionID, spaces []shoal.Space) ([]shoal.Space, error) {
	if err := ListMembers(tx, caller.EntityID, session, spaces); err != nil {
		return nil, err
	}
	return spaces, FillCounts(tx, caller, session, spaces)
}

// FillCounts fills in the counts of the caller, and whether it has muted the spaces.
func FillCounts(tx Tx, caller shoal.Principal, session shoal.SessionID, spaces []shoal.Space) error {
	if caller.EntityID == "" {
		return nil
	}
	counts, err := tx.Counts(session, caller.EntityID, spaceIDs(spaces))
	for i := range spaces {
		s, c := &spaces[i], counts[spaces[i].ID]
		s.UnreadCount, s.MentionCount, s.FirstUnreadSeq, s.Muted = c.Messages, c.Mentions, c.First, c.Muted
	}
	return err
}

// ListMembers fills in the members that spaces list for a reader, if it is a member the reader
// among them.
func ListMembers(tx Tx, reader shoal.EntityID, session shoal.SessionID, spaces []shoal.Space) error {
	members, err := tx.ListedMembers(session, reader, spaceIDs(spaces))
	for i := range spaces {
		spaces[i].Members = append([]shoal.Member{}, members[spaces[i].ID]...)
	}
	return err
}

func spaceIDs(spaces []shoal.Space) []shoal.SpaceID {
	ids := make([]shoal.SpaceID, len(spaces))
	for i, s := range spaces {
		ids[i] = s.ID
	}
	return ids
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
