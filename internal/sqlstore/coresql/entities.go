package coresql

import (
	"cmp"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

const (
	noEntity      = "Entity %q not found."
	entityColumns = `session_id, id, kind, name, description, external_id, last_seen_at, metadata, created_at, hosted_version, session_role, owner_id, last_failure,
		hosted_version IS NOT NULL AND EXISTS (SELECT 1 FROM hosted_agents AS h
		  WHERE h.session_id = entities.session_id AND h.agent_id = entities.id AND h.version = entities.hosted_version AND h.remote), wake_proof`
)

func entityOf(r *sqlconn.Rows) shoal.Entity {
	e := shoal.Entity{
		SessionID: shoal.SessionID(r.Text(0)), ID: shoal.EntityID(r.Text(1)), Kind: shoal.EntityKind(r.Text(2)),
		Name: r.Text(3), Description: r.Text(4), ExternalID: sqlconn.TextOrNil[string](r, 5), LastSeenAt: r.TimeOrNil(6),
		Metadata: r.JSON(7), CreatedAt: r.Time(8), Hosted: !r.Null(9),
		SessionRole: shoal.SessionRole(r.Text(10)), OwnerID: sqlconn.TextOrNil[shoal.EntityID](r, 11),
		Remote: r.Bool(13),
	}
	var f *storedFailure
	if r.DecodeOrNil(12, &f); f != nil {
		f.Failure.MessageID = f.MessageID
		e.LastFailure = &f.Failure
	}
	r.DecodeOrNil(14, &e.WakeProof)
	return e
}

// storedFailure is a failure with all its fields; the JSON of [shoal.Failure] lacks some.
type storedFailure struct {
	shoal.Failure
	MessageID shoal.MessageID `json:"messageId"`
}

// SetLastFailure implements [hub.EntityTx].
func (t *Tx) SetLastFailure(session shoal.SessionID, agent shoal.EntityID, f *shoal.Failure) error {
	if f == nil { // most agents have no last failure
		_, err := t.c.ExecCached(`UPDATE entities SET last_failure = NULL WHERE session_id = $1 AND id = $2 AND last_failure IS NOT NULL`, session, agent)
		return err
	}
	text, err := sqlconn.Encode(storedFailure{*f, f.MessageID})
	if err != nil {
		return err
	}
	_, err = t.c.ExecCached(`UPDATE entities SET last_failure = $3 WHERE session_id = $1 AND id = $2`, session, agent, text)
	return err
}

// SetWakeProof implements [hub.EntityTx].
func (t *Tx) SetWakeProof(session shoal.SessionID, agent shoal.EntityID, p shoal.WakeProof) error {
	text, err := sqlconn.Encode(p)
	if err != nil {
		return err
	}
	_, err = t.c.Exec(`UPDATE entities SET wake_proof = $3 WHERE session_id = $1 AND id = $2`, session, agent, text)
	return err
}

// Entity implements [hub.EntityTx].
func (t *Tx) Entity(session shoal.SessionID, id shoal.EntityID) (shoal.Entity, error) {
	e, ok, err := sqlconn.One(t.c, entityOf,
		`SELECT `+entityColumns+` FROM entities WHERE session_id = $1 AND id = $2 AND deleted_at IS NULL`, session, id)
	return sqlconn.OrNotFound(e, ok, err, "Entity", noEntity, id)
}

// Entities implements [hub.EntityTx].
func (t *Tx) Entities(session shoal.SessionID, after shoal.EntityID, limit int) ([]shoal.Entity, error) {
	return sqlconn.ListFirst(t.c, limit, entityOf,
		`SELECT `+entityColumns+` FROM entities
		 WHERE session_id = $1 AND id > $2 AND deleted_at IS NULL ORDER BY id`+sqlconn.Limit(limit), session, after)
}

// EntitiesNear implements [hub.EntityTx].
func (t *Tx) EntitiesNear(session shoal.SessionID, near, after shoal.EntityID, limit int) ([]shoal.Entity, error) {
	return sqlconn.ListFirst(t.c, limit, entityOf,
		`SELECT `+entityColumns+` FROM entities
		 WHERE session_id = $1 AND id > $3 AND deleted_at IS NULL AND (id = $2 OR id IN (
		   SELECT o.entity_id FROM members AS m JOIN members AS o ON o.session_id = m.session_id AND o.space_id = m.space_id
		   WHERE m.session_id = $1 AND m.entity_id = $2)) ORDER BY id`+sqlconn.Limit(limit), session, near, after)
}

// ShareSpace implements [hub.EntityTx].
func (t *Tx) ShareSpace(session shoal.SessionID, a, b shoal.EntityID) (bool, error) {
	if a == b {
		return true, nil
	}
	return sqlconn.Exists(t.c, `SELECT 1 FROM members AS m JOIN members AS o ON o.session_id = m.session_id AND o.space_id = m.space_id
		WHERE m.session_id = $1 AND m.entity_id = $2 AND o.entity_id = $3 LIMIT 1`, session, a, b)
}

// InsertEntity implements [hub.EntityTx].
func (t *Tx) InsertEntity(e shoal.Entity) error {
	n, err := t.c.ExecCached( // a new entity has joined nothing yet
		`INSERT INTO entities (session_id, id, kind, name, description, external_id, last_seen_at, metadata, created_at, session_role, owner_id)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING`,
		e.SessionID, e.ID, e.Kind, e.Name, e.Description, e.ExternalID, e.LastSeenAt, e.Metadata, e.CreatedAt, roleOf(e), e.OwnerID)
	if err != nil || n > 0 {
		return err
	}
	known, err := sqlconn.Exists(t.c, `SELECT 1 FROM entities WHERE session_id = $1 AND id = $2`, e.SessionID, e.ID)
	switch {
	case err != nil:
		return err
	case known:
		return sqlconn.AlreadyExists("InsertEntity", "The entity id %q is taken; choose another.", e.ID)
	default:
		return externalTaken("InsertEntity", e)
	}
}

// roleOf returns the session role that is stored for an entity; the default is member.
func roleOf(e shoal.Entity) shoal.SessionRole { return cmp.Or(e.SessionRole, shoal.SessionMember) }

// UpdateEntity implements [hub.EntityTx].
func (t *Tx) UpdateEntity(e shoal.Entity) error {
	n, err := t.c.Exec(
		`UPDATE entities SET name = $3, description = $4, external_id = $5, metadata = $6, kind = $7, session_role = $8, owner_id = $9
		 WHERE session_id = $1 AND id = $2 AND deleted_at IS NULL AND NOT EXISTS
		   (SELECT 1 FROM entities AS other WHERE other.session_id = $1 AND other.external_id = $5 AND other.id <> $2)`,
		e.SessionID, e.ID, e.Name, e.Description, e.ExternalID, e.Metadata, e.Kind, roleOf(e), e.OwnerID)
	if err != nil || n > 0 {
		return err
	}
	if _, err := t.Entity(e.SessionID, e.ID); err != nil {
		return err
	}
	return externalTaken("UpdateEntity", e)
}

func externalTaken(op string, e shoal.Entity) error {
	return sqlconn.AlreadyExists(op, "Another entity has the external id %q; each belongs to one.", *e.ExternalID)
}

// DeleteEntity implements [hub.EntityTx]. The external id can be used again.
func (t *Tx) DeleteEntity(session shoal.SessionID, id shoal.EntityID, at shoal.Time) error {
	n, err := t.c.Exec(
		`UPDATE entities SET deleted_at = $3, external_id = NULL, hosted_version = NULL WHERE session_id = $1 AND id = $2 AND deleted_at IS NULL`,
		session, id, at)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("DeleteEntity", noEntity, id)
	}
	if err != nil {
		return err
	}
	return t.c.ExecAll([]string{
		`DELETE FROM inbox_entries WHERE session_id = $1 AND entity_id = $2 AND space_id IN (SELECT space_id FROM members WHERE session_id = $1 AND entity_id = $2)`,
		`DELETE FROM read_ranges WHERE session_id = $1 AND entity_id = $2 AND space_id IN (SELECT space_id FROM members WHERE session_id = $1 AND entity_id = $2)`,
		`UPDATE spaces SET member_count = member_count - 1 WHERE session_id = $1 AND id IN (SELECT space_id FROM members WHERE session_id = $1 AND entity_id = $2)`,
		`DELETE FROM members WHERE session_id = $1 AND entity_id = $2`,
		`DELETE FROM explicit_keys WHERE session_id = $1 AND entity_id = $2`,
	}, session, id)
}

