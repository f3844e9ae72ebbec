// Package chat is a conversation as one person looks at it: the spaces, what is
// said in them while it is written, who is there, and what waits for an answer.
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
// It promises:
//   - A [State] changes by what it is given alone: events, and answers of the
//     server that somebody asked for. It reads no clock and makes no call.
//   - The same message is there once, in the order of seq, however often and on
//     whichever way it came: in an event, in a snapshot after a lost connection,
//     in a page of older ones.
//   - The text of a part in progress is that of its deltas; one that does not fit
//     is left out, and the end of the part, which brings all of it, makes it good.
//   - What a person types into a [Form] keeps its type: numbers stay the digits
//     that were typed.
//
// Text in it is as the server gave it, not made safe for any terminal.
package chat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
)

// maxNotices bounds how many notices of a space are kept; the oldest go first.
const maxNotices = 200

// State is what one entity sees of its session. It belongs to one goroutine.
type State struct {
	Me shoal.EntityID
	// Ready says that all spaces have been told about.
	Ready bool
	// Live says that the connection stands.
	Live bool

	spaces  map[shoal.SpaceID]*Space
	people  map[shoal.EntityID]shoal.Entity
	pending pendings
	parked  map[shoal.RunID]bool // runs that wait for somebody
	// told are the spaces with a snapshot since the connection was made anew.
	told      map[shoal.SpaceID]bool
	revisions int64
}

// New returns the state of an entity that has been told nothing yet.
func New(me shoal.EntityID) *State {
	return &State{
		Me: me, spaces: map[shoal.SpaceID]*Space{}, people: map[shoal.EntityID]shoal.Entity{}, told: map[shoal.SpaceID]bool{},
		pending: newPendings(), parked: map[shoal.RunID]bool{},
	}
}

// Space is one space as it is seen. Its counts of what is unread follow what is
// said, until [State.Read].
type Space struct {
	shoal.Space
	Messages []*Message // in the order of seq
	Notices  []Notice   // in the order of their coming
	// Thoughts are what runs think at the moment, where the space shows it.
	Thoughts map[shoal.RunID]string
	// counted is the last seq that the counts of the snapshot know of.
	counted int64
}

// Message is one message of a space. Revision grows with each change of it.
type Message struct {
	shoal.Message
	Revision int64
	inputs   map[shoal.PartID]string // of tool parts in progress, as far as they are written
	stale    bool                    // whether more may have happened to it, unseen
}

// Input returns the arguments of a tool part as far as they are written: a
// beginning of JSON while the model writes, all of it afterwards.
func (m *Message) Input(p shoal.Part) string {
	if p.Status == shoal.PartInputStreaming {
		return m.inputs[p.ID]
	}
	return string(p.Args)
}

// Notice is something that happened besides what is said. It stands behind the
// message with seq After.
type Notice struct {
	After int64
	At    shoal.Time
	Text  string
	Wrong bool // whether something failed
}

// Space returns a space, nil for one that is not there.
func (s *State) Space(id shoal.SpaceID) *Space { return s.spaces[id] }

// Entity returns what is known of an entity; its State is empty if that is not
// known.
func (s *State) Entity(id shoal.EntityID) shoal.Entity { return s.people[id] }

// People takes the entities of the session as the server lists them.
func (s *State) People(all []shoal.Entity) {
	for _, e := range all {
		s.people[e.ID] = e
	}
}

// Member reports whether the entity itself is a member of the space.
func (s *State) Member(sp *Space) bool {
	return slices.ContainsFunc(sp.Members, func(m shoal.Member) bool { return m.EntityID == s.Me })
}

// Spaces returns the spaces that the entity is a member of: those where
// something waits for it first, then where it was mentioned, then with anything
// unread, then the rest, and among equals the one with the newest message first.
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

// Latest returns when something was said last, or the space was made.
func (sp *Space) Latest() shoal.Time {
	if n := len(sp.Messages); n > 0 {
		return sp.Messages[n-1].CreatedAt
	}
	return sp.CreatedAt
}

// Choose returns the space to open when nobody names one: one where something
// waits, else the open one with the newest message; where nothing was said yet, the
// one that is named as first, or else that was made first; empty if there is none.
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

// Read notes that all of a space was seen, and returns up to which seq, 0 if
// nothing was unread.
func (s *State) Read(id shoal.SpaceID) (seq int64) {
	sp := s.spaces[id]
	if sp == nil || sp.UnreadCount == 0 && sp.MentionCount == 0 {
		return 0
	}
	sp.UnreadCount, sp.MentionCount = 0, 0
	return sp.LastSeq
}

// Counts takes what is unread in spaces as the server lists them: somebody may
// have read on in another window.
func (s *State) Counts(all []shoal.Space) {
	for _, now := range all {
		if sp := s.spaces[now.ID]; sp != nil && sp.LastSeq <= now.LastSeq {
			sp.UnreadCount, sp.MentionCount = now.UnreadCount, now.MentionCount
		}
	}
}

// Lost notes that the connection is gone.
func (s *State) Lost() {
	s.Live = false
	clear(s.told)
}

// Back notes that the connection stands.
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
		err = &shoal.Error{Op: "chat.Apply", Kind: shoal.Internal, Msg: fmt.Sprintf("an event %s of the server cannot be read", e.Type), Err: err}
	}
	return data, err
}
