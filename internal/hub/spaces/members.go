package spaces

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/agents"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

func spaceFull() error {
	return shoal.E("", shoal.Conflict, fmt.Sprintf("The space has %d members, which is the most that a space may have. Remove members that do not need it, or use another space.", shoal.MaxMembers))
}

func notAMember(space shoal.SpaceID, entity shoal.EntityID) error {
	return shoal.E("", shoal.NotFound, fmt.Sprintf("%q is not a member of the space %q.", entity, space))
}

// newMember is an entity that has just joined a space.
type newMember struct {
	shoal.Member
	entity shoal.Entity
}

// addMember adds a member to s, counts it there and emits member.joined. It fails with Conflict
// if the space is full, with NotFound if the entity does not exist and with Forbidden for an
// agent that the caller may not invite.
func addMember(ch *core.Change, caller shoal.Principal, s *shoal.Space, id shoal.EntityID) (newMember, error) {
	session, space := s.SessionID, s.ID
	if s.MemberCount >= shoal.MaxMembers {
		return newMember{}, spaceFull()
	}
	e, err := core.FindEntity(ch, session, id)
	if err != nil {
		return newMember{}, err
	}
	if err := mayInvite(ch, caller, e); err != nil {
		return newMember{}, err
	}
	m := shoal.Member{EntityID: id, Kind: e.Kind, Name: e.Name, JoinedAt: ch.At}
	if caller.EntityID != "" && caller.EntityID != id {
		m.AddedBy = &caller.EntityID
	}
	if err := ch.InsertMember(session, space, m); err != nil {
		return newMember{}, err
	}
	s.MemberCount++
	ch.Notify(core.EntityTopic(session, id))
	return newMember{m, e}, core.EmitInSpace(ch, session, space, id, shoal.EventMemberJoined, func(h shoal.EventHead) any {
		return shoal.MemberData{EventHead: h, Member: m, MemberCount: s.MemberCount}
	})
}

// mayInvite checks that the caller may add a hosted agent to a space: its configuration
// must list the caller (invite). Admins and the owners of the session and of the agent
// always may.
func mayInvite(tx Tx, caller shoal.Principal, e shoal.Entity) error {
	if !e.Hosted || scopes.Can(caller, roles.Manage) || caller.EntityID == e.ID || e.OwnerID != nil && *e.OwnerID == caller.EntityID {
		return nil
	}
	a, err := tx.HostedAgent(e.SessionID, e.ID)
	if err != nil {
		return err
	}
	var config struct {
		Invite []shoal.EntityID `json:"invite"` // empty: anyone
	}
	if err := json.Unmarshal(a.Config, &config); err != nil {
		return shoal.E("", shoal.Internal, fmt.Sprintf("the configuration of %q cannot be read: %v", e.ID, err))
	}
	if len(config.Invite) == 0 || slices.Contains(config.Invite, caller.EntityID) {
		return nil
	}
	return shoal.E("", shoal.Forbidden, fmt.Sprintf("You may not add the agent %q to a space: its configuration lists the entities that may (invite). Ask an admin or the owner of the agent.", e.ID))
}

// RemoveMember ends a membership and emits member.left. The runs of an agent close the
// messages that they are writing there. It fails with NotFound if the entity is not a
// member.
func RemoveMember(ch *core.Change, session shoal.SessionID, space shoal.SpaceID, id shoal.EntityID) error {
	m, err := ch.Member(session, space, id)
	if errors.Is(err, shoal.NotFound) {
		return notAMember(space, id)
	}
	if err != nil {
		return err
	}
	if err := ch.DeleteMember(session, space, id); err != nil {
		return err
	}
	left, err := ch.Space(session, space)
	if err != nil {
		return err
	}
	ch.Notify(core.EntityTopic(session, id))
	err = core.EmitInSpace(ch, session, space, id, shoal.EventMemberLeft, func(h shoal.EventHead) any {
		return shoal.MemberData{EventHead: h, Member: m, MemberCount: left.MemberCount}
	})
	if err == nil {
		err = pending.AnnounceTooFewInSpace(ch, session, space)
	}
	if err != nil || m.Kind == shoal.Human {
		return err
	}
	return pending.EndInSpace(ch, session, space, id)
}

// DropAdminAgent unsets the admin agent of a space that the agent has left, and emits
// space.updated.
func DropAdminAgent(ch *core.Change, s *shoal.Space) error {
	if err := checkAdminAgent(ch, *s); !errors.Is(err, shoal.InvalidArgument) {
		return err
	}
	s.AdminAgentID = nil
	return core.SaveSpace(ch, *s, shoal.EventSpaceUpdated)
}

