package hub

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
)

// cursorPlace is what a cursor says: a place in the events of a session; the spaces
// whose snapshot was already ahead of that place, whose events up to there must not
// come twice; and how many bytes of the parts in progress were delivered. It is
// good while the database has the events up to there: an older copy of it, which may
// stand in its place later, does not.
type cursorPlace struct {
	place int64
	ahead map[shoal.SpaceID]int64
	known map[partKey]int
}

// cursorAt writes a place as the cursor that clients see:
// EPOCH.PLACE,SPACE:PLACE,MESSAGE/PART=BYTES. The end of a thought adds RUN/PART= to
// it: nothing of it is stored, and its cursor would be that of an event before.
func (c *core) cursorAt(at cursorPlace) shoal.Cursor {
	var room [128]byte
	out := append(append(room[:0], c.store.Epoch()...), '.')
	out = strconv.AppendInt(out, at.place, 10)
	// There is seldom more than one, and each delta has a cursor for each who follows.
	if len(at.ahead) == 0 && len(at.known) <= 1 {
		for key, n := range at.known {
			out = appendKnown(append(out, ','), key, n)
		}
		return shoal.Cursor(out)
	}
	rest := make([]string, 0, len(at.ahead)+len(at.known))
	for space, upTo := range at.ahead {
		if upTo > at.place {
			rest = append(rest, string(space)+":"+strconv.FormatInt(upTo, 10))
		}
	}
	for key, n := range at.known {
		rest = append(rest, string(appendKnown(nil, key, n)))
	}
	slices.Sort(rest)
	for _, one := range rest {
		out = append(append(out, ','), one...)
	}
	return shoal.Cursor(out)
}

func appendKnown(out []byte, key partKey, bytes int) []byte {
	out = append(append(append(append(out, key.owner...), '/'), key.part...), '=')
	return strconv.AppendInt(out, int64(bytes), 10)
}

// placeOf reads a cursor and the epoch in which it was given, see [core.descends].
func (c *core) placeOf(session shoal.SessionID, cursor shoal.Cursor) (at cursorPlace, epoch string, err error) {
	parts := strings.Split(string(cursor), ",")
	epoch, number, found := strings.Cut(parts[0], ".")
	place, valid := placeNumber(number)
	valid = valid && found
	at = cursorPlace{place: place, ahead: map[shoal.SpaceID]int64{}, known: map[partKey]int{}}
	for _, part := range parts[1:] {
		valid = at.read(session, part) && valid
	}
	if !valid {
		return at, "", shoal.Invalid("after", fmt.Sprintf("is no cursor: %.40q was not the id of an event here", cursor))
	}
	return at, epoch, nil
}

// descends reports whether a place that was known in an epoch is still that of the same
// event. One that is not needs a snapshot, and acknowledges nothing.
func (c *core) descends(tx Tx, session shoal.SessionID, epoch string, place int64) (bool, error) {
	if epoch == c.store.Epoch() {
		return true, nil
	}
	return tx.Descends(session, epoch, place)
}

// read takes what stands behind the place.
func (at *cursorPlace) read(session shoal.SessionID, s string) (ok bool) {
	if name, number, found := strings.Cut(s, "="); found {
		owner, part, slash := strings.Cut(name, "/")
		if number == "" { // it has ended
			return slash
		}
		n, valid := placeNumber(number)
		at.known[partKey{session, owner, shoal.PartID(part)}] = int(n)
		return valid && slash
	}
	space, number, found := strings.Cut(s, ":")
	upTo, valid := placeNumber(number)
	at.ahead[shoal.SpaceID(space)] = upTo
	return valid && found
}

func placeNumber(s string) (place int64, ok bool) {
	place, err := strconv.ParseInt(s, 10, 64)
	return place, err == nil && place >= 0
}
