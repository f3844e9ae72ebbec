package coresql

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// EndedRights implements [hub.KeyTx].
func (t *Tx) EndedRights(held storage.HeldRights, at shoal.Time) (ended storage.HeldRights, err error) {
	from := ` FROM ` + t.c.Dialect().Elements
	var b sqlconn.Builder
	addEach := func(what, there string, list any, more ...any) {
		if err != nil {
			return
		}
		var text []byte
		if text, err = json.Marshal(list); err == nil {
			b.Add(`SELECT `+what+from+there, append([]any{string(text)}, more...)...)
		}
	}
	addEach(`'key', '', t.value ->> 0, ''`, ` WHERE NOT EXISTS (SELECT 1 FROM keys WHERE id = t.value ->> 0 AND (expires_at IS NULL OR expires_at > ?)) UNION ALL `, singles(held.Keys), at)
	addEach(`'session', t.value ->> 0, '', ''`, ` WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE id = t.value ->> 0 AND NOT deleted) UNION ALL `, singles(held.Sessions))
	addEach(`'entity', t.value ->> 0, t.value ->> 1, ''`,
		` WHERE NOT EXISTS (SELECT 1 FROM entities WHERE session_id = t.value ->> 0 AND id = t.value ->> 1 AND deleted_at IS NULL) UNION ALL `, pairs(held.Entities))
	addEach(`CASE WHEN e.id IS NULL THEN 'entity' ELSE 'role' END, t.value ->> 0, t.value ->> 1, t.value ->> 2`,
		` LEFT JOIN entities AS e ON e.session_id = t.value ->> 0 AND e.id = t.value ->> 1 AND e.deleted_at IS NULL
		 WHERE e.id IS NULL OR e.session_role <> t.value ->> 2`, triples(held.Roles))
	if err != nil {
		return ended, err
	}
	rights, err := sqlconn.List(t.c, rightOf, b.Text(), b.Args...)
	for _, r := range rights {
		ref := storage.EntityRef{Session: shoal.SessionID(r.session), ID: shoal.EntityID(r.id)}
		switch r.what {
		case "key":
			ended.Keys = append(ended.Keys, shoal.KeyID(r.id))
		case "session":
			ended.Sessions = append(ended.Sessions, ref.Session)
		case "entity":
			ended.Entities = append(ended.Entities, ref)
		case "role":
			ended.Roles = append(ended.Roles, storage.HeldRole{EntityRef: ref, Role: r.role})
		}
	}
	return ended, err
}

// right is one row of the query of EndedRights.
type right struct {
	what, session, id string
	role              shoal.SessionRole
}

func rightOf(r *sqlconn.Rows) right {
	return right{what: r.Text(0), session: r.Text(1), id: r.Text(2), role: shoal.SessionRole(r.Text(3))}
}

// singles, pairs and triples return the arrays of arrays that EndedRights passes as JSON, never null.
func singles[T ~string](list []T) [][1]T {
	out := make([][1]T, len(list))
	for i, x := range list {
		out[i] = [1]T{x}
	}
	return out
}

func pairs(list []storage.EntityRef) [][2]string {
	out := make([][2]string, len(list))
	for i, e := range list {
		out[i] = [2]string{string(e.Session), string(e.ID)}
	}
	return out
}

func triples(list []storage.HeldRole) [][3]string {
	out := make([][3]string, len(list))
	for i, r := range list {
		out[i] = [3]string{string(r.Session), string(r.ID), string(r.Role)}
	}
	return out
}