// EntityNames implements [hub.EntityTx].
func (t *Tx) EntityNames(session shoal.SessionID, ids []shoal.EntityID) (map[shoal.EntityID]string, error) {
	names := make(map[shoal.EntityID]string, len(ids))
	for some := range slices.Chunk(ids, sqlconn.MaxList) {
		var b sqlconn.Builder
		b.Add(`SELECT id, name FROM entities WHERE session_id = ?`, session)
		sqlconn.AddIn(&b, ` AND id IN (?)`, some)
		_, err := sqlconn.List(t.c, func(r *sqlconn.Rows) struct{} {
			names[shoal.EntityID(r.Text(0))] = r.Text(1)
			return struct{}{}
		}, b.Text(), b.Args...)
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// HumanNames implements [hub.EntityTx].
func (t *Tx) HumanNames(session shoal.SessionID) (map[shoal.EntityID]string, error) {
	names := map[shoal.EntityID]string{}
	_, err := sqlconn.List(t.c, func(r *sqlconn.Rows) struct{} {
		names[shoal.EntityID(r.Text(0))] = r.Text(1)
		return struct{}{}
	}, `SELECT id, name FROM entities WHERE session_id = $1 AND kind = $2 AND deleted_at IS NULL`, session, shoal.Human)
	return names, err
}

// SetLastSeen implements [hub.EntityTx].
func (t *Tx) SetLastSeen(seen []storage.LastSeen) error {
	for some := range slices.Chunk(seen, sqlconn.MaxList) {
		var b sqlconn.Builder
		b.Add(`UPDATE entities SET last_seen_at = v.column3 FROM (`)
		sqlconn.AddValues(&b, some, func(s storage.LastSeen) { b.Add(`(?, ?, CAST(? AS BIGINT))`, s.Session, s.Entity, s.At) })
		b.Add(`) AS v WHERE session_id = v.column1 AND id = v.column2`)
		if _, err := t.c.ExecCached(b.Text(), b.Args...); err != nil {
			return err
		}
	}
	return nil
}
