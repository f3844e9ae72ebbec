package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/spaces"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/naming"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Invites manages invitations to sessions. It never sees the code of a link, only its hash.
type Invites struct{ core *core.Core }

// NewInvites returns the invitations of a hub.
func NewInvites(c *core.Core) *Invites { return &Invites{c} }

// maxHandles bounds how many ids are tried for a name.
const maxHandles = 1000

// Create stores an invitation under the hash of its code. For admins, and for owners and admins of
// the session, who cannot give more than they have: it fails with Forbidden for a role that
// [roles.MayGive] excludes, and for a space that the caller may not change.
// The invitation ends with the key that made it, unless that is the sign-in of a browser.
// replayed reports that an earlier call with the same idempotency key created it: then the code
// that the caller generated belongs to no invitation.
func (i *Invites) Create(ctx context.Context, caller shoal.Principal, session shoal.SessionID, n shoal.NewInvite, hash, idempotencyKey string) (out shoal.Invite, replayed bool, err error) {
	const op = "hub.Invites.Create"
	err = errors.Join(core.Authorize(caller, session, roles.Invite), n.Validate(), naming.Check("name", n.Name), core.CheckIdempotencyKey(idempotencyKey))
	if err != nil {
		return out, false, core.Wrap(op, core.FirstError(err))
	}
	if role := cmp.Or(n.SessionRole, shoal.SessionMember); !caller.Admin() && !roles.MayGive(caller.SessionRole, role) {
		return out, false, core.Wrap(op, mayNotGive(caller, role))
	}
	err = i.core.Change(ctx, op, storage.In(session), func(ch *core.Change) (err error) {
		out, replayed, err = core.Once(ch, caller, session, op, idempotencyKey, n, func() (shoal.Invite, error) {
			return insertInvite(ch, caller, session, n, hash)
		})
		return err
	})
	return out, replayed, err
}

// mayNotGive returns the error for a role that the caller cannot give, which says what it can.
func mayNotGive(caller shoal.Principal, role shoal.SessionRole) error {
	var may []string
	for _, r := range roles.Given(caller.SessionRole) {
		may = append(may, strconv.Quote(string(r)))
	}
	return shoal.E("", shoal.Forbidden, fmt.Sprintf("%q has the role %q in this session and cannot give the role %q, which allows more. It can give %s; ask an owner of the session for another one.", caller.EntityID, caller.SessionRole, role, strings.Join(may, ", ")))
}

func insertInvite(ch *core.Change, caller shoal.Principal, session shoal.SessionID, n shoal.NewInvite, hash string) (shoal.Invite, error) {
	out := shoal.Invite{
		ID: shoal.NewID[shoal.InviteID](shoal.PrefixInvite), SessionID: session, Name: n.Name, SessionRole: cmp.Or(n.SessionRole, shoal.SessionMember),
		Spaces: append([]shoal.SpaceID{}, n.Spaces...), CreatedAt: ch.At, ExpiresAt: shoal.At(ch.At.Add(shoal.InviteLife)),
	}
	if caller.EntityID != "" {
		out.CreatedBy = &caller.EntityID
	}
	if n.ExpiresAt != nil {
		out.ExpiresAt = *n.ExpiresAt
	}
	switch life := out.ExpiresAt.Sub(ch.At.Time); {
	case life <= 0:
		return out, shoal.Invalid("expiresAt", "lies in the past")
	case life > shoal.MaxInviteLife:
		return out, shoal.Invalid("expiresAt", fmt.Sprintf("must be within %d days", int(shoal.MaxInviteLife.Hours())/24))
	}
	with, err := callerKey(ch, caller)
	if err != nil {
		return out, err
	}
	if outlives(&out.ExpiresAt, with.ExpiresAt) {
		if n.ExpiresAt != nil {
			return out, tooLong("invitation", *with.ExpiresAt)
		}
		out.ExpiresAt = *with.ExpiresAt
	}
	if err := core.RequireOpenSession(ch, session); err != nil {
		return out, err
	}
	for _, id := range n.Spaces {
		if _, err := core.ModeratedSpace(ch, caller, session, id); err != nil {
			return out, err
		}
	}
	if err := ch.SweepInvites(ch.At); err != nil {
		return out, err
	}
	open, err := ch.Invites(session, ch.At, "", shoal.MaxInvites)
	if err != nil {
		return out, err
	}
	if len(open) >= shoal.MaxInvites {
		return out, shoal.E("", shoal.Conflict, fmt.Sprintf("%d invitations of this session wait to be accepted already. Delete some, or wait until they expire.", len(open)))
	}
	return out, errors.Join(ch.InsertInvite(out, hash, with.ID), recordInvite(ch, caller, audit.InviteCreate, out))
}

// recordInvite records what was done with an invitation.
func recordInvite(ch *core.Change, caller shoal.Principal, act audit.Act, i shoal.Invite) error {
	spaces := make([]string, len(i.Spaces))
	for n, id := range i.Spaces {
		spaces[n] = string(id)
	}
	return ch.Record(caller, i.SessionID, act, audit.Target{Kind: "invite", ID: string(i.ID)}, "sessionRole", string(i.SessionRole), "spaces", strings.Join(spaces, " "))
}

