package coresql

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// EndedRights implements [hub.KeyTx].
func (t *Tx) EndedRights(held storage.HeldRights, at shoal.Time) (ended storage.HeldRights, err error) {
	each := ` FROM ` + t.c.Dialect().Elements + ` WHERE NOT EXISTS `
	var b sqlconn.Builder
	addEach := func(what, there string, list any, more ...any) {
		if err != nil {
			return
		}
		var text []byte
		if text, err = json.Marshal(list); err == nil {
			b.Add(`SELECT `+what+each+there, append([]any{string(text)}, more...)...)
		}
	}
	addEach(`'key', '', t.value ->> 0`, `(SELECT 1 FROM keys WHERE id = t.value ->> 0 AND (expires_at IS NULL OR expires_at > ?)) UNION ALL `, singles(held.Keys), at)
	addEach(`'session', t.value ->> 0, ''`, `(SELECT 1 FROM sessions WHERE id = t.value ->> 0 AND NOT deleted) UNION ALL `, singles(held.Sessions))
	entity := `(SELECT 1 FROM entities WHERE session_id = t.value ->> 0 AND id = t.value ->> 1 AND deleted_at IS NULL`
	addEach(`'entity', t.value ->> 0, t.value ->> 1`, entity+`) UNION ALL `, pairs(held.Entities))
	addEach(`'owner', t.value ->> 0, t.value ->> 1`, entity+` AND session_role = ?)`, pairs(held.Owners), shoal.SessionOwner)
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
		case "owner":
			ended.Owners = append(ended.Owners, ref)
		}
	}
	return ended, err
}

// right is one row of the query of EndedRights.
type right struct{ what, session, id string }

func rightOf(r *sqlconn.Rows) right { return right{what: r.Text(0), session: r.Text(1), id: r.Text(2)} }

// singles and pairs return the arrays of arrays that EndedRights passes as JSON, never null.
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
