package httpapi

import (
	"net/http"

	"github.com/shoal-dev/shoal"
)

const entityPath = sessionPath + "/entities/{entity}"

func entityRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: sessionPath + "/entities", do: listEntities, id: "listEntities", tag: "Entities",
			summary: "List the entities of a session", about: "Ordered by id, each with its current state.",
			query: listParams, status: http.StatusOK, out: page[shoal.Entity]{},
		},
		{
			method: http.MethodPost, path: sessionPath + "/entities", do: decoded(http.StatusCreated, createEntity), id: "createEntity", tag: "Entities",
			summary: "Create an entity", about: "The id is the entity's @handle and is never used again. The default of `kind` is `agent`. For admins and owners of the session.",
			in: shoal.NewEntity{}, example: `{"id": "ann", "kind": "human", "name": "Ann"}`, idempotent: true,
			status: http.StatusCreated, out: shoal.Entity{},
			errors: []shoal.Kind{shoal.Forbidden, shoal.AlreadyExists, shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: entityPath, do: getEntity, id: "getEntity", tag: "Entities",
			summary: "Read an entity", status: http.StatusOK, out: shoal.Entity{},
		},
		{
			method: http.MethodPatch, path: entityPath, do: decoded(http.StatusOK, updateEntity), id: "updateEntity", tag: "Entities",
			summary: "Change an entity", about: "Omitted fields do not change. An entity may change its own `name`, `description` and `metadata`. Admins and owners of the session may change every entity, and only they may change `kind`, `sessionRole`, `ownerId` and `externalId`.",
			in: shoal.EntityChange{}, example: `{"description": "answers questions about laptops"}`,
			status: http.StatusOK, out: shoal.Entity{},
			errors: []shoal.Kind{shoal.Forbidden, shoal.AlreadyExists, shoal.SessionClosed},
		},
		{
			method: http.MethodDelete, path: entityPath, do: deleteEntity, id: "deleteEntity", tag: "Entities",
			summary: "Delete an entity", about: "Removes it from its spaces and revokes its keys. Its messages remain. For admins and owners of the session.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.Forbidden},
		},
		{
			method: http.MethodPost, path: entityPath + "/erase", do: eraseEntity, id: "eraseEntity", tag: "Entities",
			summary: "Erase an entity", about: "Deletes it and erases its name, its messages, files and answers, and the copies of them. Its id remains, and tombstones at the positions of its messages. For admins and owners of the session. " +
				"A 409 and a cut connection end only the response: the erasure continues.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.Forbidden, shoal.Conflict},
		},
		{
			method: http.MethodPut, path: entityPath + "/wake-lease", do: decoded(http.StatusOK, holdWakeLease), unseen: true, id: "holdWakeLease", tag: "Entities",
			summary: "Hold a wake lease",
			about: "A program that wakes the model of an agent when a message arrives says so, and renews it at a third of `ttlMs`. " +
				"Senders then read that the agent will be woken. Nothing is stored: the lease ends when it is not renewed. " +
				"An agent has at most four, one for each `via` and `sessionRef`. Returns how a mention reaches the agent now. For the agent itself, admins and owners of the session.",
			in: shoal.WakeLease{}, example: `{"via": "claude-hook", "harness": "claude-code", "sessionRef": "term-1", "ttlMs": 60000}`,
			status: http.StatusOK, out: shoal.Wake{},
			errors: []shoal.Kind{shoal.Forbidden, shoal.Conflict},
		},
		{
			method: http.MethodPut, path: entityPath + "/wake-proof", do: decoded(http.StatusOK, recordWakeTest), unseen: true, id: "recordWakeTest", tag: "Entities",
			summary: "Record a wake test",
			about: "Stores what came of a test whether a mention wakes an agent, as its receipt says, and returns it; `wake.proof` of the agent shows it. " +
				"The text of `messageId` begins with `[wake test CODE]`; `answeredBy` is a later message of the agent that contains the code, left out if it has not answered. " +
				"For the sender of the test, admins and owners of the session.",
			in: shoal.WakeTest{}, example: `{"messageId": "msg_01", "answeredBy": "msg_02"}`,
			status: http.StatusOK, out: shoal.WakeProof{},
			errors: []shoal.Kind{shoal.Forbidden, shoal.Conflict},
		},
		{
			method: http.MethodDelete, path: entityPath + "/wake-lease", do: releaseWakeLease, unseen: true, id: "releaseWakeLease", tag: "Entities",
			summary: "Release wake leases", about: "Ends the wake leases of an agent, or only those for a `sessionRef`. It succeeds if there are none.",
			query:  []param{{"sessionRef", "Only the leases with this `sessionRef`.", stringParam}},
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.Forbidden, shoal.Conflict},
		},
	}
}

func listEntities(c *call) error {
	after, limit, err := idCursor[shoal.EntityID](c)
	if err != nil {
		return err
	}
	found, err := c.Hub.Entities.List(c.ctx(), c.caller, c.session(), after, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(e shoal.Entity) string { return string(e.ID) }))
}

func createEntity(c *call, in shoal.NewEntity) (shoal.Entity, error) {
	return c.Hub.Entities.Create(c.ctx(), c.caller, c.session(), in, c.idempotencyKey())
}

func getEntity(c *call) error {
	found, err := c.Hub.Entities.Get(c.ctx(), c.caller, c.session(), c.entity())
	return c.answerOr(err, http.StatusOK, found)
}

func updateEntity(c *call, in shoal.EntityChange) (shoal.Entity, error) {
	return c.Hub.Entities.Update(c.ctx(), c.caller, c.session(), c.entity(), in)
}

func deleteEntity(c *call) error {
	return c.noContentOr(c.Hub.Entities.Delete(c.ctx(), c.caller, c.session(), c.entity()))
}

func eraseEntity(c *call) error {
	return c.noContentOr(c.Hub.Erasures.Erase(c.ctx(), c.caller, c.session(), c.entity()))
}

func holdWakeLease(c *call, in shoal.WakeLease) (shoal.Wake, error) {
	return c.Hub.Entities.HoldWakeLease(c.ctx(), c.caller, c.session(), c.entity(), in)
}

func recordWakeTest(c *call, in shoal.WakeTest) (shoal.WakeProof, error) {
	return c.Hub.Messages.RecordWakeTest(c.ctx(), c.caller, c.session(), c.entity(), in)
}

func releaseWakeLease(c *call) error {
	ref, _ := c.value("sessionRef")
	return c.noContentOr(c.Hub.Entities.ReleaseWakeLease(c.ctx(), c.caller, c.session(), c.entity(), ref))
}