// List returns at most limit invitations that work, with ids after the given one, in the order
// of ids. For admins, and for owners, admins and auditors of the session.
func (i *Invites) List(ctx context.Context, caller shoal.Principal, session shoal.SessionID, after shoal.InviteID, limit int) (out []shoal.Invite, err error) {
	const op = "hub.Invites.List"
	if err := core.Authorize(caller, session, roles.ReadInvites); err != nil {
		return nil, core.Wrap(op, err)
	}
	err = i.core.View(ctx, op, func(tx storage.Tx) error {
		if _, err := core.FindSession(tx, session); err != nil {
			return err
		}
		out, err = tx.Invites(session, shoal.Now(), after, limit)
		return err
	})
	return out, err
}

// Delete makes an invitation stop working. For admins, and for owners and admins of the session;
// an admin of the session cannot withdraw one whose role it could not give.
func (i *Invites) Delete(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.InviteID) error {
	const op = "hub.Invites.Delete"
	if err := core.Authorize(caller, session, roles.Invite); err != nil {
		return core.Wrap(op, err)
	}
	return i.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		if _, err := core.FindSession(ch, session); err != nil {
			return err
		}
		err := error(shoal.NotFound)
		if core.ValidID(id) {
			err = deleteInvite(ch, caller, session, id)
		}
		if errors.Is(err, shoal.NotFound) {
			return shoal.E("", shoal.NotFound, fmt.Sprintf("Invitation %q not found: it was accepted, deleted or has expired.", id))
		}
		if err != nil {
			return err
		}
		return ch.Record(caller, session, audit.InviteDelete, audit.Target{Kind: "invite", ID: string(id)})
	})
}

// deleteInvite deletes an invitation whose role the caller may give.
func deleteInvite(ch *core.Change, caller shoal.Principal, session shoal.SessionID, id shoal.InviteID) error {
	of, err := ch.Invite(session, id)
	if err != nil {
		return err
	}
	if !caller.Admin() && !roles.MayGive(caller.SessionRole, of.SessionRole) {
		return mayNotGive(caller, of.SessionRole)
	}
	return ch.DeleteInvite(session, id)
}

// Accept takes the invitation with a hash: it creates a person with a name and an id made of it,
// the member of the spaces that the invitation names, and a key of that person under the hash
// keyHash. Of all calls with one invitation one succeeds; the others, and those with one that has
// expired or never was, fail with Unauthenticated. A name that is refused leaves the invitation
// as it was. The code of the invitation proves the right; Accept checks no other.
func (i *Invites) Accept(ctx context.Context, hash, name, keyHash string) (out shoal.Invite, key shoal.Key, err error) {
	const op = "hub.Invites.Accept"
	if err := naming.Check("name", name); err != nil {
		return out, key, core.Wrap(op, err)
	}
	// A guess does not begin a change, which would exclude those of everybody else.
	err = i.core.View(ctx, op, func(tx storage.Tx) error {
		_, err := tx.InviteByHash(hash, shoal.Now())
		return endedInvite(err)
	})
	if err != nil {
		return out, key, err
	}
	err = i.core.Change(ctx, op, storage.Global, func(ch *core.Change) error {
		if out, err = ch.TakeInvite(hash, ch.At); err != nil {
			return endedInvite(err)
		}
		e, err := insertPerson(ch, out.SessionID, shoal.NewEntity{SessionRole: out.SessionRole, Name: name})
		if err != nil {
			return err
		}
		for _, id := range out.Spaces {
			if err := spaces.AddInvited(ch, out, id, e.ID); err != nil {
				return err
			}
		}
		key, err = insertKey(ch, shoal.NewKey{Role: shoal.RoleEntity, SessionID: out.SessionID, EntityID: e.ID, Name: "invitation"}, keyHash, "")
		if err != nil {
			return err
		}
		return recordInvite(ch, principalOf(key), audit.InviteAccept, out)
	})
	return out, key, err
}

// endedInvite replaces NotFound by the error of a code that proves nothing.
func endedInvite(err error) error {
	if errors.Is(err, shoal.NotFound) {
		return shoal.E("", shoal.Unauthenticated, "This invitation does not work any more: it was accepted, was withdrawn or has expired. Ask for another one.")
	}
	return err
}

// insertPerson creates a person with an id that resembles the name.
func insertPerson(ch *core.Change, session shoal.SessionID, n shoal.NewEntity) (shoal.Entity, error) {
	id := naming.Handle(n.Name)
	for try := 2; try < maxHandles; try++ {
		n.ID, n.Kind = shoal.EntityID(id), shoal.Human
		made, err := core.InsertEntity(ch, session, n, "")
		if !errors.Is(err, shoal.AlreadyExists) {
			return made, err
		}
		id = fmt.Sprintf("%s-%d", naming.Handle(n.Name), try)
	}
	return shoal.Entity{}, shoal.E("", shoal.AlreadyExists, fmt.Sprintf("Too many participants are called %q. Choose another name.", n.Name))
}
