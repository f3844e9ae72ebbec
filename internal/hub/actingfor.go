package hub

import (
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/behalf"
)

// roots returns for whom a run acts. A run that is older than the record acts for whom
// its trigger names.
func (r StoredRun) roots() []shoal.EntityID {
	if len(r.ActingFor) > 0 {
		return r.ActingFor
	}
	switch t := r.Trigger; t.Type {
	case shoal.SpaceMessageTrigger:
		return behalf.Join([]shoal.EntityID{t.SenderEntityID})
	case shoal.ServiceTrigger:
		return []shoal.EntityID{behalf.Service(t.ServiceName)}
	}
	return []shoal.EntityID{}
}

// cause is where what the run says and starts belongs in its chain, deeper by so much.
func (r StoredRun) cause(deeper int) Cause {
	return Cause{Root: r.CauseRoot, Depth: r.Depth + deeper, Linked: r.Linked, ActingFor: r.roots()}
}

// root is a caller as somebody for whom a run acts: its entity, else the server itself,
// for a key that acts as nobody.
func root(who shoal.Principal) []shoal.EntityID {
	if who.EntityID == "" {
		return []shoal.EntityID{shoal.System}
	}
	return []shoal.EntityID{who.EntityID}
}

// requestersOf are the people behind a run.
func requestersOf(tx Tx, r StoredRun) ([]shoal.EntityID, error) {
	return behalf.Requesters(r.roots(), newJudge(tx, r.SessionID).entity)
}

// Reads looks up who may read a space, for [behalf.Run]: its members, and who manages
// the session.
func Reads(tx EntityReader, session shoal.SessionID) behalf.Reads {
	return func(id shoal.EntityID, space shoal.SpaceID) (bool, error) {
		if !mayBe(id) {
			return false, nil
		}
		e, err := tx.Entity(session, id)
		if errors.Is(err, shoal.NotFound) {
			return false, nil
		}
		if err != nil || manages(e) {
			return err == nil, err
		}
		return tx.IsMember(session, space, id)
	}
}

// EntityReader is what [Reads] needs of a [Tx].
type EntityReader interface {
	Entity(session shoal.SessionID, id shoal.EntityID) (shoal.Entity, error)
	IsMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID) (bool, error)
}

// OnBehalf is the run as the rules of [behalf] see it.
func (r StoredRun) OnBehalf(access behalf.Access) behalf.Run {
	return behalf.Run{Space: r.Space, For: r.roots(), Access: access}
}

// rootsOf returns those at the roots of the chain that a message belongs to. One that
// is older than the record has them from its run, else it is its sender's own.
func rootsOf(tx Tx, m shoal.Message, c Cause) ([]shoal.EntityID, error) {
	if len(c.ActingFor) > 0 {
		return c.ActingFor, nil
	}
	if m.RunID == nil {
		return []shoal.EntityID{m.EntityID}, nil
	}
	r, err := tx.Run(m.SessionID, *m.RunID)
	if errors.Is(err, shoal.NotFound) {
		return []shoal.EntityID{m.EntityID}, nil
	}
	return r.roots(), err
}
