// Package behalf determines for whom a run acts, and what it may read and write for them.
//
// Without these rules, every entity that can mention a hosted agent could read every space
// of the agent through it. The rules are pure functions of data that the hub looks up.
package behalf

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
)

// MaxActingFor limits the people, agents and services that one run acts for.
const MaxActingFor = 100

// service is the prefix of service names among entity ids. An entity id has no colon.
const service = "service:"

// Service returns the id of a service in the list of those that a run acts for.
func Service(name string) shoal.EntityID { return shoal.EntityID(service + name) }

// IsService reports whether id is that of a service and not of an entity.
func IsService(id shoal.EntityID) bool { return strings.HasPrefix(string(id), service) }

// Join returns the union of the sets, sorted, without empty ids. It does not modify them.
func Join(sets ...[]shoal.EntityID) []shoal.EntityID {
	all := slices.DeleteFunc(append([]shoal.EntityID{}, slices.Concat(sets...)...), func(id shoal.EntityID) bool { return id == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

// Scope selects whose rights limit a run: the agent's alone, or also the rights of everybody
// that the run acts for.
type Scope string

// The scopes of a configuration's access.
const (
	Requester Scope = "requester"
	Agent     Scope = "agent"
)

// Access is the access setting of an agent's configuration. An empty Read means Requester, an
// empty Write means Agent.
type Access struct {
	Read  Scope
	Write Scope
}

// Run contains the properties of a run that the rules depend on. Space is the space of the
// trigger, empty if no message started the run.
type Run struct {
	Space  shoal.SpaceID
	For    []shoal.EntityID
	Access Access
}

// Reads reports whether an entity may read a space: it is a member, or it manages the
// session.
type Reads func(id shoal.EntityID, space shoal.SpaceID) (bool, error)

// MayRead reports whether the run may read a space that its agent is a member of. It may
// always read the trigger's space; it may read another space if everybody that the run acts
// for may read it. A run that acts for nobody may read no other space.
func (r Run) MayRead(space shoal.SpaceID, reads Reads) (bool, error) {
	if r.Access.Read == Agent || space == r.Space && space != "" {
		return true, nil
	}
	return r.allMayRead(space, reads)
}

// MayWrite reports whether the run may write into a space that its agent is a member of: into
// every one, unless the configuration limits writes to the rights of those it acts for.
func (r Run) MayWrite(space shoal.SpaceID, reads Reads) (bool, error) {
	if r.Access.Write != Requester || space == r.Space && space != "" {
		return true, nil
	}
	return r.allMayRead(space, reads)
}

func (r Run) allMayRead(space shoal.SpaceID, reads Reads) (bool, error) {
	for _, id := range r.For {
		if mayReadAll(id) {
			continue
		}
		if may, err := reads(id, space); err != nil || !may {
			return false, err
		}
	}
	return len(r.For) > 0, nil
}

// MaySee reports whether the run may see the activity of another run of the agent that no
// message of a space has started: both act for the same entities, or those that this run
// acts for may read everything.
func (r Run) MaySee(other []shoal.EntityID) bool {
	if r.Access.Read == Agent {
		return true
	}
	for _, id := range r.For {
		if !mayReadAll(id) && !slices.Contains(other, id) {
			return false
		}
	}
	return len(r.For) > 0
}

// mayReadAll reports whether id may read every space: a service and the server itself.
func mayReadAll(id shoal.EntityID) bool { return IsService(id) || id == shoal.System }

// OnBehalfOf returns the entities for whom the run posts a message in a space. The list is
// empty in the trigger's space, where everybody sees the request.
func (r Run) OnBehalfOf(space shoal.SpaceID) []shoal.EntityID {
	if space == r.Space {
		return []shoal.EntityID{}
	}
	return append([]shoal.EntityID{}, r.For...)
}

// Requesters returns the humans for whom a run acts: the humans in actingFor, and the owners
// of the agents in it, sorted. find returns an entity, or the zero value if it does not
// exist.
func Requesters(actingFor []shoal.EntityID, find func(shoal.EntityID) (shoal.Entity, error)) ([]shoal.EntityID, error) {
	out := []shoal.EntityID{}
	for _, id := range actingFor {
		if mayReadAll(id) {
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
