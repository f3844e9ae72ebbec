package httpapi

import (
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/spaces"
	"github.com/shoal-dev/shoal/internal/hub/storage"
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
			summary: "List spaces", about: "Returns the spaces of the acting entity, or all for an admin or a service, ordered by id, with unread counts and up to 100 members each.",
			query: listParams, status: http.StatusOK, out: page[shoal.Space]{},
		},
		{
			method: http.MethodPost, path: sessionPath + "/spaces", do: decoded(http.StatusCreated, createSpace), id: "createSpace", tag: "Spaces",
			summary: "Create a space", about: "The acting entity becomes a member automatically. At most 1,000 other members can be named here; add more one by one. If one of the members does not exist in the session, nothing is created.",
			in: shoal.NewSpace{}, example: `{"id": "q4", "name": "Data Source Discussion", "members": ["report-writer", "data-analyzer"]}`, idempotent: true,
			status: http.StatusCreated, out: shoal.Space{},
			errors: []shoal.Kind{shoal.Forbidden, shoal.AlreadyExists, shoal.Conflict, shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: spacePath, do: getSpace, id: "getSpace", tag: "Spaces",
			summary: "Read a space", about: "`members` contains all members in the order of joining, unless there are more than 100: then the caller, the admin agent, up to 20 hosted agents, the latest senders, and others in the order of joining. `memberCount` is the number of all.", status: http.StatusOK, out: shoal.Space{},
		},
		{
			method: http.MethodPatch, path: spacePath, do: decoded(http.StatusOK, updateSpace), id: "updateSpace", tag: "Spaces",
			summary: "Change a space", about: "Omitted fields do not change; an empty `adminAgentId` removes it. For members and admins.",
			in: shoal.SpaceChange{}, example: `{"name": "Q4 numbers"}`, status: http.StatusOK, out: shoal.Space{}, errors: changes,
		},
		{
			method: http.MethodDelete, path: spacePath, do: deleteSpace, id: "deleteSpace", tag: "Spaces",
			summary: "Delete a space", about: "Erases the space with its messages, the runs that started there, conversations, memories, events, and files that no other space shows. The call first closes the space and cancels its runs; it fails with 409 until all of them have ended, so repeat it. Streams of followers end with `space.deleted`, and waits for the space end with 404. Deleting the space again changes nothing; its id is never used again. For admins and owners of the session.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.Forbidden, shoal.Conflict},
		},
		{
			method: http.MethodPost, path: spacePath + "/close", do: decoded(http.StatusOK, closeSpace), id: "closeSpace", tag: "Spaces",
			summary: "Close a space", about: "Posts a system message with the summary to the inbox of every member. The history stays readable; posting is refused. For members and admins.",
			in: closeInput{}, example: `{"summary": "The Q4 figures come from the warehouse."}`,
			status: http.StatusOK, out: shoal.Space{}, errors: changes,
		},
		{
			method: http.MethodGet, path: spacePath + "/members", do: listMembers, id: "listMembers", tag: "Spaces",
			summary: "List the members", about: "Ordered by id. A space itself lists at most 100 of its `memberCount` members.",
			query:  append(listParams, param{"q", "Only members whose id or name contains this text, in any case.", stringParam}, param{"kind", "`human` or `agent`: only people, or only agents.", stringParam}),
			status: http.StatusOK, out: page[shoal.Member]{}, errors: []shoal.Kind{shoal.InvalidArgument},
		},
		{
			method: http.MethodGet, path: memberPath, do: getMember, id: "getMember", tag: "Spaces",
			summary: "Read a member", about: "404 if the entity is not a member.", status: http.StatusOK, out: shoal.Member{},
		},
		{
			method: http.MethodPut, path: memberPath, do: addMember, id: "addMember", tag: "Spaces",
			summary: "Add a member", about: "Adding a member again changes nothing. The new member can read the whole history; only later messages count as unread. A member that another entity adds gets a system message with the space and the entity that added it, unless it is a hosted agent, or has never connected and is added by its owner, an admin or an owner of the session. A space has at most 10,000 members; adding another fails with 409 `conflict`. For members and admins.",
			status: http.StatusOK, out: shoal.Space{}, errors: append(changes, shoal.Conflict),
		},
		{
			method: http.MethodDelete, path: memberPath, do: removeMember, id: "removeMember", tag: "Spaces",
			summary: "Remove a member, or leave", about: "Ends the access, removes unread messages of the space from the inbox, and returns the updated space. For members and admins.",
			status: http.StatusOK, out: shoal.Space{}, errors: changes,
		},
		{
			method: http.MethodPut, path: spacePath + "/mute", do: muteSpace, id: "muteSpace", tag: "Spaces",
			summary: "Mute a space", about: "For the acting entity, which must be a member. From then on only messages that mention it enter its inbox, and `unreadCount` counts only these. Unread messages stay unread. Only the member itself sees `muted`. Leaving the space removes the setting.",
			status: http.StatusOK, out: shoal.Space{}, errors: []shoal.Kind{shoal.EntityRequired, shoal.Forbidden},
		},
		{
			method: http.MethodDelete, path: spacePath + "/mute", do: unmuteSpace, id: "unmuteSpace", tag: "Spaces",
			summary: "Unmute a space", about: "Messages that did not enter the inbox while the space was muted are not added later.",
			status: http.StatusOK, out: shoal.Space{}, errors: []shoal.Kind{shoal.EntityRequired, shoal.Forbidden},
		},
		{
			method: http.MethodPost, path: spacePath + "/read", do: readSpace, id: "markRead", tag: "Spaces",
			summary: "Mark a space as read", about: "Acknowledges all messages of this space in the acting entity's inbox up to and including `seq`.",
			in: readInput{}, example: `{"seq": 12}`, status: http.StatusOK, out: shoal.Space{},
			errors: []shoal.Kind{shoal.EntityRequired, shoal.Forbidden},
		},
		{
			method: http.MethodPost, path: spacePath + "/unread", do: unreadSpace, id: "markUnread", tag: "Spaces",
			summary: "Mark a space as unread", about: "Makes the messages of the space from `seq` on unread again for the acting entity, which must be a human and a member: at most the newest 1,000, without its own and deleted ones. They are appended to the inbox; open waits do not wake up. Agents are refused: acknowledged messages are never delivered to them again, and they can read the timeline.",
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
	found, err := c.Hub.Spaces.List(c.ctx(), c.caller, c.session(), storage.SpaceFilter{After: after, Limit: limit + 1})
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(s shoal.Space) string { return string(s.ID) }))
}

