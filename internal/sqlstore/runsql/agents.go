package runsql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

const (
	noHostedAgent = "%q is not a hosted agent here."
	agentColumns  = `a.session_id, a.agent_id, a.version, a.hash, a.config, a.created_at, e.name, e.description, a.on_new_message, a.settle_ms, a.max_steps, a.remote`
	agentTables   = ` FROM entities AS e CROSS JOIN hosted_agents AS a WHERE a.session_id = e.session_id AND a.agent_id = e.id`
)

func agentOf(r *sqlconn.Rows) storage.Agent {
	return storage.Agent{
		HostedAgent: shoal.HostedAgent{
			SessionID: shoal.SessionID(r.Text(0)), ID: shoal.EntityID(r.Text(1)), Version: int(r.Int(2)), Hash: r.Text(3),
			Config: r.JSON(4), CreatedAt: r.Time(5),
		},
		Name: r.Text(6), Description: r.Text(7), OnNewMessage: r.Text(8), SettleMs: r.Int(9), MaxSteps: int(r.Int(10)), Remote: r.Bool(11),
	}
}

// HostedAgent implements [hub.AgentTx].
func (t *Tx) HostedAgent(session shoal.SessionID, id shoal.EntityID) (storage.Agent, error) {
	a, ok, err := sqlconn.One(t.c, agentOf, `SELECT `+agentColumns+agentTables+`
		AND e.session_id = $1 AND e.id = $2 AND a.version = e.hosted_version`, session, id)
	return sqlconn.OrNotFound(a, ok, err, "HostedAgent", noHostedAgent, id)
}

// HostedAgentAt implements [hub.AgentTx].
func (t *Tx) HostedAgentAt(session shoal.SessionID, id shoal.EntityID, version int) (storage.Agent, error) {
	a, ok, err := sqlconn.One(t.c, agentOf, `SELECT `+agentColumns+agentTables+`
		AND e.session_id = $1 AND e.id = $2 AND a.version = $3`, session, id, version)
	return sqlconn.OrNotFound(a, ok, err, "HostedAgentAt", "The hosted agent %q has no version %d.", id, version)
}

// HostedAgentVersions implements [hub.AgentTx].
func (t *Tx) HostedAgentVersions(session shoal.SessionID, id shoal.EntityID, before, limit int) ([]storage.Agent, error) {
	return sqlconn.ListFirst(t.c, limit, agentOf, `SELECT `+agentColumns+agentTables+`
		AND e.session_id = $1 AND e.id = $2 AND a.version < $3 ORDER BY a.version DESC`+sqlconn.Limit(limit), session, id, sqlconn.OrUnlimited(before))
}

// HostedAgents implements [hub.AgentTx].
func (t *Tx) HostedAgents(session shoal.SessionID, after shoal.EntityID, limit int) ([]storage.Agent, error) {
	return sqlconn.ListFirst(t.c, limit, agentOf, `SELECT `+agentColumns+agentTables+`
		AND e.session_id = $1 AND e.id > $2 AND e.hosted_version IS NOT NULL AND a.version = e.hosted_version
		ORDER BY e.id`+sqlconn.Limit(limit), session, after)
}

// PutHostedAgent implements [hub.AgentTx]. It fails with AlreadyExists for a version that
// exists. It does not change the name and the description, which belong to the entity.
func (t *Tx) PutHostedAgent(a storage.Agent) error {
	const op = "PutHostedAgent"
	if _, err := t.core.Entity(a.SessionID, a.ID); err != nil {
		return err
	}
	last, err := sqlconn.Number(t.c, `SELECT MAX(version) FROM hosted_agents WHERE session_id = $1 AND agent_id = $2`, a.SessionID, a.ID)
	switch {
	case err != nil:
		return err
	case int64(a.Version) <= last:
		return sqlconn.AlreadyExists(op, "The hosted agent %q has version %d already; the newest is %d.", a.ID, a.Version, last)
	case int64(a.Version) != last+1:
		return shoal.E("sqlstore."+op, shoal.Conflict, "The version of a hosted agent must follow the newest one.")
	}
	_, err = t.c.Exec(
		`INSERT INTO hosted_agents (session_id, agent_id, version, hash, config, created_at, on_new_message, settle_ms, max_steps, remote)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		a.SessionID, a.ID, a.Version, a.Hash, a.Config, a.CreatedAt, a.OnNewMessage, a.SettleMs, a.MaxSteps, a.Remote)
	if err != nil {
		return err
	}
	if _, err := t.c.Exec(`UPDATE entities SET hosted_version = $3 WHERE session_id = $1 AND id = $2`, a.SessionID, a.ID, a.Version); err != nil {
		return err
	}
	if _, err := t.c.Exec(`UPDATE members SET hosted = TRUE WHERE session_id = $1 AND entity_id = $2 AND NOT hosted`, a.SessionID, a.ID); err != nil {
		return err
	}
	return t.eachSpace(a.SessionID, a.ID, `paused_at IS NULL`, t.core.PauseMember)
}

// DeleteHostedAgent implements [hub.AgentTx].
func (t *Tx) DeleteHostedAgent(session shoal.SessionID, id shoal.EntityID) error {
	n, err := t.c.Exec(`UPDATE entities SET hosted_version = NULL WHERE session_id = $1 AND id = $2 AND hosted_version IS NOT NULL`, session, id)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("DeleteHostedAgent", noHostedAgent, id)
	}
	if err != nil {
		return err
	}
	if _, err := t.c.Exec(`UPDATE members SET hosted = FALSE WHERE session_id = $1 AND entity_id = $2 AND hosted`, session, id); err != nil {
		return err
	}
	return t.eachSpace(session, id, `NOT muted`, t.core.ResumeMember)
}

// eachSpace calls do for those spaces of an entity whose membership fulfils a condition.
func (t *Tx) eachSpace(session shoal.SessionID, entity shoal.EntityID, condition string, do func(shoal.SessionID, shoal.SpaceID, shoal.EntityID) error) error {
	spaces, err := sqlconn.List(t.c, func(r *sqlconn.Rows) shoal.SpaceID { return shoal.SpaceID(r.Text(0)) },
		`SELECT space_id FROM members WHERE session_id = $1 AND entity_id = $2 AND `+condition, session, entity)
	for _, space := range spaces {
		if err := do(session, space, entity); err != nil {
			return err
		}
	}
	return err
}
