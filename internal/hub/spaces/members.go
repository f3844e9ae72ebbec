package spaces

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/agents"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

func spaceFull() error {
	return shoal.E("", shoal.Conflict, fmt.Sprintf("A space has at most %d members.", shoal.MaxMembers))
}

// newMember is an entity that has just joined a space.
type newMember struct {
	shoal.Member
	entity shoal.Entity
}

// addMember adds a member and emits member.joined. It fails with NotFound if the entity
// does not exist and with Forbidden for an agent that the caller may not invite.
func addMember(ch *core.Change, who shoal.Principal, session shoal.SessionID, space shoal.SpaceID, id shoal.EntityID) (newMember, error) {
	e, err := core.FindEntity(ch, session, id)
	if err != nil {
		return newMember{}, err
	}
	if err := mayInvite(ch, who, e); err != nil {
		return newMember{}, err
	}
	m := shoal.Member{EntityID: id, Kind: e.Kind, Name: e.Name, JoinedAt: ch.At}
	if who.EntityID != "" && who.EntityID != id {
		m.AddedBy = &who.EntityID
	}
	if err := ch.InsertMember(session, space, m); err != nil {
		return newMember{}, err
	}
	ch.Notify(core.EntityTopic(session, id))
	return newMember{m, e}, core.EmitInSpace(ch, session, space, id, shoal.EventMemberJoined, func(h shoal.EventHead) any {
		return shoal.MemberData{EventHead: h, Member: m}
	})
}

// mayInvite checks that the caller may add a hosted agent to a space: its configuration
// must list the caller (invite). Admins and the owners of the session and of the agent
// always may.
func mayInvite(tx Tx, who shoal.Principal, e shoal.Entity) error {
	if !e.Hosted || who.Manages() || who.EntityID == e.ID || e.OwnerID != nil && *e.OwnerID == who.EntityID {
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
	if len(config.Invite) == 0 || slices.Contains(config.Invite, who.EntityID) {
		return nil
	}
	return shoal.E("", shoal.Forbidden, fmt.Sprintf("You may not add the agent %q to a space: its configuration lists the entities that may (invite). Ask an admin or the owner of the agent.", e.ID))
}

// RemoveMember ends a membership and emits member.left. The runs of an agent close the
// messages that they are writing there. It fails with NotFound if the entity is not a
// member.
func RemoveMember(ch *core.Change, session shoal.SessionID, space shoal.SpaceID, id shoal.EntityID) error {
	members, err := ch.Members(session, space)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(members, func(m shoal.Member) bool { return m.EntityID == id })
	if i < 0 {
		return shoal.E("", shoal.NotFound, fmt.Sprintf("%q is not a member of the space %q.", id, space))
	}
	if err := ch.DeleteMember(session, space, id); err != nil {
		return err
	}
	ch.Notify(core.EntityTopic(session, id))
	err = core.EmitInSpace(ch, session, space, id, shoal.EventMemberLeft, func(h shoal.EventHead) any {
		return shoal.MemberData{EventHead: h, Member: members[i]}
	})
	if err == nil {
		err = pending.AnnounceTooFewInSpace(ch, session, space)
	}
	if err != nil || members[i].Kind == shoal.Human {
		return err
	}
	return pending.EndInSpace(ch, session, space, id)
}

// DropAdminAgent unsets the admin agent of a space that the agent has left, and emits
// space.updated.
func DropAdminAgent(ch *core.Change, s *shoal.Space) error {
	if checkAdminAgent(*s) == nil {
		return nil
	}
	s.AdminAgentID = nil
	return core.SaveSpace(ch, *s, shoal.EventSpaceUpdated)
}

// Join makes an entity a member of a space. Members and admins may do this, or only
// moderators if the session requires it. Joining twice changes nothing. The new member
// sees the whole history; only later messages are unread for it. Join fails with
// AdminRequired for a second hosted agent when the space has no admin agent.
func (s *Spaces) Join(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.SpaceID, entity shoal.EntityID) (shoal.Space, error) {
	return s.changeMembership(ctx, "hub.Spaces.Join", who, session, id, entity, func(ch *core.Change, to shoal.Space) error {
		if !core.ValidID(entity) {
			return core.EntityNotFound(entity)
		}
		n, err := ch.CountMembers(session, id)
		if err != nil {
			return err
		}
		if in, err := ch.IsMember(session, id, entity); in || err != nil {
			return err
		}
		if n >= shoal.MaxMembers {
			return spaceFull()
		}
		m, err := addMember(ch, who, session, id, entity)
		if err != nil {
			return err
		}
		if m.Kind == shoal.Agent {
			if err := agents.RequireAdminAgent(ch, to); err != nil {
				return err
			}
		}
		return announceAdded(ch, who, to, m)
	})
}

// Members returns at most limit members of a space that the caller can see, with ids after
// the given one, in the order of ids.
func (s *Spaces) Members(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.SpaceID, after shoal.EntityID, limit int) (out []shoal.Member, err error) {
	err = s.core.View(ctx, "hub.Spaces.Members", func(tx storage.Tx) error {
		if _, err := core.ReadableSpace(tx, who, session, id); err != nil {
			return err
		}
		all, err := tx.Members(session, id)
		if err != nil {
			return err
		}
		slices.SortFunc(all, func(a, b shoal.Member) int { return strings.Compare(string(a.EntityID), string(b.EntityID)) })
		at, _ := slices.BinarySearchFunc(all, after, func(m shoal.Member, id shoal.EntityID) int {
			if m.EntityID <= id {
				return -1
			}
			return 1
		})
		out = all[at:min(len(all), at+limit)]
		return nil
	})
	return out, err
}

// Leave ends a membership, and with it the entity's access to the space and its unread
// inbox entries from there. Members and admins may do this, or only moderators and the
// entity itself if the session requires it. It fails with NotFound when the entity is not
// a member.
func (s *Spaces) Leave(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.SpaceID, entity shoal.EntityID) (shoal.Space, error) {
	return s.changeMembership(ctx, "hub.Spaces.Leave", who, session, id, entity, func(ch *core.Change, _ shoal.Space) error {
		return RemoveMember(ch, session, id, entity)
	})
}

// changeMembership calls do, which changes the membership of an entity, on a locked, open
// space and returns the space after the change. An entity may change its own membership
// without being a moderator.
func (s *Spaces) changeMembership(ctx context.Context, op string, who shoal.Principal, session shoal.SessionID, id shoal.SpaceID, entity shoal.EntityID, do func(*core.Change, shoal.Space) error) (out shoal.Space, err error) {
	allowed := core.ModeratedSpace
	if entity == core.OwnEntity(who) {
		allowed = core.WritableSpace
	}
	err = s.core.Change(ctx, op, storage.In(session), func(ch *core.Change) (err error) {
		if out, err = allowed(ch, who, session, id); err != nil {
			return err
		}
		if err := do(ch, out); err != nil {
			return err
		}
		if out, err = ch.Space(session, id); err != nil { // includes the messages that do posted
			return err
		}
		if out, err = core.FillSpace(ch, who, out); err != nil {
			return err
		}
		return DropAdminAgent(ch, &out)
	})
	return out, err
}