// Join makes an entity a member of a space. Members and admins may do this, or only
// moderators if the session requires it. Joining twice changes nothing. The new member
// sees the whole history; only later messages are unread for it. Join fails with
// AdminRequired for a second hosted agent when the space has no admin agent.
func (s *Spaces) Join(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.SpaceID, entity shoal.EntityID) (shoal.Space, error) {
	return s.changeMembership(ctx, "hub.Spaces.Join", caller, session, id, entity, roles.ChangeSpace, func(ch *core.Change, to shoal.Space) error {
		if !core.ValidID(entity) {
			return core.EntityNotFound(entity)
		}
		if in, err := ch.IsMember(session, id, entity); in || err != nil {
			return err
		}
		m, err := addMember(ch, caller, &to, entity)
		if err != nil {
			return err
		}
		if m.Kind == shoal.Agent {
			if err := agents.RequireAdminAgent(ch, to); err != nil {
				return err
			}
		}
		if err := ch.Record(caller, session, audit.MemberAdd, spaceTarget(id), "entity", string(entity)); err != nil {
			return err
		}
		return announceAdded(ch, caller, to, m)
	})
}

// MemberFilter selects members, in the order of ids.
type MemberFilter struct {
	// After is the id after which the list starts; Limit is its maximum length.
	After shoal.EntityID
	Limit int
	// Kind, if set, selects people or agents.
	Kind shoal.EntityKind
	// Text, if set, must be contained in the id or the name, in any case.
	Text string
}

func (f MemberFilter) matches(m shoal.Member) bool {
	if f.Kind != "" && m.Kind != f.Kind {
		return false
	}
	text := strings.ToLower(f.Text)
	return strings.Contains(strings.ToLower(string(m.EntityID)), text) || strings.Contains(strings.ToLower(m.Name), text)
}

// Members returns the members of a space that the caller can see and the filter selects.
func (s *Spaces) Members(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.SpaceID, filter MemberFilter) (out []shoal.Member, err error) {
	err = s.core.View(ctx, "hub.Spaces.Members", func(tx storage.Tx) error {
		if _, err := core.ReadableSpace(tx, caller, session, id); err != nil {
			return err
		}
		out = []shoal.Member{}
		return eachMember(tx, session, id, filter.After, func(m shoal.Member) (bool, error) {
			if filter.matches(m) {
				out = append(out, m)
			}
			return len(out) < filter.Limit, nil
		})
	})
	return out, err
}

// memberPage is how many members one query reads.
const memberPage = 256

// eachMember calls do for the members of a space in the order of ids, after the given one,
// until it returns false.
func eachMember(tx Tx, session shoal.SessionID, space shoal.SpaceID, after shoal.EntityID, do func(shoal.Member) (bool, error)) error {
	for {
		page, err := tx.Members(session, space, after, memberPage)
		if err != nil {
			return err
		}
		for _, m := range page {
			if more, err := do(m); !more || err != nil {
				return err
			}
			after = m.EntityID
		}
		if len(page) < memberPage {
			return nil
		}
	}
}

// Member returns a member of a space that the caller can see; NotFound if the entity is not
// one.
func (s *Spaces) Member(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.SpaceID, entity shoal.EntityID) (out shoal.Member, err error) {
	err = s.core.View(ctx, "hub.Spaces.Member", func(tx storage.Tx) error {
		if _, err := core.ReadableSpace(tx, caller, session, id); err != nil {
			return err
		}
		if !core.ValidID(entity) {
			return notAMember(id, entity)
		}
		out, err = tx.Member(session, id, entity)
		if errors.Is(err, shoal.NotFound) {
			err = notAMember(id, entity)
		}
		return err
	})
	return out, err
}

// Leave ends a membership, and with it the entity's access to the space and its unread
// inbox entries from there. Members and admins may do this, or only moderators and the
// entity itself if the session requires it. It fails with NotFound when the entity is not
// a member.
func (s *Spaces) Leave(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.SpaceID, entity shoal.EntityID) (shoal.Space, error) {
	act := roles.ChangeSpace
	if entity == core.OwnEntity(caller) {
		act = roles.LeaveSpace
	}
	return s.changeMembership(ctx, "hub.Spaces.Leave", caller, session, id, entity, act, func(ch *core.Change, _ shoal.Space) error {
		return errors.Join(RemoveMember(ch, session, id, entity), ch.Record(caller, session, audit.MemberRemove, spaceTarget(id), "entity", string(entity)))
	})
}

// changeMembership calls do, which changes the membership of an entity, on a locked, open
// space and returns the space after the change. An entity may change its own membership
// without being a moderator.
func (s *Spaces) changeMembership(ctx context.Context, op string, caller shoal.Principal, session shoal.SessionID, id shoal.SpaceID, entity shoal.EntityID, act roles.Act, do func(*core.Change, shoal.Space) error) (out shoal.Space, err error) {
	allowed := core.ModeratedSpace
	if entity == core.OwnEntity(caller) {
		allowed = core.WritableSpace
	}
	if err := core.Authorize(caller, session, act); err != nil {
		return out, core.Wrap(op, err)
	}
	err = s.core.Change(ctx, op, storage.In(session), func(ch *core.Change) (err error) {
		if out, err = allowed(ch, caller, session, id); err != nil {
			return err
		}
		if err := do(ch, out); err != nil {
			return err
		}
		if out, err = ch.Space(session, id); err != nil { // includes the messages that do posted
			return err
		}
		if out, err = core.FillSpace(ch, caller, out); err != nil {
			return err
		}
		return DropAdminAgent(ch, &out)
	})
	return out, err
}
