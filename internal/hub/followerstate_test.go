package hub_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// spaceState is the state of a space that a follower has derived from events.
type spaceState struct {
	space    shoal.Space
	messages []shoal.Message
}

// maxLag is the longest time after which an event must reach a waiting follower.
const maxLag = 30 * longestPause

// apply applies one event as a client would, from its data alone. The follower has been
// waiting since the given time.
func (f *testFollower) apply(ev shoal.Event, since time.Time) {
	f.eventCounts[string(ev.Type)]++
	var data struct {
		shoal.EventHead
		Space    *shoal.Space    `json:"space"`
		Members  []shoal.Member  `json:"members"`
		Messages []shoal.Message `json:"messages"`
		Message  *shoal.Message  `json:"message"`
		Member   *shoal.Member   `json:"member"`
		Count    int64           `json:"memberCount"`
	}
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		f.fail("%s: %v", ev.Data, err)
		return
	}
	if lag := time.Since(data.At.Time); lag > maxLag && data.At.After(since) && ev.Cursor != "" {
		f.fail("%s %s arrived %v late", ev.Type, ev.Cursor, lag)
	}
	f.checkOrder(ev)
	if ev.Type == shoal.EventSnapshot {
		if f.last != "" {
			f.eventCounts["joined on the way"]++
		}
		if !reflect.DeepEqual(data.Members, data.Space.Members) {
			f.fail("a snapshot has the members %v and its space %v", data.Members, data.Space.Members)
		}
		f.world[*data.SpaceID] = &spaceState{space: *data.Space, messages: data.Messages}
	}
	if ev.Cursor != "" {
		f.last = ev.Cursor
	}
	if ev.Cursor == "" || ev.Type == shoal.EventSnapshot || ev.Type == shoal.EventSnapshotEnd {
		return
	}
	known := f.world[*data.SpaceID]
	switch {
	case data.Member != nil:
		f.applyMember(ev.Type, *data.SpaceID, *data.Member, data.Count)
	case known == nil && f.caller.Role == shoal.RoleService && ev.Type == shoal.EventSpaceUpdated:
		f.world[*data.SpaceID] = &spaceState{space: *data.Space} // a new space
	case known == nil:
		f.fail("%s of the unknown space %s", ev.Type, *data.SpaceID)
	case data.Message != nil:
		f.applyMessage(known, *data.Message)
	case !reflect.DeepEqual(data.Space.Members, known.space.Members) && !f.onlyRenamed(data.Space.Members, known.space.Members):
		f.fail("%s has the members %v, want %v", ev.Type, data.Space.Members, known.space.Members)
	default:
		known.space = *data.Space
	}
}

// checkOrder checks that positions only increase, also across reconnections.
func (f *testFollower) checkOrder(ev shoal.Event) {
	if ev.Cursor == "" || ev.Type == shoal.EventSnapshot {
		return // the snapshot of a joined space has the position of the event before it
	}
	_, number, _ := strings.Cut(string(ev.Cursor), ".")
	number, _, _ = strings.Cut(number, ",")
	place, err := strconv.ParseInt(number, 10, 64)
	if err != nil || place <= f.place && ev.Type != shoal.EventSnapshotEnd {
		f.fail("%s with the cursor %s came after position %d", ev.Type, ev.Cursor, f.place)
	}
	f.place = place
}

func (f *testFollower) applyMessage(known *spaceState, m shoal.Message) {
	if m.Seq != known.space.LastSeq+1 {
		f.fail("message %d of %s came after message %d", m.Seq, m.SpaceID, known.space.LastSeq)
	}
	known.space.LastSeq = m.Seq
	known.messages = append(known.messages, m)
}

// applyMember applies member.joined and member.left. When the follower's own entity joins a
// space, a snapshot that contains it comes first; when it leaves, the state of the space is
// dropped.
func (f *testFollower) applyMember(what shoal.EventType, space shoal.SpaceID, m shoal.Member, count int64) {
	own := f.caller.Role == shoal.RoleEntity && m.EntityID == f.caller.EntityID && f.space == ""
	known := f.world[space]
	switch {
	case own && what == shoal.EventMemberLeft:
		delete(f.world, space)
	case own:
	case known == nil:
		f.fail("%s of %s in the unknown space %s", what, m.EntityID, space)
	case (what == shoal.EventMemberLeft) != slices.ContainsFunc(known.space.Members, func(o shoal.Member) bool { return o.EntityID == m.EntityID }):
		f.fail("%s of %s in %s, where the members were %v", what, m.EntityID, space, known.space.Members)
	case what == shoal.EventMemberLeft:
		known.space.Members = slices.DeleteFunc(known.space.Members, func(o shoal.Member) bool { return o.EntityID == m.EntityID })
		if known.space.AdminAgentID != nil && *known.space.AdminAgentID == m.EntityID {
			known.space.AdminAgentID = nil
		}
		known.space.MemberCount = count
	default:
		known.space.Members = append(known.space.Members, m)
		known.space.MemberCount = count
	}
}

// onlyRenamed reports whether the members differ only in their names: renaming an entity
// emits space.updated.
func (f *testFollower) onlyRenamed(now, before []shoal.Member) bool {
	return slices.EqualFunc(now, before, func(a, b shoal.Member) bool {
		a.Name = b.Name
		return reflect.DeepEqual(a, b)
	})
}

// stateText returns the derived state as text, without the counts of the reader, which no
// event contains.
func (f *testFollower) stateText() string {
	var out strings.Builder
	for _, id := range slices.Sorted(maps.Keys(f.world)) {
		b := f.world[id]
		b.space.UnreadCount, b.space.MentionCount, b.space.FirstUnreadSeq, b.space.Muted = 0, 0, 0, false
		space, _ := json.Marshal(b.space)
		out.Write(space)
		for _, m := range b.messages[max(0, len(b.messages)-shoal.DefaultPage):] {
			message, _ := json.Marshal(m)
			out.WriteByte('\n')
			out.Write(message)
		}
		out.WriteByte('\n')
	}
	return out.String()
}
