package spaces

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/agents"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/naming"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// Spaces creates, changes and closes spaces and manages their members.
type Spaces struct{ core *core.Core }

// NewSpaces returns the spaces of a hub.
func NewSpaces(c *core.Core) *Spaces { return &Spaces{c} }

// Create creates a space with its members, including the acting entity if there is one.
// It fails with InvalidArgument for an unknown member and with AdminRequired for several
// hosted agents without an admin agent; nothing is created then.
func (s *Spaces) Create(ctx context.Context, caller shoal.Principal, session shoal.SessionID, n shoal.NewSpace, idempotencyKey string) (space shoal.Space, err error) {
	const op = "hub.Spaces.Create"
	if err := core.Authorize(caller, session, roles.CreateSpace); err != nil {
		return space, core.Wrap(op, err)
	}
	if caller.Role == shoal.RoleService {
		return space, shoal.E(op, shoal.Forbidden, "A service key may read spaces, not create them; use an entity key.")
	}
	if err := errors.Join(n.Validate(), core.CheckIdempotencyKey(idempotencyKey)); err != nil {
		return space, core.Wrap(op, core.FirstError(err))
	}
	err = s.core.Change(ctx, op, storage.In(session), func(ch *core.Change) (err error) {
		space, _, err = core.Once(ch, caller, session, op, idempotencyKey, n, func() (shoal.Space, error) {
			if err := s.core.CheckSpaceQuota(ch, caller, session); err != nil {
				return shoal.Space{}, err
			}
			out, err := insertSpace(ch, caller, session, n)
			if err != nil {
				return out, err
			}
			return out, ch.Record(caller, session, audit.SpaceCreate, spaceTarget(out.ID), "members", strconv.FormatInt(out.MemberCount, 10))
		})
		return err
	})
	return space, err
}

func spaceTarget(id shoal.SpaceID) audit.Target { return audit.Target{Kind: "space", ID: string(id)} }

func insertSpace(ch *core.Change, caller shoal.Principal, session shoal.SessionID, n shoal.NewSpace) (shoal.Space, error) {
	if err := core.RequireOpenSession(ch, session); err != nil {
		return shoal.Space{}, err
	}
	if err := naming.CheckReserved("name", n.Name); err != nil {
		return shoal.Space{}, err
	}
	out := shoal.Space{
		ID: n.ID, SessionID: session, Name: n.Name, Status: shoal.SpaceStatusOpen, AdminAgentID: n.AdminAgentID,
		ShowAgentReasoning: n.ShowAgentReasoning, Metadata: core.ObjectOrEmpty(n.Metadata), Members: []shoal.Member{}, CreatedAt: ch.At,
	}
	if out.ID == "" {
		out.ID = shoal.NewID[shoal.SpaceID](shoal.PrefixSpace)
	}
	if caller.EntityID != "" {
		out.OwnerID = &caller.EntityID
	}
	members := newMembers(caller, n.Members)
	if out.AdminAgentID != nil && *out.AdminAgentID == "" {
		out.AdminAgentID = nil
	}
	if out.AdminAgentID != nil && !slices.Contains(members, *out.AdminAgentID) {
		return out, shoal.Invalid("adminAgentId", "must be one of the members")
	}
	if err := ch.InsertSpace(out); errors.Is(err, shoal.AlreadyExists) {
		// The text does not reveal whether the caller could see that space.
		return out, shoal.E("", shoal.AlreadyExists, fmt.Sprintf("The id %q is not available for a new space. Omit id to get a generated one, or choose another one.", out.ID))
	} else if err != nil {
		return out, err
	}
	// Followers of the whole session learn of the space from this event; its members learn
	// of it when they join.
	if err := core.EmitSpace(ch, out, shoal.EventSpaceUpdated); err != nil {
		return out, err
	}
	for _, id := range members {
		_, err := addMember(ch, caller, &out, id)
		if errors.Is(err, shoal.NotFound) {
			return out, shoal.Invalid("members", fmt.Sprintf("names %q, which is not an entity of this session; nothing was created", id))
		}
		if err != nil {
			return out, err
		}
	}
	if err := errors.Join(checkAdminAgent(ch, out), agents.RequireAdminAgent(ch, out)); err != nil {
		return out, core.FirstError(err)
	}
	return core.FillSpace(ch, caller, out)
}

// newMembers returns the members of a new space, each once: the acting entity and the named
// ones.
func newMembers(caller shoal.Principal, named []shoal.EntityID) []shoal.EntityID {
	members := make([]shoal.EntityID, 0, len(named)+1)
	seen := map[shoal.EntityID]bool{"": caller.EntityID == ""}
	for _, id := range slices.Concat([]shoal.EntityID{caller.EntityID}, named) {
		if !seen[id] {
			seen[id] = true
			members = append(members, id)
		}
	}
	return members
}

func checkAdminAgent(tx Tx, s shoal.Space) error {
	if s.AdminAgentID == nil {
		return nil
	}
	in, err := tx.MembersAmong(s.SessionID, s.ID, []shoal.EntityID{*s.AdminAgentID})
	if err != nil || len(in) == 1 && in[0].Kind == shoal.Agent {
		return err
	}
	return shoal.Invalid("adminAgentId", "must be an agent that is a member of the space")
}

// Get returns a space with the members that it lists and the caller's counts.
func (s *Spaces) Get(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.SpaceID) (out shoal.Space, err error) {
	err = s.core.View(ctx, "hub.Spaces.Get", func(tx storage.Tx) error {
		if out, err = core.ReadableSpace(tx, caller, session, id); err != nil {
			return err
		}
		out, err = core.FillSpace(tx, caller, out)
		return err
	})
	return out, err
}

