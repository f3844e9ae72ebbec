package httpapi

import (
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/httpapi/query"
	"github.com/shoal-dev/shoal/internal/scopes"
)

func keyRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/v1/me", do: me, unseen: true, id: "me", tag: "Keys",
			summary: "Read the caller", about: "Returns what the key proves, the acting entity, if there is one, and what its role allows: the names of `acts` are in docs/roles.md. Read it again when the role of the entity has changed.",
			status: http.StatusOK, out: shoal.Caller{},
		},
		{
			method: http.MethodGet, path: "/v1/keys", do: listKeys, id: "listKeys", tag: "Keys",
			summary: "List keys", about: "Ordered by id, without their secrets. Those with a `device` are sign-ins: of browsers, which end after 12 hours without use, of command lines, and of programs with tokens of an issuer. For admins and owners of the session; everybody may list their own sign-ins.",
			query:  append([]param{{"signIns", "Only sign-ins. A participant that is not an owner gets its own.", booleanParam}}, listParams...),
			status: http.StatusOK, out: page[shoal.Key]{}, errors: []shoal.Kind{shoal.Forbidden},
		},
		{
			method: http.MethodPost, path: "/v1/keys", do: decoded(http.StatusCreated, createKey), id: "createKey", tag: "Keys",
			summary: "Create a key", about: "The `key` of the response is the secret. It is returned only once; repeating the call with the same Idempotency-Key returns `key: null`. A key of role `entity` creates its entity if it does not exist: of `kind`, or an agent without it, or a human with `door` (`agui`, `openai`, `ai-sdk`, `invite`: the key of a front end that a person uses). `scopes` limit what the role allows: `read`, `post`, `answer` and `run` to groups of acts, `spaces:ID,…` to spaces, `tools:NAME,…` to tools of MCP. `renewForMs` moves the end of a key that is used. A key that expires makes no key that lives longer. Fails with 409 if the entity exists with another kind; `PATCH …/entities/{entity} {kind}` changes the kind. Without a session, the key belongs to `default`. For admins and owners of the session.",
			in: shoal.NewKey{}, example: `{"role": "entity", "entityId": "report-writer", "name": "laptop"}`, idempotent: true, status: http.StatusCreated, out: shoal.Key{}, errors: []shoal.Kind{shoal.Forbidden, shoal.NotFound, shoal.Conflict, shoal.SessionClosed},
		},
		{
			method: http.MethodPost, path: "/v1/keys/{key}/rotate", do: decoded(http.StatusCreated, rotateKey), id: "rotateKey", tag: "Keys",
			summary: "Rotate a key", about: "Creates a key that replaces this one: with the same role, participant, scopes and name, and for as long as this one was created for, or until `expiresAt`. This one works for another `overlapMs` (24 hours without it, at most 30 days; 0 ends it at once), and has the new one as `replacedBy`. The `key` of the response is returned only once, as when a key is created. For admins and owners of the session.",
			in: shoal.KeyRotation{}, example: `{"overlapMs": 3600000}`, idempotent: true, status: http.StatusCreated, out: shoal.Key{}, errors: []shoal.Kind{shoal.Forbidden, shoal.NotFound, shoal.Conflict, shoal.SessionClosed},
		},
		{
			method: http.MethodDelete, path: "/v1/keys/{key}", do: revokeKey, id: "revokeKey", tag: "Keys",
			summary: "Revoke a key", about: "The key stops working at once, and its open streams end; a sign-in is signed out. For admins and owners of the session; everybody may end the sign-ins of the same participant.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.Forbidden},
		},
	}
}

func me(c *call) error { return c.answer(http.StatusOK, scopes.Describe(c.caller)) }

func listKeys(c *call) error {
	after, limit, err := idCursor[shoal.KeyID](c)
	if err != nil {
		return err
	}
	list := c.Hub.Keys.List
	if signIns, err := query.Bool(c.value, "signIns"); err != nil {
		return err
	} else if signIns {
		list = c.Hub.Keys.SignIns
	}
	found, err := list(c.ctx(), c.caller, after, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(k shoal.Key) string { return string(k.ID) }))
}

func createKey(c *call, in shoal.NewKey) (shoal.Key, error) {
	return c.Auth.CreateKey(c.ctx(), c.caller, in, c.idempotencyKey())
}

func rotateKey(c *call, in shoal.KeyRotation) (shoal.Key, error) {
	return c.Auth.RotateKey(c.ctx(), c.caller, shoal.KeyID(c.r.PathValue("key")), in, c.idempotencyKey())
}

func revokeKey(c *call) error {
	return c.noContentOr(c.Hub.Keys.Revoke(c.ctx(), c.caller, shoal.KeyID(c.r.PathValue("key"))))
}
