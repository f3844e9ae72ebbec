package httpapi

import (
	"net/http"

	"github.com/shoal-dev/shoal"
)

func sessionRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/v1/sessions", do: listSessions, id: "listSessions", tag: "Sessions",
			summary: "List sessions", about: "A session is an isolated workspace. Returns all sessions for an admin, and its own for every other caller, ordered by id.",
			query: listParams, status: http.StatusOK, out: page[shoal.Session]{},
		},
		{
			method: http.MethodPost, path: "/v1/sessions", do: createSession, id: "createSession", tag: "Sessions",
			summary: "Create a session", about: "Without an id, the server generates one. Admins only.",
			in: shoal.NewSession{}, example: `{"id": "shop", "name": "The shop"}`, optionalBody: true, idempotent: true,
			status: http.StatusCreated, out: shoal.Session{}, errors: []shoal.Kind{shoal.Forbidden, shoal.AlreadyExists},
		},
		{
			method: http.MethodGet, path: sessionPath, do: getSession, id: "getSession", tag: "Sessions",
			summary: "Read a session", status: http.StatusOK, out: shoal.Session{},
		},
		{
			method: http.MethodPatch, path: sessionPath, do: decoded(http.StatusOK, updateSession), id: "updateSession", tag: "Sessions",
			summary: "Change a session", about: "`limits` bound the model calls that one message may cause, in all runs with the same `causeRoot`; 0 means no limit. Omitted fields do not change. Active runs apply new limits from their next model call. With `spaceRights: moderators`, only the owner of a space, admins and owners of the session may add and remove other members, change the space and close it; with `members`, the default, every member may. `retention` says how long messages, runs and model requests are kept, at least an hour and at most as long as the server keeps them; 0 means as long as the server. What is older than a new retention is erased within an hour. For admins and owners of the session.",
			in: shoal.SessionChange{}, example: `{"limits": {"maxCostPerRequest": 2.5}}`,
			status: http.StatusOK, out: shoal.Session{}, errors: []shoal.Kind{shoal.Forbidden},
		},
		{
			method: http.MethodDelete, path: sessionPath, do: deleteSession, id: "deleteSession", tag: "Sessions",
			summary: "Delete a session", about: "Erases the session with everything in it; its keys stop working at once. The session `default` cannot be deleted. Admins only.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.Forbidden, shoal.Conflict},
		},
		{
			method: http.MethodPost, path: sessionPath + "/close", do: closeSession, id: "closeSession", tag: "Sessions",
			summary: "Close a session", about: "Makes the session read-only. Admins only.",
			status: http.StatusOK, out: shoal.Session{}, errors: []shoal.Kind{shoal.Forbidden, shoal.Conflict},
		},
	}
}

func listSessions(c *call) error {
	after, limit, err := idCursor[shoal.SessionID](c)
	if err != nil {
		return err
	}
	found, err := c.Hub.Sessions.List(c.ctx(), c.caller, after, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(s shoal.Session) string { return string(s.ID) }))
}

func createSession(c *call) error {
	var in shoal.NewSession
	if err := c.decodeOptional(&in); err != nil {
		return err
	}
	made, err := c.Hub.Sessions.Create(c.ctx(), c.caller, in, c.idempotencyKey())
	return c.answerOr(err, http.StatusCreated, made)
}

func getSession(c *call) error {
	found, err := c.Hub.Sessions.Get(c.ctx(), c.caller, c.session())
	return c.answerOr(err, http.StatusOK, found)
}

func updateSession(c *call, in shoal.SessionChange) (shoal.Session, error) {
	return c.Hub.Sessions.Change(c.ctx(), c.caller, c.session(), in)
}

func deleteSession(c *call) error {
	return c.noContentOr(c.Hub.Sessions.Delete(c.ctx(), c.caller, c.session()))
}

func closeSession(c *call) error {
	closed, err := c.Hub.Sessions.Close(c.ctx(), c.caller, c.session())
	return c.answerOr(err, http.StatusOK, closed)
}
