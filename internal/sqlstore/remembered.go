package sqlstore

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

const (
	noRemembered   = "There is no remembered decision %q here."
	fromRemembered = `SELECT d.id, d.agent_id, d.tool_name, d.space_id, d.requesters, d.decision, d.scope, d.args_hash, d.args, d.entity_id,
	d.created_at, d.expires_at FROM remembered_decisions AS d`
)

func rememberedOf(r *rows) shoal.RememberedDecision {
	d := shoal.RememberedDecision{
		ID: shoal.RememberedID(r.text(0)), AgentID: shoal.EntityID(r.text(1)), ToolName: r.text(2), SpaceID: textOrNil[shoal.SpaceID](r, 3),
		Decision: r.text(5), Scope: r.text(6), ArgsHash: r.text(7), Args: r.rawOrNil(8), EntityID: textOrNil[shoal.EntityID](r, 9),
		CreatedAt: r.time(10), ExpiresAt: r.time(11),
	}
	r.decode(r.text(4), &d.Requesters)
	return d
}

// InsertRemembered implements [hub.RememberTx].
func (t tx) InsertRemembered(session shoal.SessionID, d shoal.RememberedDecision) error {
	requesters, err := encode(append([]shoal.EntityID{}, d.Requesters...))
	if err != nil {
		return err
	}
	n, err := t.c.exec(
		`INSERT INTO remembered_decisions (session_id, id, agent_id, tool_name, space_id, requesters, decision, scope, args_hash, args, entity_id,
		   created_at, expires_at)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING`,
		session, d.ID, d.AgentID, d.ToolName, d.SpaceID, requesters, d.Decision, d.Scope, d.ArgsHash, orNull(d.Args), d.EntityID, d.CreatedAt, d.ExpiresAt)
	if err == nil && n == 0 {
		err = taken("InsertRemembered", "The id %q of a remembered decision is taken.", d.ID)
	}
	return err
}

// Remembered implements [hub.RememberTx].
func (t tx) Remembered(session shoal.SessionID, id shoal.RememberedID) (shoal.RememberedDecision, error) {
	d, ok, err := one(t.c, rememberedOf, fromRemembered+` WHERE d.session_id = $1 AND d.id = $2`, session, id)
	return present(d, ok, err, "Remembered", noRemembered, id)
}

// RememberedDecisions implements [hub.RememberTx]. A Limit of 0 is none.
func (t tx) RememberedDecisions(session shoal.SessionID, filter hub.RememberedFilter) ([]shoal.RememberedDecision, error) {
	var b clauses
	b.add(fromRemembered+` WHERE d.session_id = ? AND d.id > ?`, session, filter.After)
	if filter.Agent != "" {
		b.add(` AND d.agent_id = ?`, filter.Agent)
	}
	if filter.Tool != "" {
		b.add(` AND d.tool_name = ?`, filter.Tool)
	}
	if filter.Until != nil {
		b.add(` AND d.expires_at > ?`, *filter.Until)
	}
	limit := orAll(filter.Limit)
	b.add(` ORDER BY d.id` + upTo(limit))
	return listFirst(t.c, limit, rememberedOf, b.text.String(), b.args...)
}

// DeleteRemembered implements [hub.RememberTx].
func (t tx) DeleteRemembered(session shoal.SessionID, id shoal.RememberedID) error {
	n, err := t.c.exec(`DELETE FROM remembered_decisions WHERE session_id = $1 AND id = $2`, session, id)
	if err == nil && n == 0 {
		err = missing("DeleteRemembered", noRemembered, id)
	}
	return err
}

// DropRemembered implements [hub.RememberTx].
func (t tx) DropRemembered(at shoal.Time) error {
	_, err := t.c.exec(`DELETE FROM remembered_decisions WHERE expires_at <= $1`, at)
	return err
}
