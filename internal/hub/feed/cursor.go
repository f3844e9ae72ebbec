package feed

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/live"
)

// cursorPosition is a position in the events of a session, together with the spaces whose
// snapshots were taken after that position, so that their events up to there are not
// delivered twice, and the number of delivered bytes of each streaming part. It is valid
// while the database has the events up to the position; an older copy of the database does
// not have them.
type cursorPosition struct {
	position int64
	ahead    map[shoal.SpaceID]int64
	offsets  map[live.PartKey]int
	// incomplete is set if ahead and offsets do not fit into the cursor: resuming from it
	// starts with a snapshot.
	incomplete bool
}

// incompleteMark ends a cursor that does not contain everything that resuming needs.
const incompleteMark = ",*"

// cursorAt encodes a position as the cursor that clients see, of at most [shoal.MaxCursor]
// bytes: EPOCH.PLACE,SPACE:PLACE,MESSAGE/PART=BYTES. The end of a reasoning part adds
// RUN/PART=: reasoning is not stored, so its cursor would otherwise equal that of an
// earlier event.
func (e *Events) cursorAt(at cursorPosition) shoal.Cursor { return e.cursorWith(at, "") }

// cursorWith is cursorAt with more appended.
func (e *Events) cursorWith(at cursorPosition, more string) shoal.Cursor {
	var room [shoal.MaxCursor]byte
	out := append(append(room[:0], e.core.Store.Epoch()...), '.')
	out = strconv.AppendInt(out, at.position, 10)
	bare := len(out)
	// The fast path: there is seldom more than one part, and each delta has a cursor for
	// each follower.
	if len(at.ahead) == 0 && len(at.offsets) <= 1 {
		for key, n := range at.offsets {
			out = appendKnown(append(out, ','), key, n)
		}
	} else {
		rest := make([]string, 0, len(at.ahead)+len(at.offsets))
		for space, upTo := range at.ahead {
			if upTo > at.position {
				rest = append(rest, string(space)+":"+strconv.FormatInt(upTo, 10))
			}
		}
		for key, n := range at.offsets {
			rest = append(rest, string(appendKnown(nil, key, n)))
		}
		slices.Sort(rest)
		for _, one := range rest {
			out = append(append(out, ','), one...)
		}
	}
	if len(out)+len(more) > shoal.MaxCursor {
		out = append(out[:bare], incompleteMark...)
	}
	return shoal.Cursor(append(out, more...))
}

// The common prefix of the ids that the composer creates is abbreviated, so that a cursor
// has room for more parts. No id contains the sign.
const (
	shortSign  = "~"
	ownedByRun = shoal.PrefixMessage + shoal.PrefixRun
)

func appendKnown(out []byte, key live.PartKey, bytes int) []byte {
	owner, part := key.Owner, string(key.Part)
	if own, found := strings.CutPrefix(part, shoal.PrefixPart+owner); found {
		part = shortSign + own
	}
	if own, found := strings.CutPrefix(owner, ownedByRun); found {
		owner = shortSign + own
	}
	out = append(append(append(append(out, owner...), '/'), part...), '=')
	return strconv.AppendInt(out, int64(bytes), 10)
}

// parsePartKey parses what appendKnown writes before the number.
func parsePartKey(session shoal.SessionID, name string) (key live.PartKey, ok bool) {
	owner, part, ok := strings.Cut(name, "/")
	if own, found := strings.CutPrefix(owner, shortSign); found {
		owner = ownedByRun + own
	}
	if own, found := strings.CutPrefix(part, shortSign); found {
		part = shoal.PrefixPart + owner + own
	}
	return live.PartKey{Session: session, Owner: owner, Part: shoal.PartID(part)}, ok
}

// parseCursor parses a cursor. It returns the epoch that the cursor was issued in, see
// [core.Core.Descends].
func (e *Events) parseCursor(session shoal.SessionID, cursor shoal.Cursor) (at cursorPosition, epoch string, err error) {
	if len(cursor) > shoal.MaxCursor {
		return at, "", shoal.Invalid("after", fmt.Sprintf("has %d bytes; at most %d are allowed", len(cursor), shoal.MaxCursor))
	}
	parts := strings.Split(string(cursor), ",")
	epoch, number, found := strings.Cut(parts[0], ".")
	position, valid := parsePosition(number)
	valid = valid && found
	at = cursorPosition{position: position, ahead: map[shoal.SpaceID]int64{}, offsets: map[live.PartKey]int{}}
	for _, part := range parts[1:] {
		valid = at.parseItem(session, part) && valid
	}
	if !valid {
		return at, "", shoal.Invalid("after", fmt.Sprintf("is not a cursor: %.40q was not the id of an event here", cursor))
	}
	return at, epoch, nil
}

// parseItem parses one item that follows the position and adds it to at.
func (at *cursorPosition) parseItem(session shoal.SessionID, s string) (ok bool) {
	if s == incompleteMark[1:] {
		at.incomplete = true
		return true
	}
	if name, number, found := strings.Cut(s, "="); found {
		key, slash := parsePartKey(session, name)
		if number == "" { // the part has ended
			return slash
		}
		n, valid := parsePosition(number)
		at.offsets[key] = int(n)
		return valid && slash
	}
	space, number, found := strings.Cut(s, ":")
	upTo, valid := parsePosition(number)
	at.ahead[shoal.SpaceID(space)] = upTo
	return valid && found
}

func parsePosition(s string) (position int64, ok bool) {
	position, err := strconv.ParseInt(s, 10, 64)
	return position, err == nil && position >= 0
}
