// Package behalf decides for whom a run acts, and what it may read and write for them.
//
// Whoever can mention a hosted agent could otherwise read through it every space that
// the agent is in. The rules are pure functions over what the hub looks up.
package behalf

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
)

// Most is how many people, agents and services one run acts for at most.
const Most = 100

// service begins the name of a service among entities. An entity id has no colon.
const service = "service:"

// Service returns how a service is named among those that a run acts for.
func Service(name string) shoal.EntityID { return shoal.EntityID(service + name) }

// IsService reports whether id names a service and no entity.
func IsService(id shoal.EntityID) bool { return strings.HasPrefix(string(id), service) }

// Join returns the union of the sets, sorted, without empty ids. It changes none of
// them.
func Join(sets ...[]shoal.EntityID) []shoal.EntityID {
	all := slices.DeleteFunc(append([]shoal.EntityID{}, slices.Concat(sets...)...), func(id shoal.EntityID) bool { return id == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

// Scope says whose rights bound what a run may do: its own agent's alone, or also those
// of everybody it acts for.
type Scope string

// The scopes of a configuration's access.
const (
	Requester Scope = "requester"
	Agent     Scope = "agent"
)

// Access is that of an agent's configuration. An empty Read is Requester, an empty
// Write is Agent.
type Access struct {
	Read  Scope
	Write Scope
}

// Run is a run as these rules see it. Space is the trigger's, empty where no message
// started the run.
type Run struct {
	Space  shoal.SpaceID
	For    []shoal.EntityID
	Access Access
}

// Reads reports whether an entity may read a space: it is a member, or manages the
// session.
type Reads func(id shoal.EntityID, space shoal.SpaceID) (bool, error)

// MayRead reports whether the run may read a space that its agent is in. The trigger's
// space always; another one if everybody that the run acts for may read it. A run for
// nobody known reads no other space.
func (r Run) MayRead(space shoal.SpaceID, reads Reads) (bool, error) {
	if r.Access.Read == Agent || space == r.Space && space != "" {
		return true, nil
	}
	return r.all(space, reads)
}

// MayWrite reports whether the run may write into a space that its agent is in: into
// every one, unless the configuration bounds it by those that it acts for.
func (r Run) MayWrite(space shoal.SpaceID, reads Reads) (bool, error) {
	if r.Access.Write != Requester || space == r.Space && space != "" {
		return true, nil
	}
	return r.all(space, reads)
}

func (r Run) all(space shoal.SpaceID, reads Reads) (bool, error) {
	for _, id := range r.For {
		if readsAll(id) {
			continue
		}
		if may, err := reads(id, space); err != nil || !may {
			return false, err
		}
	}
	return len(r.For) > 0, nil
}

// MaySee reports whether the run may see what another run of the agent, for which no
// message of a space is the cause, does: both act for the same, or this one's may read
// everything.
func (r Run) MaySee(other []shoal.EntityID) bool {
	if r.Access.Read == Agent {
		return true
	}
	for _, id := range r.For {
		if !readsAll(id) && !slices.Contains(other, id) {
			return false
		}
	}
	return len(r.For) > 0
}

// readsAll reports whether id may read every space: a service and the server itself.
func readsAll(id shoal.EntityID) bool { return IsService(id) || id == shoal.System }

// OnBehalfOf returns whose wish a message of the run in a space carries: nobody's in the
// trigger's space, where everybody sees who asked.
func (r Run) OnBehalfOf(space shoal.SpaceID) []shoal.EntityID {
	if space == r.Space {
		return []shoal.EntityID{}
	}
	return append([]shoal.EntityID{}, r.For...)
}

// Requesters returns the people behind a run that acts for these: the humans among
// them, and the owners of the agents among them, sorted. find returns an entity, the
// zero value for one that is not there.
func Requesters(actingFor []shoal.EntityID, find func(shoal.EntityID) (shoal.Entity, error)) ([]shoal.EntityID, error) {
	out := []shoal.EntityID{}
	for _, id := range actingFor {
		if readsAll(id) {
			continue
		}
		e, err := find(id)
		if err != nil {
			return nil, err
		}
		switch {
		case e.Kind == shoal.Human:
			out = append(out, e.ID)
		case e.OwnerID != nil:
			out = append(out, *e.OwnerID)
		}
	}
	return Join(out), nil
}
