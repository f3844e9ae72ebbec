package hub

import (
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
)

// enter checks that who may know of session at all.
func enter(who shoal.Principal, session shoal.SessionID) error {
	if who.SessionID != "" && who.SessionID != session || who.SessionID == "" && !who.Admin() {
		return noSession(session)
	}
	return nil
}

func noSession(session shoal.SessionID) error {
	return shoal.E("", shoal.NotFound, fmt.Sprintf("There is no session %q here.", session))
}

// mayBe reports whether anything can have this id. What nothing can have is not
// looked for: not every database bears every string.
func mayBe[T ~string](id T) bool { return shoal.CheckID("id", string(id)) == nil }

// sessionOf returns a session or says that there is none.
func sessionOf(tx Tx, id shoal.SessionID) (shoal.Session, error) {
	if !mayBe(id) {
		return shoal.Session{}, noSession(id)
	}
	s, err := tx.Session(id)
	if errors.Is(err, shoal.NotFound) {
		err = noSession(id)
	}
	return s, err
}

func noSpace(space shoal.SpaceID) error {
	return shoal.E("", shoal.NotFound, fmt.Sprintf("There is no space %q among those you are in. List yours to see their ids, or ask a member to add you.", space))
}

func noEntity(entity shoal.EntityID) error {
	return shoal.E("", shoal.NotFound, fmt.Sprintf("There is no entity %q in this session. List the entities to see their ids.", entity))
}

// adminOnly refuses everybody but admins.
func adminOnly(who shoal.Principal) error {
	if who.Admin() {
		return nil
	}
	return shoal.E("", shoal.Forbidden, fmt.Sprintf("A key of role %q may not do this; it needs an admin key.", who.Role))
}

// managersOnly refuses everybody but admins and owners of the session, which enter
// has compared with the one that the call names.
func managersOnly(who shoal.Principal) error {
	if who.Manages() {
		return nil
	}
	return shoal.E("", shoal.Forbidden, fmt.Sprintf("A key of role %q may not do this; it needs an admin key, or the key of an owner of the session.", who.Role))
}

// actor returns the entity that acts.
func actor(who shoal.Principal) (shoal.EntityID, error) {
	switch {
	case who.EntityID == shoal.System:
		return "", shoal.E("", shoal.Forbidden, "Nobody can act as \"system\"; name another entity.")
	case who.EntityID != "":
		return who.EntityID, nil
	case who.Admin():
		return "", shoal.E("", shoal.EntityRequired, "This call needs an acting entity: name it with the header X-Shoal-Entity.")
	default:
		return "", shoal.E("", shoal.Forbidden, fmt.Sprintf("A key of role %q acts as no entity; use an entity key.", who.Role))
	}
}

// reader is whose spaces who may see: an entity its own; everybody's, as "",
// for admins, services and owners of the session.
func reader(who shoal.Principal) shoal.EntityID {
	if who.Role == shoal.RoleEntity && !who.Owner {
		return who.EntityID
	}
	return ""
}

// ownEntity is the entity on which the right of a caller rests: the one of an entity's
// key, none for all others.
func ownEntity(who shoal.Principal) shoal.EntityID {
	if who.Role == shoal.RoleEntity {
		return who.EntityID
	}
	return ""
}

// sees returns the space if who may read it.
func sees(tx Tx, who shoal.Principal, session shoal.SessionID, space shoal.SpaceID) (shoal.Space, error) {
	return visible(tx, who, session, space, tx.Space)
}

// visible finds the space and returns it if who may know of it.
func visible(tx Tx, who shoal.Principal, session shoal.SessionID, space shoal.SpaceID, find func(shoal.SessionID, shoal.SpaceID) (shoal.Space, error)) (shoal.Space, error) {
	if err := enter(who, session); err != nil {
		return shoal.Space{}, err
	}
	if !mayBe(session) || !mayBe(space) {
		return shoal.Space{}, noSpace(space)
	}
	s, err := find(session, space)
	return s, admit(tx, who, session, space, err)
}

// changes returns the space, locked, if who may change it: a member or an
// admin.
func changes(tx Tx, who shoal.Principal, session shoal.SessionID, space shoal.SpaceID) (shoal.Space, error) {
	s, err := visible(tx, who, session, space, tx.LockSpace)
	if err != nil {
		return s, err
	}
	if who.Role == shoal.RoleService {
		return s, shoal.E("", shoal.Forbidden, "A service key may read spaces, not change them; use the key of a member.")
	}
	if err := openSession(tx, session); err != nil {
		return s, err
	}
	if s.Status == shoal.SpaceShut {
		return s, closedSpace(s)
	}
	return s, nil
}

// moderates is changes for what the session may reserve for the moderators of its spaces:
// the owner of the space, admins and owners of the session, and admins.
func moderates(tx Tx, who shoal.Principal, session shoal.SessionID, space shoal.SpaceID) (shoal.Space, error) {
	s, err := changes(tx, who, session, space)
	if err != nil || who.Manages() || s.OwnerID != nil && *s.OwnerID == who.EntityID {
		return s, err
	}
	in, err := sessionOf(tx, session)
	if err != nil || in.SpaceRights != shoal.SpaceRightsModerators {
		return s, err
	}
	e, err := entityOf(tx, session, who.EntityID)
	if err != nil || e.SessionRole == shoal.SessionAdmin {
		return s, err
	}
	owner := ""
	if s.OwnerID != nil {
		owner = fmt.Sprintf("its owner %q and by ", *s.OwnerID)
	}
	return s, shoal.E("", shoal.Forbidden, fmt.Sprintf(
		"Members of the space %q may not do this: in this session (spaceRights: moderators) a space is changed by %sadmins and owners of the session. Ask one of them.", s.ID, owner))
}

func closedSpace(s shoal.Space) error {
	return shoal.E("", shoal.SpaceClosed, fmt.Sprintf("The space %q is closed: its history stays readable, but nothing can be added. Create a new space to go on.", s.ID))
}

// admit turns what looking up a space gave into what who may know of it.
func admit(tx Tx, who shoal.Principal, session shoal.SessionID, space shoal.SpaceID, err error) error {
	if errors.Is(err, shoal.NotFound) {
		return noSpace(space)
	}
	if err != nil || reader(who) == "" {
		return err
	}
	in, err := tx.IsMember(session, space, who.EntityID)
	if err == nil && !in {
		err = noSpace(space)
	}
	return err
}

// openSession refuses changes in a closed or unknown session.
func openSession(tx Tx, session shoal.SessionID) error {
	s, err := sessionOf(tx, session)
	if err == nil && s.Status == shoal.SessionShut {
		err = shoal.E("", shoal.SessionClosed, fmt.Sprintf("The session %q is closed: it can be read, but nothing in it changes any more.", session))
	}
	return err
}
