package httpapi

import (
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

const (
	spacePath  = sessionPath + "/spaces/{space}"
	memberPath = spacePath + "/members/{entity}"
)

func spaceRoutes() []route {
	changes := []shoal.Kind{shoal.Forbidden, shoal.SpaceClosed, shoal.SessionClosed}
	return []route{
		{
			method: http.MethodGet, path: sessionPath + "/spaces", do: listSpaces, id: "listSpaces", tag: "Spaces",
			summary: "List spaces", about: "Those of the acting entity, all for an admin or a service, in the order of ids, with members and unread counts.",
			query: listParams, status: http.StatusOK, out: page[shoal.Space]{},
		},
		{
			method: http.MethodPost, path: sessionPath + "/spaces", do: createSpace, id: "createSpace", tag: "Spaces",
			summary: "Create a space", about: "The acting entity is a member by itself. If one of the members is no entity of the session, nothing is created.",
			in: shoal.NewSpace{}, example: `{"id": "q4", "name": "Data Source Discussion", "members": ["report-writer", "data-analyzer"]}`, idempotent: true,
			status: http.StatusCreated, out: shoal.Space{},
			errors: []shoal.Kind{shoal.Forbidden, shoal.AlreadyExists, shoal.Conflict, shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: spacePath, do: getSpace, id: "getSpace", tag: "Spaces",
			summary: "Read a space", status: http.StatusOK, out: shoal.Space{},
		},
		{
			method: http.MethodPatch, path: spacePath, do: updateSpace, id: "updateSpace", tag: "Spaces",
			summary: "Change a space", about: "What is left out stays as it is; an empty `adminAgentId` unsets it. Members and admins.",
			in: shoal.SpaceChange{}, example: `{"name": "Q4 numbers"}`, status: http.StatusOK, out: shoal.Space{}, errors: changes,
		},
		{
			method: http.MethodDelete, path: spacePath, do: deleteSpace, id: "deleteSpace", tag: "Spaces",
			summary: "Delete a space", about: "Erases the space with its messages, the runs that started there, conversations, memories, events, and files that no other space shows. First it is closed and its runs are canceled: 409 while one of them has not ended, then repeat the call. Followers get `space.deleted` and end, waits for the space end with 404. Deleting it again changes nothing; its id is never used again. Admins and owners of the session.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.Forbidden, shoal.Conflict},
		},
		{
			method: http.MethodPost, path: spacePath + "/close", do: closeSpace, id: "closeSpace", tag: "Spaces",
			summary: "Close a space", about: "A system message with the summary reaches every member's inbox. The history stays readable; posting is refused. Members and admins.",
			in: closeInput{}, example: `{"summary": "The Q4 figures come from the warehouse."}`,
			status: http.StatusOK, out: shoal.Space{}, errors: changes,
		},
		{
			method: http.MethodGet, path: spacePath + "/members", do: listMembers, id: "listMembers", tag: "Spaces",
			summary: "List the members", about: "In the order of ids. A space names all of its members as well, in the order of joining.",
			query: listParams, status: http.StatusOK, out: page[shoal.Member]{},
		},
		{
			method: http.MethodPut, path: memberPath, do: addMember, id: "addMember", tag: "Spaces",
			summary: "Add a member", about: "Adding a member again changes nothing. The new member sees the whole history; its unread starts here. A member that somebody else adds gets a system message that names the space and who added it, unless it is a hosted agent, or has never connected and is added by its owner, an admin or an owner of the session. Members and admins.",
			status: http.StatusOK, out: shoal.Space{}, errors: append(changes, shoal.Conflict),
		},
		{
			method: http.MethodDelete, path: memberPath, do: removeMember, id: "removeMember", tag: "Spaces",
			summary: "Remove a member, or leave", about: "Access ends, and what was unread of the space leaves the inbox. Answers the space as it is then. Members and admins.",
			status: http.StatusOK, out: shoal.Space{}, errors: changes,
		},
		{
			method: http.MethodPut, path: spacePath + "/mute", do: muteSpace, id: "muteSpace", tag: "Spaces",
			summary: "Mute a space", about: "For the acting entity, a member. From then on only messages that mention it enter its inbox, so that `unreadCount` counts these alone. What is unread already stays. Only the member itself sees `muted`. Leaving ends it.",
			status: http.StatusOK, out: shoal.Space{}, errors: []shoal.Kind{shoal.EntityRequired, shoal.Forbidden},
		},
		{
			method: http.MethodDelete, path: spacePath + "/mute", do: unmuteSpace, id: "unmuteSpace", tag: "Spaces",
			summary: "Unmute a space", about: "What was left out of the inbox meanwhile does not come back.",
			status: http.StatusOK, out: shoal.Space{}, errors: []shoal.Kind{shoal.EntityRequired, shoal.Forbidden},
		},
		{
			method: http.MethodPost, path: spacePath + "/read", do: readSpace, id: "markRead", tag: "Spaces",
			summary: "Mark a space as read", about: "Acknowledges what the acting entity's inbox holds of this space up to and with `seq`.",
			in: readInput{}, example: `{"seq": 12}`, status: http.StatusOK, out: shoal.Space{},
			errors: []shoal.Kind{shoal.EntityRequired, shoal.Forbidden},
		},
		{
			method: http.MethodPost, path: spacePath + "/unread", do: unreadSpace, id: "markUnread", tag: "Spaces",
			summary: "Mark a space as unread", about: "Makes the messages of the space from `seq` on unread again for the acting entity, a person and member: at most the newest 1,000, without its own and deleted ones. They are at the end of the inbox; open waits are not woken. An entity of kind agent is refused: what it has acknowledged never comes back, and it reads the timeline.",
			in: unreadInput{}, example: `{"seq": 12}`, status: http.StatusOK, out: shoal.Space{},
			errors: []shoal.Kind{shoal.EntityRequired, shoal.Forbidden},
		},
	}
}

type unreadInput struct {
	Seq *int64 `json:"seq"`
}

type closeInput struct {
	Summary string `json:"summary"`
}

type readInput struct {
	Seq *int64 `json:"seq"`
}

func listSpaces(c *call) error {
	after, limit, err := idCursor[shoal.SpaceID](c)
	if err != nil {
		return err
	}
	found, err := c.Hub.Spaces.List(c.ctx(), c.who, c.session(), hub.SpaceFilter{After: after, Limit: limit + 1})
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(s shoal.Space) string { return string(s.ID) }))
}

