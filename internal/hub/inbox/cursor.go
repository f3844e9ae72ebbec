package inbox

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// inboxCursor identifies a batch by its last position and the filter that selected it.
// Positions are assigned in the order of commits, so no entry can join the batch later.
// A cursor is valid only for the entity of the inbox that it was issued for: another
// entity would acknowledge messages that it never received. It is valid only while the
// database still has the events that it had then, which the epoch and the position of an
// event verify.
type inboxCursor struct {
	epoch  string
	event  int64
	filter storage.InboxFilter
	upTo   int64
	old    bool // upTo is not a place of the session, see place
}

// The first field of a cursor is its format. Cursors of the first format contain the
// session and the entity in full. Up to the second format, inboxes had places of their own.
const (
	cursorFormat       = "p"
	secondCursorFormat = "w"
	firstCursorFormat  = "in"
)

// place returns the place of the last entry of the batch. A cursor of an old format names
// the event of that entry; found is false if it does not, or if the batch may not have
// contained everything up to there. Then it acknowledges nothing.
func (at inboxCursor) place(tx Tx, box storage.EntityRef) (upTo int64, found bool, err error) {
	if !at.old {
		return at.upTo, true, nil
	}
	if at.event > 0 {
		upTo, err = tx.PlaceOfEvent(box.Session, at.event)
	}
	if err != nil || upTo == 0 {
		return 0, false, err
	}
	unread, err := tx.Unread(box.Session, box.ID, at.filter, shoal.MaxBatch+1)
	if err != nil || len(unread) > shoal.MaxBatch && unread[shoal.MaxBatch].Place <= upTo {
		return 0, false, err
	}
	return upTo, true, nil
}

// ownerMark returns the field of a cursor that identifies the inbox it was issued for.
func ownerMark(box storage.EntityRef) string {
	sum := sha256.Sum256([]byte(string(box.Session) + "\x00" + string(box.ID)))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// encodeCursor returns the cursor of a batch, at most [shoal.MaxCursor] bytes long. If the
// filter has too many senders to fit, the cursor lists the senders of the batch instead,
// which selects the same entries; [fitSenders] limits the senders of a batch to those that
// fit.
func (b *Inbox) encodeCursor(box storage.EntityRef, f storage.InboxFilter, entries []storage.InboxEntry) string {
	last := entries[len(entries)-1]
	head := strings.Join([]string{
		cursorFormat, b.core.Store.Epoch(), ownerMark(box), strconv.FormatInt(last.Place, 36), strconv.FormatInt(last.EventPosition, 36),
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

// sendersOf returns the distinct senders of a batch. Every filter accepts the system, so
// it is included only if it is the only sender: a filter without senders accepts all.
func sendersOf(entries []storage.InboxEntry) (senders []shoal.EntityID) {
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

// roomForSenders is the space in a cursor for the ids of senders and their separators. The
// rest is an epoch of 16 bytes, two numbers of 13, a space and the separators of the
// fields. It is always enough for one sender.
const roomForSenders = shoal.MaxCursor - len(cursorFormat) - 16 - 12 - 2*13 - len(shoal.WaitMessages) - shoal.MaxID - 7

// fitSenders returns the longest prefix of entries whose senders fit into a cursor, if the
// filter has senders.
func fitSenders(f storage.InboxFilter, entries []storage.InboxEntry) []storage.InboxEntry {
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

// parseCursor parses a cursor. A cursor of the first format has no position of an event
// and an unknown epoch.
func parseCursor(box storage.EntityRef, s string) (at inboxCursor, err error) {
	if len(s) > shoal.MaxCursor {
		return at, invalidCursor()
	}
	part := strings.Split(s, ":")
	var numbers [2]string
	base := 36
	switch {
	case len(part) == 8 && part[0] == cursorFormat && part[2] == ownerMark(box):
		at.epoch, numbers, part = part[1], [2]string{part[3], part[4]}, part[5:]
	case len(part) == 8 && part[0] == secondCursorFormat && part[2] == ownerMark(box):
		at.epoch, numbers, part, at.old = part[1], [2]string{part[3], part[4]}, part[5:], true
	case len(part) == 8 && part[0] == firstCursorFormat && part[2] == string(box.Session) && part[3] == string(box.ID):
		base, numbers, part, at.old = 10, [2]string{part[4], "0"}, part[5:], true
	default:
		return at, invalidCursor()
	}
	if at.upTo, err = strconv.ParseInt(numbers[0], base, 64); err != nil || at.upTo < 1 {
		return at, invalidCursor()
	}
	if at.event, err = strconv.ParseInt(numbers[1], base, 64); err != nil || at.event < 0 {
		return at, invalidCursor()
	}
	f := &at.filter
	f.Kind, f.Space = shoal.WaitKind(part[0]), shoal.SpaceID(part[1])
	if f.Kind != shoal.WaitMentions && f.Kind != shoal.WaitMessages {
		return at, invalidCursor()
	}
	if part[2] != "" {
		for id := range strings.SplitSeq(part[2], ",") {
			f.From = append(f.From, shoal.EntityID(id))
		}
	}
	return at, nil
}

func invalidCursor() error {
	return shoal.Invalid("ack", "must be the cursor of an earlier answer to a wait of this entity, unchanged")
}
