package load

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// World is the content of a session of a Shoal server before it is loaded: agents, each with
// its own key.
type World struct {
	Admin   *client.Client
	Session *client.Session
	ID      shoal.SessionID
	Keys    []string // of the agents, by number
}

// AgentID returns the id of the agent with a number.
func AgentID(n int) shoal.EntityID { return shoal.EntityID(fmt.Sprintf("a%d", n)) }

// SpaceID returns the id of the space with a number.
func SpaceID(i int) shoal.SpaceID { return shoal.SpaceID(fmt.Sprintf("pair-%d", i)) }

// atOnce is the number of concurrent requests during setup, which then share commits.
const atOnce = 16

// NewWorld creates the agents in an existing session, as an admin.
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

// Pair creates a space for each pair: the members of the i-th are the agents 2i, the sender,
// and 2i+1, the waiter.
func (w *World) Pair(ctx context.Context, pairs int) error { return w.Rooms(ctx, pairs, 2) }

// Rooms creates rooms spaces with agents members each; no agent is in two spaces.
func (w *World) Rooms(ctx context.Context, rooms, agents int) error {
	return each(rooms, func(i int) error {
		return w.Room(ctx, SpaceID(i), i*agents, agents)
	})
}

// Room creates a space whose members are a number of agents, starting with first.
func (w *World) Room(ctx context.Context, id shoal.SpaceID, first, agents int) error {
	members := make([]shoal.EntityID, agents)
	for n := range members {
		members[n] = AgentID(first + n)
	}
	named := min(agents, shoal.MaxNewMembers)
	if _, err := w.Session.CreateSpace(ctx, shoal.NewSpace{ID: id, Name: "Load", Members: members[:named]}); err != nil {
		return err
	}
	return each(agents-named, func(i int) error {
		_, err := w.Session.AddMember(ctx, id, members[named+i])
		return err
	})
}

// StreamsEach is the number of streams that Shoal permits for one key.
const StreamsEach = 20

// Services creates the keys for readers. A service may read every space without being a member;
// members would also receive each message in an inbox. Reader i uses the key i/[StreamsEach].
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

// Path returns the path of the session.
func (w *World) Path() string { return "/v1/sessions/" + string(w.ID) }

// MessagesPath returns the path of the messages of a space.
func (w *World) MessagesPath(space shoal.SpaceID) string {
	return w.Path() + "/spaces/" + string(space) + "/messages"
}

// EventsPath returns the path of the events of a space.
func (w *World) EventsPath(space shoal.SpaceID) string {
	return w.Path() + "/spaces/" + string(space) + "/events"
}

// WaitPath returns the path of the waits of an agent.
func (w *World) WaitPath(n int) string { return w.Path() + "/entities/" + string(AgentID(n)) + "/wait" }

// Header returns the header of a REST call with a key.
func Header(key string) http.Header {
	return http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
}

// StreamHeader returns the header of a call with a key whose response is a stream.
func StreamHeader(key string) http.Header {
	h := Header(key)
	h.Set("Accept", "text/event-stream")
	return h
}

// each calls do for 0…n-1, atOnce of them concurrently, and returns the first error. A worker
// stops at its first error, because a server that refuses one call refuses most.
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