func createSpace(c *call) error {
	var in shoal.NewSpace
	if err := c.decode(&in); err != nil {
		return err
	}
	made, err := c.Hub.Spaces.Create(c.ctx(), c.who, c.session(), in, c.idempotencyKey())
	return c.answerOr(err, http.StatusCreated, made)
}

func getSpace(c *call) error {
	found, err := c.Hub.Spaces.Get(c.ctx(), c.who, c.session(), c.space())
	return c.answerOr(err, http.StatusOK, found)
}

func updateSpace(c *call) error {
	var in shoal.SpaceChange
	if err := c.decode(&in); err != nil {
		return err
	}
	changed, err := c.Hub.Spaces.Update(c.ctx(), c.who, c.session(), c.space(), in)
	return c.answerOr(err, http.StatusOK, changed)
}

func deleteSpace(c *call) error {
	return c.noContentOr(c.Hub.Spaces.Delete(c.ctx(), c.who, c.session(), c.space()))
}

func closeSpace(c *call) error {
	var in closeInput
	if err := c.decode(&in); err != nil {
		return err
	}
	closed, err := c.Hub.Spaces.Close(c.ctx(), c.who, c.session(), c.space(), in.Summary)
	return c.answerOr(err, http.StatusOK, closed)
}

func listMembers(c *call) error {
	after, limit, err := idCursor[shoal.EntityID](c)
	if err != nil {
		return err
	}
	found, err := c.Hub.Spaces.Members(c.ctx(), c.who, c.session(), c.space(), after, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(m shoal.Member) string { return string(m.EntityID) }))
}

func addMember(c *call) error {
	changed, err := c.Hub.Spaces.Join(c.ctx(), c.who, c.session(), c.space(), c.entity())
	return c.answerOr(err, http.StatusOK, changed)
}

func removeMember(c *call) error {
	changed, err := c.Hub.Spaces.Leave(c.ctx(), c.who, c.session(), c.space(), c.entity())
	return c.answerOr(err, http.StatusOK, changed)
}

func muteSpace(c *call) error   { return setMuted(c, true) }
func unmuteSpace(c *call) error { return setMuted(c, false) }

func setMuted(c *call, muted bool) error {
	changed, err := c.Hub.Spaces.Mute(c.ctx(), c.who, c.session(), c.space(), muted)
	return c.answerOr(err, http.StatusOK, changed)
}

func readSpace(c *call) error {
	var in readInput
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.Seq == nil {
		return shoal.Invalid("body.seq", "is missing: it is the seq of the last message that was read")
	}
	read, err := c.Hub.Inbox.MarkRead(c.ctx(), c.who, c.session(), c.space(), *in.Seq)
	return c.answerOr(err, http.StatusOK, read)
}

func unreadSpace(c *call) error {
	var in unreadInput
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.Seq == nil {
		return shoal.Invalid("body.seq", "is missing: it is the seq of the first message that is to be unread")
	}
	changed, err := c.Hub.Inbox.MarkUnread(c.ctx(), c.who, c.session(), c.space(), *in.Seq)
	return c.answerOr(err, http.StatusOK, changed)
}
