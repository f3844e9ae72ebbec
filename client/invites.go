package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/shoal-dev/shoal"
)

// CreateInvite creates an invitation. Its URL is returned only once: it is nil if the call was
// repeated because the first response was lost; then delete the invitation. For admins and owners
// of the session.
func (s *Session) CreateInvite(ctx context.Context, n shoal.NewInvite, options ...CallOption) (made shoal.Invite, err error) {
	in := call{op: "client.CreateInvite", path: s.path("invites"), body: n}
	return made, s.client.create(ctx, in, &made, options)
}

// Invites lists the invitations that work, in the order of ids. For admins and owners of the
// session.
func (s *Session) Invites(ctx context.Context) iter.Seq2[shoal.Invite, error] {
	return list[shoal.Invite](ctx, s.client, call{op: "client.Invites", path: s.path("invites")})
}

// DeleteInvite makes an invitation stop working at once. For admins and owners of the session.
func (s *Session) DeleteInvite(ctx context.Context, id shoal.InviteID) error {
	in := call{op: "client.DeleteInvite", method: http.MethodDelete, path: s.path("invites", string(id)), once: true}
	return s.client.do(ctx, in, nil)
}
