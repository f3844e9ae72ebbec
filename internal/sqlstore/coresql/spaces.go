package coresql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/schema"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

const (
	noSpace      = "Space %q not found."
	spaceColumns = `s.session_id, s.id, s.name, s.status, s.summary, s.admin_agent_id, s.show_reasoning, s.metadata, ` + schema.LastSeq + `, s.created_at, s.closed_at, s.created_by, s.member_count`
)

func spaceOf(r *sqlconn.Rows) shoal.Space {
	return shoal.Space{
		SessionID: shoal.SessionID(r.Text(0)), ID: shoal.SpaceID(r.Text(1)), Name: r.Text(2), Status: shoal.SpaceStatus(r.Text(3)),
		Summary: sqlconn.TextOrNil[string](r, 4), AdminAgentID: sqlconn.TextOrNil[shoal.EntityID](r, 5), ShowAgentReasoning: r.Bool(6),
		Metadata: r.JSON(7), Members: []shoal.Member{}, LastSeq: r.Int(8), CreatedAt: r.Time(9), ClosedAt: r.TimeOrNil(10),
		OwnerID: sqlconn.TextOrNil[shoal.EntityID](r, 11), MemberCount: r.Int(12),
	}
}

// Space implements [hub.SpaceTx].
func (t *Tx) Space(session shoal.SessionID, id shoal.SpaceID) (shoal.Space, error) {
	if known := t.cache.Space(session, id); known != nil {
		return known.Row, nil
	}
	s, ok, err := sqlconn.One(t.c, spaceOf,
		`SELECT `+spaceColumns+` FROM spaces AS s WHERE s.session_id = $1 AND s.id = $2`, session, id)
	if err == nil && ok {
		t.cache.PutSpace(s)
	}
	return sqlconn.OrNotFound(s, ok, err, "Space", noSpace, id)
}

// LockSpace implements [hub.SpaceTx]. There is nothing to lock: an Update excludes others of
// the session from its start, also those of other processes.
func (t *Tx) LockSpace(session shoal.SessionID, id shoal.SpaceID) (shoal.Space, error) {
	return t.Space(session, id)
}

// Spaces implements [hub.SpaceTx].
func (t *Tx) Spaces(session shoal.SessionID, filter storage.SpaceFilter) ([]shoal.Space, error) {
	var b sqlconn.Builder
	b.Add(`SELECT ` + spaceColumns + ` FROM spaces AS s`)
	if filter.Member != "" {
		b.Add(` JOIN members AS m ON m.session_id = s.session_id AND m.space_id = s.id AND m.entity_id = ?`, filter.Member)
	}
	b.Add(` WHERE s.session_id = ? AND s.id > ?`, session, filter.After)
	if filter.OpenOnly {
		b.Add(` AND s.status = ?`, shoal.SpaceStatusOpen)
	}
	limit := sqlconn.OrUnlimited(filter.Limit)
	b.Add(` ORDER BY s.id` + sqlconn.Limit(limit))
	return sqlconn.ListFirst(t.c, limit, spaceOf, b.Text(), b.Args...)
}

// InsertSpace implements [hub.SpaceTx].
func (t *Tx) InsertSpace(s shoal.Space) error {
	t.cache.DropSpace(s.SessionID, s.ID)
	if was, err := t.DeletedSpace(s.SessionID, s.ID); err != nil || was {
		if was {
			err = sqlconn.AlreadyExists("InsertSpace", "The space id %q was used before; choose another.", s.ID)
		}
		return err
	}
	n, err := t.c.ExecCached(
		`INSERT INTO spaces (session_id, id, name, status, summary, admin_agent_id, show_reasoning, metadata, last_seq, created_at, closed_at, created_by)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9, $10, $11) ON CONFLICT DO NOTHING`,
		s.SessionID, s.ID, s.Name, s.Status, s.Summary, s.AdminAgentID, s.ShowAgentReasoning, s.Metadata, s.CreatedAt, s.ClosedAt, s.OwnerID)
	if err == nil && n == 0 {
		err = sqlconn.AlreadyExists("InsertSpace", "The space id %q is taken; choose another.", s.ID)
	}
	return err
}

// CountCreated implements [hub.SpaceTx].
func (t *Tx) CountCreated(session shoal.SessionID, by shoal.EntityID, upTo int) (int, error) {
	n, err := sqlconn.Number(t.c, `SELECT COUNT(*) FROM (SELECT 1 FROM spaces WHERE session_id = $1 AND created_by = $2 LIMIT $3) AS first`, session, by, upTo)
	return int(n), err
}

// UpdateSpace implements [hub.SpaceTx].
func (t *Tx) UpdateSpace(s shoal.Space) error {
	t.cache.DropSpace(s.SessionID, s.ID)
	n, err := t.c.ExecCached(
		`UPDATE spaces SET name = $3, status = $4, summary = $5, admin_agent_id = $6, show_reasoning = $7, metadata = $8, closed_at = $9
		 WHERE session_id = $1 AND id = $2`,
		s.SessionID, s.ID, s.Name, s.Status, s.Summary, s.AdminAgentID, s.ShowAgentReasoning, s.Metadata, s.ClosedAt)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("UpdateSpace", noSpace, s.ID)
	}
	return err
}
