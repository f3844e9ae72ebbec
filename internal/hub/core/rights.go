package core

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// CheckSession checks that the caller may know of a session at all.
func CheckSession(caller shoal.Principal, session shoal.SessionID) error {
	if caller.SessionID != "" && caller.SessionID != session || caller.SessionID == "" && !caller.Admin() {
		return SessionNotFound(session)
	}
	return nil
}

// SessionNotFound returns the error for a session that does not exist or that the caller may
// not know of.
func SessionNotFound(session shoal.SessionID) error {
	return shoal.E("", shoal.NotFound, fmt.Sprintf("Session %q not found.", session))
}

// ValidID reports whether id has the form of an id. Lookups check it first: no object has
// an invalid id, and not every database accepts every string.
func ValidID[T ~string](id T) bool { return shoal.CheckID("id", string(id)) == nil }

// FindSession returns a session; NotFound, with a message for people, if it does not exist.
func FindSession(tx Tx, id shoal.SessionID) (shoal.Session, error) {
	if !ValidID(id) {
		return shoal.Session{}, SessionNotFound(id)
	}
	s, err := tx.Session(id)
	if errors.Is(err, shoal.NotFound) {
		err = SessionNotFound(id)
	}
	return s, err
}

// SpaceNotFound returns the error for a space that does not exist or that the caller is not in.
func SpaceNotFound(space shoal.SpaceID) error {
	return shoal.E("", shoal.NotFound, fmt.Sprintf("Space %q not found among the spaces you are in. List your spaces to see their ids, or ask a member to add you.", space))
}

// EntityNotFound returns the error for an entity that does not exist in the session.
func EntityNotFound(entity shoal.EntityID) error {
	return shoal.E("", shoal.NotFound, fmt.Sprintf("Entity %q not found in this session. List the entities to see their ids.", entity))
}

// RequireAdmin rejects callers that are not admins.
func RequireAdmin(caller shoal.Principal) error {
	if caller.Admin() {
		return nil
	}
	return shoal.E("", shoal.Forbidden, fmt.Sprintf("A key with the role %q may not do this. Use an admin key.", caller.Role))
}

// Authorize checks that the caller may know of a session, and that its role there allows an act.
// It fails with NotFound or Forbidden.
func Authorize(caller shoal.Principal, session shoal.SessionID, act roles.Act) error {
	if err := CheckSession(caller, session); err != nil {
		return err
	}
	return May(caller, act)
}

// May rejects callers whose role does not allow an act, see [roles.Allows], or the scopes of whose
// key do not leave it. It does not check which session: [CheckSession] does, nor which space:
// [VisibleSpace] does, and [scopes.Session] for what is about more than one.
func May(caller shoal.Principal, act roles.Act) error {
	if err := mayByRole(caller, act); err != nil || caller.Scopes == "" {
		return err
	}
	if err := scopes.Act(caller.Scopes, act); err != nil || slices.Contains(actsInSpaces, act) {
		return err
	}
	return scopes.Session(caller.Scopes)
}

// actsInSpaces are the acts that keys which are limited to spaces can do: the operations that name
// them check the space, too, or are about nothing that is in one.
var actsInSpaces = []roles.Act{roles.ReadSession, roles.KeepInbox, roles.Post, roles.Answer, roles.Approve, roles.ControlRun}

func mayByRole(caller shoal.Principal, act roles.Act) error {
	switch {
	case roles.May(caller, act):
		return nil
	case caller.Role == shoal.RoleService || cmp.Or(caller.SessionRole, shoal.SessionMember) == shoal.SessionMember:
		use := "an admin key or the key of an owner of the session"
		if roles.AllowsService(act) {
			use = "a service key or an admin key"
		}
		return shoal.E("", shoal.Forbidden, fmt.Sprintf("A key with the role %q may not do this. Use %s.", caller.Role, use))
	}
	return shoal.E("", shoal.Forbidden, fmt.Sprintf("%q has the role %q in this session, which does not allow to %s. Ask an owner of the session.", caller.EntityID, caller.SessionRole, act))
}

