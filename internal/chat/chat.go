// Package chat models the conversations of one person: the spaces, their messages while they
// are written, the members, and the pending actions.
//
//	state := chat.New("ann")
//	for event, err := range session.Follow(ctx, client.FollowOptions{}) {
//		…
//		if err := state.Apply(event); err != nil {
//			return err
//		}
//		for _, m := range state.Space("shop").Messages {
//			…
//		}
//	}
//
// Guarantees:
//   - A [State] changes only by its inputs: events, and responses of the server that its user
//     requested. It reads no clock and makes no calls.
//   - Each message exists once, in the order of seq, no matter how often and how it arrives:
//     in an event, in a snapshot after a reconnect, or in a page of older messages.
//   - The text of a streaming part consists of its deltas. A delta that does not fit is
//     ignored, and the end of the part, which contains the complete text, corrects it.
//   - Values that a person types into a [Form] keep their type: numbers keep the digits that
//     were typed.
//
// Texts are unchanged from the server and not safe to print on a terminal.
package chat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
)

// maxNotices limits the notices of a space; the oldest are removed first.
const maxNotices = 200

// State is the view of one entity on its session. It is not safe for concurrent use.
type State struct {
	Me shoal.EntityID
	// Ready means that the snapshots of all spaces have arrived.
	Ready bool
	// Live means that the connection is open.
	Live bool

	spaces  map[shoal.SpaceID]*Space
	people  map[shoal.EntityID]shoal.Entity
	pending pendings
	parked  map[shoal.RunID]bool // suspended runs
	// snapshots contains the spaces with a snapshot since the last reconnect.
	snapshots map[shoal.SpaceID]bool
	revisions int64
}

// New returns the state of an entity before any event.
func New(me shoal.EntityID) *State {
	return &State{
		Me: me, spaces: map[shoal.SpaceID]*Space{}, people: map[shoal.EntityID]shoal.Entity{}, snapshots: map[shoal.SpaceID]bool{},
		pending: newPendings(), parked: map[shoal.RunID]bool{},
	}
}

// Space is a space with its messages. Its unread counts follow the messages until
// [State.Read].
type Space struct {
	shoal.Space
	Messages []*Message // in the order of seq
	Notices  []Notice   // in the order of their arrival
	// Thoughts contains the current reasoning of runs that show it in the space.
	Thoughts map[shoal.RunID]string
	// counted is the last seq that the counts of the snapshot include.
	counted int64
}

// Message is one message of a space. Revision increases with each change.
type Message struct {
	shoal.Message
	Revision int64
	inputs   map[shoal.PartID]string // arguments of streaming tool parts, possibly incomplete
	stale    bool                    // whether it may have changed while the connection was lost
}

// Input returns the arguments of a tool part: incomplete JSON while the model writes, the
// complete JSON afterwards.
func (m *Message) Input(p shoal.Part) string {
	if p.Status == shoal.PartInputStreaming {
		return m.inputs[p.ID]
	}
	return string(p.Args)
}

// Notice is an event other than a message. It is shown after the message with seq After.
type Notice struct {
	After int64
	At    shoal.Time
	Text  string
	Wrong bool // whether it reports a failure
}

// Space returns a space, nil if it does not exist.
func (s *State) Space(id shoal.SpaceID) *Space { return s.spaces[id] }

// Entity returns an entity; its State is empty if unknown.
func (s *State) Entity(id shoal.EntityID) shoal.Entity { return s.people[id] }

// People stores the entities of the session from the server's list.
func (s *State) People(all []shoal.Entity) {
	for _, e := range all {
		s.people[e.ID] = e
	}
}

// Member reports whether the entity itself is a member of the space.
func (s *State) Member(sp *Space) bool {
	return slices.ContainsFunc(sp.Members, func(m shoal.Member) bool { return m.EntityID == s.Me })
}

// Mentionable returns the members of a space. If the space lists only some of them, it also
// returns the other known entities, which may be members: the server drops mentions of those
// that are not.
func (s *State) Mentionable(sp *Space) []shoal.Member {
	if sp.Complete() {
		return sp.Members
	}
	all := slices.Clone(sp.Members)
	for _, id := range slices.Sorted(maps.Keys(s.people)) {
		if e := s.people[id]; !slices.ContainsFunc(sp.Members, func(m shoal.Member) bool { return m.EntityID == id }) {
			all = append(all, shoal.Member{EntityID: id, Kind: e.Kind, Name: e.Name})
		}
	}
	return all
}

