package httpapi

import (
	"net/http"
	"strconv"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/httpapi/query"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

var auditParams = append([]param{
	{"by", "Only what this key, sign-in or entity did, or an admin who acted as this entity.", stringParam},
	{"act", "Only these acts, separated by commas, such as `key.create`; `key` means all acts with keys.", stringParam},
	{"decision", "Only `allowed` or `refused` acts.", stringParam},
	{"target", "Only acts on the object with this id.", stringParam},
	{"from", "Only acts at or after this time: a time, or a date in UTC.", stringParam},
	{"to", "Only acts before this time.", stringParam},
}, listParams...)

func auditRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: sessionPath + "/audit", do: listAudit, id: "listAudit", tag: "Audit",
			summary: "Read the audit log of a session",
			about: "The newest first. `keyId` is the key that proved the caller and `entityId` the entity of an entity key; `actingAs` is the entity that an admin named, which did not make the call. " +
				"`hash` is the SHA-256 of the record as JSON with an empty `hash`, and `prevHash` the hash of the record before. `head` is the last record of the log, stored apart from the records. " +
				"For admins, and for owners, admins and auditors of the session.",
			query: auditParams, status: http.StatusOK, out: auditPage{}, errors: []shoal.Kind{shoal.Forbidden},
		},
		{
			method: http.MethodGet, path: "/v1/audit", do: listServerAudit, id: "listServerAudit", tag: "Audit",
			summary: "Read the audit log of the server", about: "What belongs to no session: admin keys, sign-ins with them, sessions that were created or deleted, and calls without a key that works. Admins only.",
			query: auditParams, status: http.StatusOK, out: auditPage{}, errors: []shoal.Kind{shoal.Forbidden},
		},
	}
}

// auditPage is a page of the audit log.
type auditPage struct {
	Items      []audit.Record `json:"items"`
	NextCursor *string        `json:"nextCursor"`
	Head       audit.Head     `json:"head"`
}

func listAudit(c *call) error {
	return answerAudit(c, func(f storage.AuditFilter) ([]audit.Record, audit.Head, error) {
		return c.Hub.Audits.List(c.ctx(), c.caller, c.session(), f)
	})
}

func listServerAudit(c *call) error {
	return answerAudit(c, func(f storage.AuditFilter) ([]audit.Record, audit.Head, error) {
		return c.Hub.Audits.ListServer(c.ctx(), c.caller, f)
	})
}

func answerAudit(c *call, list func(storage.AuditFilter) ([]audit.Record, audit.Head, error)) error {
	after, limit, err := c.page(shoal.DefaultPage)
	if err != nil {
		return err
	}
	f, err := query.Audit(c.value)
	if err != nil {
		return err
	}
	if f.Before, err = query.AuditBefore(after); err != nil {
		return badCursor()
	}
	f.Limit = limit + 1
	found, head, err := list(f)
	page := pageOf(found, limit, func(r audit.Record) string { return strconv.FormatInt(r.Seq, 10) })
	return c.answerOr(err, http.StatusOK, auditPage{page.Items, page.NextCursor, head})
}