// Guest reports whether the caller sees only the participants that share a space with it, and
// returns the entity that it is.
func Guest(caller shoal.Principal) (own shoal.EntityID, guest bool) {
	if caller.Role == shoal.RoleEntity && !roles.Allows(caller.SessionRole, roles.SeeEverybody) {
		return caller.EntityID, true
	}
	return "", false
}

// VisibleEntity returns an entity that the caller may know of, and NotFound for any other.
func VisibleEntity(tx Tx, caller shoal.Principal, session shoal.SessionID, id shoal.EntityID) (shoal.Entity, error) {
	e, err := FindEntity(tx, session, id)
	own, guest := Guest(caller)
	if err != nil || !guest {
		return e, err
	}
	switch near, err := tx.ShareSpace(session, own, id); {
	case err != nil:
		return shoal.Entity{}, err
	case !near:
		return shoal.Entity{}, EntityNotFound(id)
	}
	return e, nil
}

// ActingEntity returns the entity that the caller acts as.
func ActingEntity(caller shoal.Principal) (shoal.EntityID, error) {
	switch {
	case caller.EntityID == shoal.System:
		return "", shoal.E("", shoal.Forbidden, "Nobody can act as \"system\"; name another entity.")
	case caller.EntityID != "":
		return caller.EntityID, nil
	case caller.Admin():
		return "", shoal.E("", shoal.EntityRequired, "This call needs an acting entity: name it with the header X-Shoal-Entity.")
	default:
		return "", shoal.E("", shoal.Forbidden, fmt.Sprintf("A key with the role %q does not act as an entity. Use an entity key.", caller.Role))
	}
}

// ReaderEntity returns the entity to whose spaces a caller is limited, or an empty id for
// callers that see all spaces: admins, services, and owners and auditors of the session.
func ReaderEntity(caller shoal.Principal) shoal.EntityID {
	if caller.Role == shoal.RoleEntity && !roles.Allows(caller.SessionRole, roles.SeeEverything) {
		return caller.EntityID
	}
	return ""
}

// OwnEntity returns the entity that the rights of a caller depend on: the entity of an
// entity key, empty for all other keys.
func OwnEntity(caller shoal.Principal) shoal.EntityID {
	if caller.Role == shoal.RoleEntity {
		return caller.EntityID
	}
	return ""
}

// ReadableSpace returns a space that the caller may read.
func ReadableSpace(tx Tx, caller shoal.Principal, session shoal.SessionID, space shoal.SpaceID) (shoal.Space, error) {
	if err := Authorize(caller, session, roles.ReadSession); err != nil {
		return shoal.Space{}, err
	}
	return VisibleSpace(tx, caller, session, space, tx.Space)
}

// VisibleSpace returns the space that find returns if the caller may know of it; NotFound
// otherwise, and Forbidden, whether or not it exists, for one that the scopes of the key leave out.
func VisibleSpace(tx Tx, caller shoal.Principal, session shoal.SessionID, space shoal.SpaceID, find func(shoal.SessionID, shoal.SpaceID) (shoal.Space, error)) (shoal.Space, error) {
	if err := CheckSession(caller, session); err != nil {
		return shoal.Space{}, err
	}
	if !ValidID(session) || !ValidID(space) {
		return shoal.Space{}, SpaceNotFound(space)
	}
	if err := scopes.Space(caller.Scopes, space); err != nil {
		return shoal.Space{}, err
	}
	s, err := find(session, space)
	return s, checkReadable(tx, caller, session, space, err)
}

// WritableSpace returns a space, locked, that the caller may change: as a member or as an
// admin.
func WritableSpace(tx Tx, caller shoal.Principal, session shoal.SessionID, space shoal.SpaceID) (shoal.Space, error) {
	s, err := VisibleSpace(tx, caller, session, space, tx.LockSpace)
	if err != nil {
		return s, err
	}
	if caller.Role == shoal.RoleService {
		return s, shoal.E("", shoal.Forbidden, "A service key may read spaces, not change them; use the key of a member.")
	}
	if err := RequireOpenSession(tx, session); err != nil {
		return s, err
	}
	if s.Status == shoal.SpaceStatusClosed {
		return s, ClosedSpaceError(s)
	}
	return s, nil
}

