package load

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// World is what stands in a session of a Shoal server before it is loaded: agents,
// each with a key of its own.
type World struct {
	Admin   *client.Client
	Session *client.Session
	ID      shoal.SessionID
	Keys    []string // of the agents, by number
}

// AgentID names an agent by its number.
func AgentID(n int) shoal.EntityID { return shoal.EntityID(fmt.Sprintf("a%d", n)) }

// SpaceID names a space by its number.
func SpaceID(i int) shoal.SpaceID { return shoal.SpaceID(fmt.Sprintf("pair-%d", i)) }

// atOnce is how much is made or looked at together: it shares commits.
const atOnce = 16

// NewWorld makes so many agents in a session that exists, as an admin.
func NewWorld(ctx context.Context, admin *client.Client, id shoal.SessionID, agents int) (*World, error) {
	w := &World{Admin: admin, Session: admin.Session(id), ID: id, Keys: make([]string, agents)}
	return w, each(agents, func(n int) error {
		made, err := admin.CreateKey(ctx, shoal.NewKey{Role: shoal.RoleEntity, SessionID: id, EntityID: AgentID(n)})
		if err == nil {
			w.Keys[n] = *made.Secret
		}
		return err
	})
}

// Pair makes so many spaces: in the i-th are the agents 2i, who sends, and 2i+1, who
// waits.
func (w *World) Pair(ctx context.Context, pairs int) error { return w.Rooms(ctx, pairs, 2) }

// Rooms makes so many spaces, each with so many agents, no agent in two.
func (w *World) Rooms(ctx context.Context, rooms, agents int) error {
	return each(rooms, func(i int) error {
		members := make([]shoal.EntityID, agents)
		for n := range members {
			members[n] = AgentID(i*agents + n)
		}
		_, err := w.Session.CreateSpace(ctx, shoal.NewSpace{ID: SpaceID(i), Name: "Load", Members: members})
		return err
	})
}

// StreamsEach is how many streams Shoal allows one key.
const StreamsEach = 20

// Services makes the keys that so many readers need, who may look into every space
// without being members, who would get each message into an inbox besides. Reader
// i uses the key i/[StreamsEach].
func (w *World) Services(ctx context.Context, readers int) ([]string, error) {
	keys := make([]string, (readers+StreamsEach-1)/StreamsEach)
	return keys, each(len(keys), func(n int) error {
		made, err := w.Admin.CreateKey(ctx, shoal.NewKey{Role: shoal.RoleService, SessionID: w.ID})
		if err == nil {
			keys[n] = *made.Secret
		}
		return err
	})
}

// Path is where the session is.
func (w *World) Path() string { return "/v1/sessions/" + string(w.ID) }

// MessagesPath is where messages of a space go to.
func (w *World) MessagesPath(space shoal.SpaceID) string {
	return w.Path() + "/spaces/" + string(space) + "/messages"
}

// EventsPath is where the events of a space come from.
func (w *World) EventsPath(space shoal.SpaceID) string {
	return w.Path() + "/spaces/" + string(space) + "/events"
}

// WaitPath is where an agent waits.
func (w *World) WaitPath(n int) string { return w.Path() + "/entities/" + string(AgentID(n)) + "/wait" }

// Header is what a REST call with a key has.
func Header(key string) http.Header {
	return http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
}

// StreamHeader is what a call with a key has whose answer is a stream.
func StreamHeader(key string) http.Header {
	h := Header(key)
	h.Set("Accept", "text/event-stream")
	return h
}

// each calls do for 0…n-1, atOnce of them together, and returns the first error: a server that
// refuses one refuses most. A worker stops at its own first.
func each(n int, do func(i int) error) error {
	var running sync.WaitGroup
	failed := make([]error, min(atOnce, n))
	for k := range failed {
		running.Go(func() {
			for i := k; i < n && failed[k] == nil; i += len(failed) {
				failed[k] = do(i)
			}
		})
	}
	running.Wait()
	return firstOf(failed)
}

func firstOf(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
