package runsql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Goals implements [hub.NoteTx].
func (t *Tx) Goals(session shoal.SessionID, agent shoal.EntityID) ([]shoal.Goal, error) {
	return sqlconn.List(t.c, func(r *sqlconn.Rows) shoal.Goal {
		return shoal.Goal{
			ID: r.Text(0), Description: r.Text(1), Priority: int(r.Int(2)), IsLongTerm: r.Bool(3), IsCompleted: r.Bool(4),
			CreatedAt: r.Time(5), UpdatedAt: r.Time(6),
		}
	}, `SELECT id, description, priority, is_long_term, is_completed, created_at, updated_at FROM goals
		WHERE session_id = $1 AND agent_id = $2 ORDER BY place`, session, agent)
}

// PutGoal implements [hub.NoteTx]. A goal that is replaced keeps its position.
func (t *Tx) PutGoal(session shoal.SessionID, agent shoal.EntityID, g shoal.Goal) error {
	_, err := t.c.Exec(
		`INSERT INTO goals (session_id, agent_id, id, place, description, priority, is_long_term, is_completed, created_at, updated_at)
		 VALUES ($1, $2, $3, (SELECT COALESCE(MAX(place), 0) + 1 FROM goals WHERE session_id = $1 AND agent_id = $2), $4, $5, $6, $7, $8, $9)
		 ON CONFLICT (session_id, agent_id, id) DO UPDATE SET description = excluded.description, priority = excluded.priority,
		   is_long_term = excluded.is_long_term, is_completed = excluded.is_completed, created_at = excluded.created_at, updated_at = excluded.updated_at`,
		session, agent, g.ID, g.Description, g.Priority, g.IsLongTerm, g.IsCompleted, g.CreatedAt, g.UpdatedAt)
	return err
}

// DeleteGoal implements [hub.NoteTx].
func (t *Tx) DeleteGoal(session shoal.SessionID, agent shoal.EntityID, id string) error {
	n, err := t.c.Exec(`DELETE FROM goals WHERE session_id = $1 AND agent_id = $2 AND id = $3`, session, agent, id)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("DeleteGoal", "Goal %q not found.", id)
	}
	return err
}

// Memories implements [hub.NoteTx].
func (t *Tx) Memories(session shoal.SessionID, agent shoal.EntityID) ([]shoal.Memory, error) {
	return sqlconn.List(t.c, func(r *sqlconn.Rows) shoal.Memory {
		return shoal.Memory{
			ID: r.Text(0), Topic: r.Text(1), Content: r.Text(2), Metadata: r.JSON(3), CreatedAt: r.Time(4), UpdatedAt: r.Time(5),
			SpaceID: sqlconn.TextOrNil[shoal.SpaceID](r, 6),
		}
	}, `SELECT id, topic, content, metadata, created_at, updated_at, space_id FROM memories
		WHERE session_id = $1 AND agent_id = $2 ORDER BY place`, session, agent)
}

// PutMemory implements [hub.NoteTx]. A memory that is replaced keeps its position.
func (t *Tx) PutMemory(session shoal.SessionID, agent shoal.EntityID, m shoal.Memory) error {
	_, err := t.c.Exec(
		`INSERT INTO memories (session_id, agent_id, id, place, topic, content, metadata, created_at, updated_at, space_id)
		 VALUES ($1, $2, $3, (SELECT COALESCE(MAX(place), 0) + 1 FROM memories WHERE session_id = $1 AND agent_id = $2), $4, $5, $6, $7, $8, $9)
		 ON CONFLICT (session_id, agent_id, id) DO UPDATE SET topic = excluded.topic, content = excluded.content, metadata = excluded.metadata,
		   created_at = excluded.created_at, updated_at = excluded.updated_at, space_id = excluded.space_id`,
		session, agent, m.ID, m.Topic, m.Content, m.Metadata, m.CreatedAt, m.UpdatedAt, m.SpaceID)
	return err
}

// DeleteMemory implements [hub.NoteTx].
func (t *Tx) DeleteMemory(session shoal.SessionID, agent shoal.EntityID, id string) error {
	n, err := t.c.Exec(`DELETE FROM memories WHERE session_id = $1 AND agent_id = $2 AND id = $3`, session, agent, id)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("DeleteMemory", "Memory %q not found.", id)
	}
	return err
}
