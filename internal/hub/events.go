package hub

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/shoal-dev/shoal"
)

// Events lets callers follow what happens.
type Events struct {
	*core
	mu    sync.Mutex
	feeds map[feedKey]*feed
}

func newEvents(c *core) *Events { return &Events{core: c, feeds: map[feedKey]*feed{}} }

// tell stores an event of a space, encoded once for everybody who will follow
// it, and wakes its followers after the commit. about is the entity whose
// membership it is about, if any.
func tell(ch *change, session shoal.SessionID, space shoal.SpaceID, about shoal.EntityID, what shoal.EventType, data func(shoal.EventHead) any) error {
	body, err := json.Marshal(data(shoal.EventHead{Type: what, SpaceID: &space, At: ch.at}))
	if err != nil {
		return err
	}
	_, err = ch.AppendEvent(StoredEvent{Session: session, Space: space, Entity: about, Type: what, Data: body})
	ch.hint(spaceTopic(session, space))
	ch.hint(sessionTopic(session))
	return err
}

// A cursor is the epoch of the database and a place in the events of a session.
// Behind it stand the spaces whose snapshot was already ahead of that place:
// their events up to there must not come twice.

// cursorAt writes a place as the cursor that clients see.
func (c *core) cursorAt(place int64, ahead map[shoal.SpaceID]int64) shoal.Cursor {
	out := c.store.Epoch() + "." + strconv.FormatInt(place, 10)
	if len(ahead) == 0 {
		return shoal.Cursor(out)
	}
	for _, space := range slices.Sorted(maps.Keys(ahead)) {
		if upTo := ahead[space]; upTo > place {
			out += "," + string(space) + ":" + strconv.FormatInt(upTo, 10)
		}
	}
	return shoal.Cursor(out)
}

// placeOf reads a cursor. ok is false for a cursor of another database: it
// names no place here, so its bearer needs a snapshot.
func (c *core) placeOf(cursor shoal.Cursor) (place int64, ahead map[shoal.SpaceID]int64, ok bool, err error) {
	parts := strings.Split(string(cursor), ",")
	epoch, number, found := strings.Cut(parts[0], ".")
	place, valid := placeNumber(number)
	valid = valid && found
	ahead = map[shoal.SpaceID]int64{}
	for _, part := range parts[1:] {
		space, number, found := strings.Cut(part, ":")
		upTo, isPlace := placeNumber(number)
		ahead[shoal.SpaceID(space)] = upTo
		valid = valid && found && isPlace
	}
	if !valid {
		return 0, nil, false, shoal.Invalid("after", fmt.Sprintf("is no cursor: %.40q was not the id of an event here", cursor))
	}
	return place, ahead, epoch == c.store.Epoch(), nil
}

func placeNumber(s string) (place int64, ok bool) {
	place, err := strconv.ParseInt(s, 10, 64)
	return place, err == nil && place >= 0
}
