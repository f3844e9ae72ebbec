package inboxtest

import (
	"cmp"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// entry is an unread message of an inbox.
type entry struct {
	place    int64
	message  *message
	reason   shoal.Reason
	delivery int
}

// message is a message with what the model needs of it.
type message struct {
	shoal.Message
	final, deleted bool
}

// member is a member of a space.
type member struct{ muted bool }

// model keeps inboxes as lists of entries, which is what a store promises, however it stores
// them.
type model struct {
	place   int64
	members map[shoal.SpaceID]map[shoal.EntityID]*member
	hosted  map[shoal.EntityID]bool
	spaces  map[shoal.SpaceID][]*message // by seq
	inboxes map[shoal.EntityID][]entry
}

func (m *model) receives(to shoal.EntityID, what *message, muted bool) bool {
	mentioned := slices.Contains(what.Mentions, to)
	if muted || what.EntityID == shoal.System && len(what.Mentions) > 0 {
		return mentioned
	}
	return true
}

func reasonFor(to shoal.EntityID, what *message) shoal.Reason {
	switch {
	case what.EntityID == shoal.System:
		return shoal.ReasonSystem
	case slices.Contains(what.Mentions, to):
		return shoal.ReasonMention
	}
	return shoal.ReasonMessage
}

// deliver puts a final message into the inboxes.
func (m *model) deliver(what *message) {
	m.place++
	what.final = true
	for id, in := range m.members[what.SpaceID] {
		if id != what.EntityID && !m.hosted[id] && m.receives(id, what, in.muted) {
			m.inboxes[id] = append(m.inboxes[id], entry{place: m.place, message: what, reason: reasonFor(id, what)})
		}
	}
}

func matches(e entry, f storage.InboxFilter) bool {
	return (f.Kind != shoal.WaitMentions || e.reason != shoal.ReasonMessage) && (f.Space == "" || f.Space == e.message.SpaceID) &&
		(len(f.From) == 0 || e.message.EntityID == shoal.System || slices.Contains(f.From, e.message.EntityID)) && e.place > f.After
}

func (m *model) remove(id shoal.EntityID, which func(entry) bool) {
	m.inboxes[id] = slices.DeleteFunc(m.inboxes[id], which)
}

func (m *model) acknowledge(id shoal.EntityID, f storage.InboxFilter, upTo int64) {
	m.remove(id, func(e entry) bool { return e.place <= upTo && matches(e, f) })
}

func (m *model) markUnread(id shoal.EntityID, space shoal.SpaceID, seq int64, limit int) {
	var again []*message
	for _, what := range slices.Backward(m.spaces[space]) {
		unread := slices.ContainsFunc(m.inboxes[id], func(e entry) bool { return e.message == what })
		if what.Seq >= seq && what.final && !what.deleted && what.EntityID != id && !unread && len(again) < limit {
			again = append(again, what)
		}
	}
	for _, what := range slices.Backward(again) {
		if m.receives(id, what, false) {
			m.place++
			m.inboxes[id] = append(m.inboxes[id], entry{place: m.place, message: what, reason: reasonFor(id, what)})
		}
	}
}

// withdraw makes the unread mentions of a message plain messages for those that it does not
// mention.
func (m *model) withdraw(what *message) {
	for id, inbox := range m.inboxes {
		for i, e := range inbox {
			if e.message == what && e.reason == shoal.ReasonMention && !slices.Contains(what.Mentions, id) {
				inbox[i].reason = shoal.ReasonMessage
			}
		}
	}
}

// shown is what a read shows of an entry.
type shown struct {
	Place    int64
	Reason   shoal.Reason
	Delivery int
	Message  shoal.MessageID
}

// unread returns what a read has to return.
func (m *model) unread(id shoal.EntityID, f storage.InboxFilter, limit int) (all []shown) {
	for _, e := range m.inboxes[id] {
		if matches(e, f) {
			all = append(all, shown{e.place, e.reason, e.delivery, e.message.ID})
		}
	}
	slices.SortFunc(all, func(a, b shown) int { return cmp.Compare(a.Place, b.Place) })
	return all[:min(limit, len(all))]
}

// counts returns the counts of a space.
func (m *model) counts(id shoal.EntityID, space shoal.SpaceID) (n storage.Unread) {
	if in := m.members[space][id]; in != nil {
		n.Muted = in.muted
	}
	for _, e := range m.inboxes[id] {
		if e.message.SpaceID != space {
			continue
		}
		n.Messages++
		if seq := e.message.Seq; n.First == 0 || seq < n.First {
			n.First = seq
		}
		if e.reason == shoal.ReasonMention {
			n.Mentions++
		}
	}
	return n
}

// sortByMessage sorts by the ids of the messages.
func sortByMessage(all []shown) {
	slices.SortFunc(all, func(a, b shown) int { return cmp.Compare(a.Message, b.Message) })
}
