package httpapi

import (
	"net/http"

	"github.com/shoal-dev/shoal"
)

func inviteRoutes() []route {
	return []route{
		{
			method: http.MethodPost, path: sessionPath + "/invites", do: createInvite, id: "createInvite", tag: "Invitations",
			summary: "Invite a person",
			about: "The `url` of the response works once, until `expiresAt` (72 hours without it, at most 30 days): the person who opens it chooses a name, becomes a human entity with `sessionRole` (`member` without it), a member of `spaces`, and is signed in to the console. " +
				"The URL is returned only once; repeating the call with the same Idempotency-Key returns `url: null`. The code is in the fragment of the URL, which browsers send to no server. `name` is a note about whom it is for. At most 100 invitations of a session work at once. " +
				"The invitations of an entity end with it, and when it stops being an owner. For admins and owners of the session.",
			in: shoal.NewInvite{}, example: `{"name": "Ann", "spaces": ["welcome"]}`, optionalBody: true, idempotent: true,
			status: http.StatusCreated, out: shoal.Invite{}, errors: []shoal.Kind{shoal.Forbidden, shoal.Conflict, shoal.SpaceClosed, shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: sessionPath + "/invites", do: listInvites, id: "listInvites", tag: "Invitations",
			summary: "List invitations", about: "Those that work, ordered by id, without their URLs. For admins and owners of the session.",
			query: listParams, status: http.StatusOK, out: page[shoal.Invite]{}, errors: []shoal.Kind{shoal.Forbidden},
		},
		{
			method: http.MethodDelete, path: sessionPath + "/invites/{invite}", do: deleteInvite, id: "deleteInvite", tag: "Invitations",
			summary: "Withdraw an invitation", about: "Its link stops working at once. For admins and owners of the session.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.Forbidden},
		},
	}
}

func createInvite(c *call) error {
	var in shoal.NewInvite
	if err := c.decodeOptional(&in); err != nil {
		return err
	}
	made, err := c.Auth.Invite(c.ctx(), c.caller, c.session(), c.Auth.Origin(c.r), in, c.idempotencyKey())
	return c.answerOr(err, http.StatusCreated, made)
}

func listInvites(c *call) error {
	after, limit, err := idCursor[shoal.InviteID](c)
	if err != nil {
		return err
	}
	found, err := c.Hub.Invites.List(c.ctx(), c.caller, c.session(), after, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(i shoal.Invite) string { return string(i.ID) }))
}

func deleteInvite(c *call) error {
	return c.noContentOr(c.Hub.Invites.Delete(c.ctx(), c.caller, c.session(), shoal.InviteID(c.r.PathValue("invite"))))
}
