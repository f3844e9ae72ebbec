package runsql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

const (
	noRemembered   = "Remembered decision %q not found."
	fromRemembered = `SELECT d.id, d.agent_id, d.tool_name, d.space_id, d.requesters, d.decision, d.scope, d.args_hash, d.args, d.entity_id,
	d.created_at, d.expires_at FROM remembered_decisions AS d`
)

func rememberedOf(r *sqlconn.Rows) shoal.RememberedDecision {
	d := shoal.RememberedDecision{
		ID: shoal.RememberedID(r.Text(0)), AgentID: shoal.EntityID(r.Text(1)), ToolName: r.Text(2), SpaceID: sqlconn.TextOrNil[shoal.SpaceID](r, 3),
		Decision: r.Text(5), Scope: r.Text(6), ArgsHash: r.Text(7), Args: r.RawOrNil(8), EntityID: sqlconn.TextOrNil[shoal.EntityID](r, 9),
		CreatedAt: r.Time(10), ExpiresAt: r.Time(11),
	}
	r.Decode(r.Text(4), &d.Requesters)
	return d
}

// InsertRemembered implements [hub.RememberTx].
func (t *Tx) InsertRemembered(session shoal.SessionID, d shoal.RememberedDecision) error {
	requesters, err := sqlconn.Encode(append([]shoal.EntityID{}, d.Requesters...))
	if err != nil {
		return err
	}
	n, err := t.c.Exec(
		`INSERT INTO remembered_decisions (session_id, id, agent_id, tool_name, space_id, requesters, decision, scope, args_hash, args, entity_id,
		   created_at, expires_at)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING`,
		session, d.ID, d.AgentID, d.ToolName, d.SpaceID, requesters, d.Decision, d.Scope, d.ArgsHash, sqlconn.RawOrNull(d.Args), d.EntityID, d.CreatedAt, d.ExpiresAt)
	if err == nil && n == 0 {
		err = sqlconn.AlreadyExists("InsertRemembered", "The id %q of a remembered decision is taken.", d.ID)
	}
	return err
}

// Remembered implements [hub.RememberTx].
func (t *Tx) Remembered(session shoal.SessionID, id shoal.RememberedID) (shoal.RememberedDecision, error) {
	d, ok, err := sqlconn.One(t.c, rememberedOf, fromRemembered+` WHERE d.session_id = $1 AND d.id = $2`, session, id)
	return sqlconn.OrNotFound(d, ok, err, "Remembered", noRemembered, id)
}

// RememberedDecisions implements [hub.RememberTx]. A Limit of 0 means no limit.
func (t *Tx) RememberedDecisions(session shoal.SessionID, filter storage.RememberedFilter) ([]shoal.RememberedDecision, error) {
	var b sqlconn.Builder
	b.Add(fromRemembered+` WHERE d.session_id = ? AND d.id > ?`, session, filter.After)
	if filter.Agent != "" {
		b.Add(` AND d.agent_id = ?`, filter.Agent)
	}
	if filter.Tool != "" {
		b.Add(` AND d.tool_name = ?`, filter.Tool)
	}
	if filter.Until != nil {
		b.Add(` AND d.expires_at > ?`, *filter.Until)
	}
	limit := sqlconn.OrUnlimited(filter.Limit)
	b.Add(` ORDER BY d.id` + sqlconn.Limit(limit))
	return sqlconn.ListFirst(t.c, limit, rememberedOf, b.Text(), b.Args...)
}

// DeleteRemembered implements [hub.RememberTx].
func (t *Tx) DeleteRemembered(session shoal.SessionID, id shoal.RememberedID) error {
	n, err := t.c.Exec(`DELETE FROM remembered_decisions WHERE session_id = $1 AND id = $2`, session, id)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("DeleteRemembered", noRemembered, id)
	}
	return err
}

// DropRemembered implements [hub.RememberTx].
func (t *Tx) DropRemembered(at shoal.Time) error {
	_, err := t.c.Exec(`DELETE FROM remembered_decisions WHERE expires_at <= $1`, at)
	return err
}