// GetWithMembers returns a space with the members that it lists and without the caller's counts:
// counting reads everything that is unread, and responses to waits do not show it.
func (s *Spaces) GetWithMembers(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.SpaceID) (out shoal.Space, err error) {
	err = s.core.View(ctx, "hub.Spaces.GetWithMembers", func(tx storage.Tx) error {
		if out, err = core.ReadableSpace(tx, caller, session, id); err != nil {
			return err
		}
		one := []shoal.Space{out}
		err := core.ListMembers(tx, caller.EntityID, session, one)
		out = one[0]
		return err
	})
	return out, err
}

// List returns the spaces that the caller can see, in the order of ids and after
// filter.After, with members and counts. An entity sees the spaces that it is in; other
// callers see all.
func (s *Spaces) List(ctx context.Context, caller shoal.Principal, session shoal.SessionID, filter storage.SpaceFilter) (out []shoal.Space, err error) {
	err = s.core.View(ctx, "hub.Spaces.List", func(tx storage.Tx) error {
		if err := core.Authorize(caller, session, roles.ReadSession); err != nil {
			return err
		}
		if _, err := core.FindSession(tx, session); err != nil {
			return err
		}
		if own := core.ReaderEntity(caller); own != "" {
			filter.Member = own
		}
		if out, err = spacesInReach(tx, caller, session, filter); err != nil {
			return err
		}
		out, err = core.FillSpaces(tx, caller, session, out)
		return err
	})
	return out, err
}

// spacesInReach returns the spaces that a filter selects and the scopes of the caller's key leave.
func spacesInReach(tx Tx, caller shoal.Principal, session shoal.SessionID, filter storage.SpaceFilter) (out []shoal.Space, err error) {
	if _, limited := scopes.Spaces(caller.Scopes); !limited {
		return tx.Spaces(session, filter)
	}
	for {
		page, err := tx.Spaces(session, filter)
		if err != nil {
			return nil, err
		}
		for _, s := range page {
			if filter.After = s.ID; scopes.AllowSpace(caller.Scopes, s.ID) {
				out = append(out, s)
			}
			if filter.Limit > 0 && len(out) == filter.Limit {
				return out, nil
			}
		}
		if filter.Limit == 0 || len(page) < filter.Limit {
			return out, nil
		}
	}
}

// Update changes the properties of a space. Members and admins may do this, or only
// moderators if the session requires it. It fails with AdminRequired when it would leave
// several hosted agents without an admin agent.
func (s *Spaces) Update(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.SpaceID, c shoal.SpaceChange) (out shoal.Space, err error) {
	const op = "hub.Spaces.Update"
	if err := c.Validate(); err != nil {
		return out, core.Wrap(op, err)
	}
	err = s.core.Change(ctx, op, storage.In(session), func(ch *core.Change) (err error) {
		if out, err = core.ModeratedSpace(ch, caller, session, id); err != nil {
			return err
		}
		if out, err = core.FillSpace(ch, caller, out); err != nil {
			return err
		}
		oldName := out.Name
		if applyChange(&out, c); out.Name != oldName {
			if err := naming.CheckReserved("name", out.Name); err != nil {
				return err
			}
		}
		if err := checkAdminAgent(ch, out); err != nil {
			return err
		}
		if c.AdminAgentID != nil {
			if err := agents.RequireAdminAgent(ch, out); err != nil {
				return err
			}
		}
		return core.SaveSpace(ch, out, shoal.EventSpaceUpdated)
	})
	return out, err
}

func applyChange(s *shoal.Space, c shoal.SpaceChange) {
	if c.Name != nil {
		s.Name = *c.Name
	}
	if c.AdminAgentID != nil {
		if s.AdminAgentID = c.AdminAgentID; *c.AdminAgentID == "" {
			s.AdminAgentID = nil
		}
	}
	if c.ShowAgentReasoning != nil {
		s.ShowAgentReasoning = *c.ShowAgentReasoning
	}
	if len(c.Metadata) > 0 {
		s.Metadata = core.ObjectOrEmpty(c.Metadata)
	}
}

// Close closes a space: a system message with the summary reaches every member's inbox,
// the history remains, and nobody can post afterwards. It fails with SpaceClosed when the
// space is already closed. Members and admins may do this, or only moderators if the
// session requires it.
func (s *Spaces) Close(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.SpaceID, summary string) (out shoal.Space, err error) {
	const op = "hub.Spaces.Close"
	if err := shoal.CheckSummary(summary); err != nil {
		return out, core.Wrap(op, err)
	}
	err = s.core.Change(ctx, op, storage.In(session), func(ch *core.Change) (err error) {
		if out, err = core.ModeratedSpace(ch, caller, session, id); err != nil {
			return err
		}
		m, err := core.PostSystemMessage(ch, out, "Thread closed: "+summary, nil, storage.PostKey{})
		if err != nil {
			return err
		}
		at := ch.At
		out.Status, out.Summary, out.ClosedAt, out.LastSeq = shoal.SpaceStatusClosed, &summary, &at, m.Seq
		if out, err = core.FillSpace(ch, caller, out); err != nil {
			return err
		}
		return errors.Join(core.SaveSpace(ch, out, shoal.EventSpaceClosed), pending.EndInSpace(ch, session, id, ""), ch.Record(caller, session, audit.SpaceClose, spaceTarget(id)))
	})
	return out, err
}
