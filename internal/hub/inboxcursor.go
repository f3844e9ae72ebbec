package hub

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
)

// inboxCursor names a batch: the last place in it and the filter that selected it.
// Places are assigned in the order of commits, so no entry can join the batch later. It
// is valid for the entity whose inbox it is from: another entity would acknowledge what
// it never saw. And it is valid while the database has the events that it had then,
// which the epoch and a place among them tell.
type inboxCursor struct {
	epoch  string
	event  int64
	filter InboxFilter
	upTo   int64
}

// The first field of a cursor says how the others are written: the first edition named
// session and entity in full.
const (
	cursorForm      = "w"
	firstCursorForm = "in"
)

// ownerMark is what a cursor says about whose inbox it is from.
func ownerMark(box mailboxKey) string {
	sum := sha256.Sum256([]byte(string(box.session) + "\x00" + string(box.entity)))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// cursor writes the cursor of a batch, of at most [shoal.MaxCursor] bytes. Where the
// senders of the filter are too many for it, those of the batch are named instead, which
// selects the same entries; [fitting] leaves no more senders in a batch than there is
// room for.
func (b *Inbox) cursor(box mailboxKey, f InboxFilter, entries []InboxEntry) string {
	last := entries[len(entries)-1]
	head := strings.Join([]string{
		cursorForm, b.store.Epoch(), ownerMark(box), strconv.FormatInt(last.Place, 36), strconv.FormatInt(last.EventPlace, 36),
		string(f.Kind), string(f.Space), "",
	}, ":")
	from := joinIDs(f.From)
	if len(head)+len(from) > shoal.MaxCursor {
		from = joinIDs(sendersOf(entries))
	}
	return head + from
}

func joinIDs(ids []shoal.EntityID) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return strings.Join(out, ",")
}

// sendersOf returns the different senders of a batch; the system, which every filter
// lets through, only if there is no other: a filter without senders lets all through.
func sendersOf(entries []InboxEntry) (senders []shoal.EntityID) {
	for _, e := range entries {
		if id := e.Message.EntityID; id != shoal.System && !slices.Contains(senders, id) {
			senders = append(senders, id)
		}
	}
	if len(senders) == 0 {
		return []shoal.EntityID{shoal.System}
	}
	return senders
}

// roomForSenders is what is left of a cursor for the ids of senders and the signs between
// them: it has an epoch of 16, two numbers of 13, a space and six signs besides. It is
// enough for one sender in any case.
const roomForSenders = shoal.MaxCursor - len(cursorForm) - 16 - 12 - 2*13 - len(shoal.WaitMessages) - shoal.MaxID - 7

// fitting returns as many of the entries, from the first on, as a cursor can name where
// the filter has senders.
func fitting(f InboxFilter, entries []InboxEntry) []InboxEntry {
	if len(joinIDs(f.From)) <= roomForSenders {
		return entries
	}
	room := roomForSenders
	var seen []shoal.EntityID
	for i, e := range entries {
		id := e.Message.EntityID
		if id == shoal.System || slices.Contains(seen, id) {
			continue
		}
		if room -= len(id) + 1; room < -1 {
			return entries[:i]
		}
		seen = append(seen, id)
	}
	return entries
}

// parseCursor reads a cursor. One of the first edition, which has no place among the
// events, is of an unknown epoch.
func parseCursor(box mailboxKey, s string) (at inboxCursor, err error) {
	if len(s) > shoal.MaxCursor {
		return at, badCursor()
	}
	part := strings.Split(s, ":")
	var numbers [2]string
	base := 36
	switch {
	case len(part) == 8 && part[0] == cursorForm && part[2] == ownerMark(box):
		at.epoch, numbers, part = part[1], [2]string{part[3], part[4]}, part[5:]
	case len(part) == 8 && part[0] == firstCursorForm && part[2] == string(box.session) && part[3] == string(box.entity):
		base, numbers, part = 10, [2]string{part[4], "0"}, part[5:]
	default:
		return at, badCursor()
	}
	if at.upTo, err = strconv.ParseInt(numbers[0], base, 64); err != nil || at.upTo < 1 {
		return at, badCursor()
	}
	if at.event, err = strconv.ParseInt(numbers[1], base, 64); err != nil || at.event < 0 {
		return at, badCursor()
	}
	f := &at.filter
	f.Kind, f.Space = shoal.WaitKind(part[0]), shoal.SpaceID(part[1])
	if f.Kind != shoal.WaitMentions && f.Kind != shoal.WaitMessages {
		return at, badCursor()
	}
	if part[2] != "" {
		for id := range strings.SplitSeq(part[2], ",") {
			f.From = append(f.From, shoal.EntityID(id))
		}
	}
	return at, nil
}

func badCursor() error {
	return shoal.Invalid("ack", "must be the cursor of an earlier answer to a wait of this entity, unchanged")
}