// ModeratedSpace is WritableSpace for changes that the session may reserve for the
// moderators of its spaces.
func ModeratedSpace(tx Tx, caller shoal.Principal, session shoal.SessionID, space shoal.SpaceID) (shoal.Space, error) {
	if err := Authorize(caller, session, roles.ChangeSpace); err != nil {
		return shoal.Space{}, err
	}
	s, err := WritableSpace(tx, caller, session, space)
	if err != nil {
		return s, err
	}
	in, err := FindSession(tx, session)
	if err != nil || in.SpaceRights != shoal.SpaceRightsModerators {
		return s, err
	}
	may, err := moderatesIn(tx, caller, in, s)
	if err != nil || may {
		return s, err
	}
	owner := ""
	if s.OwnerID != nil {
		owner = fmt.Sprintf("its owner %q and by ", *s.OwnerID)
	}
	return s, shoal.E("", shoal.Forbidden, fmt.Sprintf(
		"Members of the space %q may not do this: in this session (spaceRights: moderators) a space is changed by %sadmins and owners of the session. Ask one of them.", s.ID, owner))
}

// Moderates reports whether the caller is a moderator of a space: an admin, an owner of the
// session, or, in a session whose spaces have moderators, the owner of the space or an admin
// of the session.
func Moderates(tx Tx, caller shoal.Principal, s shoal.Space) (bool, error) {
	if manages := scopes.Can(caller, roles.Manage); manages || OwnEntity(caller) == "" {
		return manages, nil
	}
	in, err := FindSession(tx, s.SessionID)
	if err != nil {
		return false, err
	}
	return moderatesIn(tx, caller, in, s)
}

// moderatesIn is Moderates with the session, which the caller has read.
func moderatesIn(tx Tx, caller shoal.Principal, in shoal.Session, s shoal.Space) (bool, error) {
	own, manages := OwnEntity(caller), scopes.Can(caller, roles.Manage)
	if manages || own == "" || in.SpaceRights != shoal.SpaceRightsModerators {
		return manages, nil
	}
	if s.OwnerID != nil && *s.OwnerID == own {
		return true, nil
	}
	e, err := FindEntity(tx, in.ID, own)
	return err == nil && roles.Allows(e.SessionRole, roles.Moderate) && scopes.AllowAct(caller.Scopes, roles.Moderate), err
}

// ClosedSpaceError returns the error for a change to a closed space.
func ClosedSpaceError(s shoal.Space) error {
	return shoal.E("", shoal.SpaceClosed, fmt.Sprintf("The space %q is closed: its history stays readable, but nothing can be added. Create a new space to go on.", s.ID))
}

// checkReadable takes the error of looking up a space and returns NotFound if the space
// does not exist or the caller may not know of it.
func checkReadable(tx Tx, caller shoal.Principal, session shoal.SessionID, space shoal.SpaceID, err error) error {
	if errors.Is(err, shoal.NotFound) {
		return SpaceNotFound(space)
	}
	if err != nil || ReaderEntity(caller) == "" {
		return err
	}
	in, err := tx.IsMember(session, space, caller.EntityID)
	if err == nil && !in {
		err = SpaceNotFound(space)
	}
	return err
}

// RequireOpenSession rejects changes in a session that is closed or does not exist.
func RequireOpenSession(tx Tx, session shoal.SessionID) error {
	s, err := FindSession(tx, session)
	if err == nil && s.Status == shoal.SessionStatusClosed {
		err = shoal.E("", shoal.SessionClosed, fmt.Sprintf("The session %q is closed: it can be read, but nothing in it changes any more.", session))
	}
	return err
}