// Spaces returns the spaces that the entity is a member of. Spaces with pending actions come
// first, then those with unread mentions, then those with unread messages, then the others;
// within each group the newest message decides.
func (s *State) Spaces() []*Space {
	var all []*Space
	for _, sp := range s.spaces {
		if s.Member(sp) {
			all = append(all, sp)
		}
	}
	slices.SortFunc(all, func(a, b *Space) int {
		return cmp.Or(
			cmp.Compare(s.urgency(b), s.urgency(a)), b.Latest().Compare(a.Latest().Time), cmp.Compare(a.ID, b.ID),
		)
	})
	return all
}

func (s *State) urgency(sp *Space) int {
	switch {
	case len(s.Waiting(sp.ID)) > 0:
		return 3
	case sp.MentionCount > 0:
		return 2
	case sp.UnreadCount > 0:
		return 1
	}
	return 0
}

// Latest returns the time of the last message, or of the space's creation.
func (sp *Space) Latest() shoal.Time {
	if n := len(sp.Messages); n > 0 {
		return sp.Messages[n-1].CreatedAt
	}
	return sp.CreatedAt
}

// Choose returns the space to open by default: one with a pending action, otherwise the open
// space with the newest message. Without messages it is the space first, otherwise the oldest
// one; empty without spaces.
func (s *State) Choose(first shoal.SpaceID) shoal.SpaceID {
	all := s.Spaces()
	newest := func(sp *Space) (at time.Time) {
		if len(sp.Messages) > 0 {
			at = sp.Latest().Time
		}
		return at
	}
	slices.SortStableFunc(all, func(a, b *Space) int {
		waits := func(sp *Space) int { return min(len(s.Waiting(sp.ID)), 1) }
		named := func(sp *Space) int { return map[bool]int{true: 1}[sp.ID == first] }
		return cmp.Or(
			cmp.Compare(waits(b), waits(a)), cmp.Compare(b.Status, a.Status), newest(b).Compare(newest(a)), cmp.Compare(named(b), named(a)),
			a.CreatedAt.Compare(b.CreatedAt.Time),
		)
	})
	if len(all) == 0 {
		return ""
	}
	return all[0].ID
}

// Read marks a space as read and returns the last seq, or 0 if nothing was unread.
func (s *State) Read(id shoal.SpaceID) (seq int64) {
	sp := s.spaces[id]
	if sp == nil || sp.UnreadCount == 0 && sp.MentionCount == 0 {
		return 0
	}
	sp.UnreadCount, sp.MentionCount = 0, 0
	return sp.LastSeq
}

// Counts stores the unread counts of the server's list: the person may have read messages in
// another client.
func (s *State) Counts(all []shoal.Space) {
	for _, now := range all {
		if sp := s.spaces[now.ID]; sp != nil && sp.LastSeq <= now.LastSeq {
			sp.UnreadCount, sp.MentionCount = now.UnreadCount, now.MentionCount
		}
	}
}

// Lost marks the connection as lost.
func (s *State) Lost() {
	s.Live = false
	clear(s.snapshots)
}

// Back marks the connection as open.
func (s *State) Back() { s.Live = true }

func (s *State) revise(m *Message) {
	s.revisions++
	m.Revision = s.revisions
}

func (sp *Space) notice(at shoal.Time, wrong bool, format string, args ...any) {
	sp.Notices = append(sp.Notices, Notice{After: sp.LastSeq, At: at, Text: fmt.Sprintf(format, args...), Wrong: wrong})
	if over := len(sp.Notices) - maxNotices; over > 0 {
		sp.Notices = slices.Delete(sp.Notices, 0, over)
	}
}

func decode[T any](e shoal.Event) (data T, err error) {
	if err = json.Unmarshal(e.Data, &data); err != nil {
		err = &shoal.Error{Op: "chat.Apply", Kind: shoal.Internal, Msg: fmt.Sprintf("the event %s of the server cannot be decoded", e.Type), Err: err}
	}
	return data, err
}
