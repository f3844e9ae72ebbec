package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/shoal-dev/shoal"
)

// Spaces lists the spaces that the caller sees, in the order of ids.
func (s *Session) Spaces(ctx context.Context) iter.Seq2[shoal.Space, error] {
	return list[shoal.Space](ctx, s.client, call{op: "client.Spaces", path: s.path("spaces")})
}

// Space returns one space with the caller's counts. A space with many members contains only
// some of them: Members lists all.
func (s *Session) Space(ctx context.Context, id shoal.SpaceID) (out shoal.Space, err error) {
	return out, s.client.do(ctx, call{op: "client.Space", path: s.path("spaces", string(id))}, &out)
}

// CreateSpace creates a space. The acting entity becomes a member. It fails with
// InvalidArgument, and creates nothing, if a member is unknown.
func (s *Session) CreateSpace(ctx context.Context, n shoal.NewSpace, options ...CallOption) (made shoal.Space, err error) {
	in := call{op: "client.CreateSpace", path: s.path("spaces"), body: n}
	return made, s.client.create(ctx, in, &made, options)
}

// ChangeSpace changes a space and returns it.
func (s *Session) ChangeSpace(ctx context.Context, id shoal.SpaceID, change shoal.SpaceChange) (out shoal.Space, err error) {
	in := call{op: "client.ChangeSpace", method: http.MethodPatch, path: s.path("spaces", string(id)), body: change}
	return out, s.client.do(ctx, in, &out)
}

// CloseSpace closes a space: every member receives the summary, and the history stays. It
// fails with SpaceClosed if the space is closed already, also by an earlier attempt of this
// call if the response was lost.
func (s *Session) CloseSpace(ctx context.Context, id shoal.SpaceID, summary string) (out shoal.Space, err error) {
	in := call{op: "client.CloseSpace", method: http.MethodPost, path: s.path("spaces", string(id), "close"), once: true}
	in.body = struct {
		Summary string `json:"summary"`
	}{summary}
	return out, s.client.do(ctx, in, &out)
}

// DeleteSpace erases a space with everything in it; for admins and owners of the session.
// If a run there has not ended, the run is canceled and the call fails with Conflict; try
// again. Deleting a space again changes nothing.
func (s *Session) DeleteSpace(ctx context.Context, id shoal.SpaceID) error {
	return s.client.do(ctx, call{op: "client.DeleteSpace", method: http.MethodDelete, path: s.path("spaces", string(id))}, nil)
}

// MarkUnread makes the messages of a space from seq on unread again for the acting entity,
// which must be a person, and returns the space.
func (s *Session) MarkUnread(ctx context.Context, id shoal.SpaceID, seq int64) (out shoal.Space, err error) {
	in := call{op: "client.MarkUnread", method: http.MethodPost, path: s.path("spaces", string(id), "unread"), once: true}
	in.body = struct {
		Seq int64 `json:"seq"`
	}{seq}
	return out, s.client.do(ctx, in, &out)
}

// MuteSpace mutes a space for the acting entity and returns it: only messages that mention
// the entity enter its inbox from then on.
func (s *Session) MuteSpace(ctx context.Context, id shoal.SpaceID) (out shoal.Space, err error) {
	in := call{op: "client.MuteSpace", method: http.MethodPut, path: s.path("spaces", string(id), "mute")}
	return out, s.client.do(ctx, in, &out)
}

// UnmuteSpace undoes MuteSpace and returns the space.
func (s *Session) UnmuteSpace(ctx context.Context, id shoal.SpaceID) (out shoal.Space, err error) {
	in := call{op: "client.UnmuteSpace", method: http.MethodDelete, path: s.path("spaces", string(id), "mute")}
	return out, s.client.do(ctx, in, &out)
}

// MemberFilter selects members of a space. The zero value selects all.
type MemberFilter struct {
	// Text must be contained in the id or the name, in any case.
	Text string
	// Kind selects people or agents.
	Kind shoal.EntityKind
}

// Members lists the members of a space, in the order of ids.
func (s *Session) Members(ctx context.Context, id shoal.SpaceID, f MemberFilter) iter.Seq2[shoal.Member, error] {
	return list[shoal.Member](ctx, s.client, call{
		op: "client.Members", path: s.path("spaces", string(id), "members"), query: filters(map[string]string{"q": f.Text, "kind": string(f.Kind)}),
	})
}

// Member returns a member of a space. It fails with NotFound if the entity is not one.
func (s *Session) Member(ctx context.Context, id shoal.SpaceID, entity shoal.EntityID) (out shoal.Member, err error) {
	return out, s.client.do(ctx, call{op: "client.Member", path: s.path("spaces", string(id), "members", string(entity))}, &out)
}

// AddMember makes an entity a member of a space and returns the space. Adding
// it again changes nothing.
func (s *Session) AddMember(ctx context.Context, id shoal.SpaceID, entity shoal.EntityID) (out shoal.Space, err error) {
	in := call{op: "client.AddMember", method: http.MethodPut, path: s.path("spaces", string(id), "members", string(entity))}
	return out, s.client.do(ctx, in, &out)
}

// RemoveMember removes a member and returns the space. It fails with NotFound if the entity
// is not a member.
func (s *Session) RemoveMember(ctx context.Context, id shoal.SpaceID, entity shoal.EntityID) (out shoal.Space, err error) {
	in := call{op: "client.RemoveMember", method: http.MethodDelete, path: s.path("spaces", string(id), "members", string(entity)), once: true}
	return out, s.client.do(ctx, in, &out)
}