func createSpace(c *call, in shoal.NewSpace) (shoal.Space, error) {
	return c.Hub.Spaces.Create(c.ctx(), c.caller, c.session(), in, c.idempotencyKey())
}

func getSpace(c *call) error {
	found, err := c.Hub.Spaces.Get(c.ctx(), c.caller, c.session(), c.space())
	return c.answerOr(err, http.StatusOK, found)
}

func updateSpace(c *call, in shoal.SpaceChange) (shoal.Space, error) {
	return c.Hub.Spaces.Update(c.ctx(), c.caller, c.session(), c.space(), in)
}

func deleteSpace(c *call) error {
	return c.noContentOr(c.Hub.Spaces.Delete(c.ctx(), c.caller, c.session(), c.space()))
}

func closeSpace(c *call, in closeInput) (shoal.Space, error) {
	return c.Hub.Spaces.Close(c.ctx(), c.caller, c.session(), c.space(), in.Summary)
}

func listMembers(c *call) error {
	after, limit, err := idCursor[shoal.EntityID](c)
	if err != nil {
		return err
	}
	kind, _ := c.value("kind")
	text, _ := c.value("q")
	if kind != "" && kind != string(shoal.Human) && kind != string(shoal.Agent) {
		return shoal.Invalid("query.kind", `must be "human" or "agent"`)
	}
	filter := spaces.MemberFilter{After: after, Limit: limit + 1, Kind: shoal.EntityKind(kind), Text: text}
	found, err := c.Hub.Spaces.Members(c.ctx(), c.caller, c.session(), c.space(), filter)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(m shoal.Member) string { return string(m.EntityID) }))
}

func getMember(c *call) error {
	found, err := c.Hub.Spaces.Member(c.ctx(), c.caller, c.session(), c.space(), c.entity())
	return c.answerOr(err, http.StatusOK, found)
}

func addMember(c *call) error {
	changed, err := c.Hub.Spaces.Join(c.ctx(), c.caller, c.session(), c.space(), c.entity())
	return c.answerOr(err, http.StatusOK, changed)
}

func removeMember(c *call) error {
	changed, err := c.Hub.Spaces.Leave(c.ctx(), c.caller, c.session(), c.space(), c.entity())
	return c.answerOr(err, http.StatusOK, changed)
}

func muteSpace(c *call) error   { return setMuted(c, true) }
func unmuteSpace(c *call) error { return setMuted(c, false) }

func setMuted(c *call, muted bool) error {
	changed, err := c.Hub.Spaces.Mute(c.ctx(), c.caller, c.session(), c.space(), muted)
	return c.answerOr(err, http.StatusOK, changed)
}

func readSpace(c *call) error {
	var in readInput
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.Seq == nil {
		return shoal.Invalid("body.seq", "is missing: send the seq of the last message that was read")
	}
	read, err := c.Hub.Inbox.MarkRead(c.ctx(), c.caller, c.session(), c.space(), *in.Seq)
	return c.answerOr(err, http.StatusOK, read)
}

func unreadSpace(c *call) error {
	var in unreadInput
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.Seq == nil {
		return shoal.Invalid("body.seq", "is missing: send the seq of the first message to mark as unread")
	}
	changed, err := c.Hub.Inbox.MarkUnread(c.ctx(), c.caller, c.session(), c.space(), *in.Seq)
	return c.answerOr(err, http.StatusOK, changed)
}
