package erasesql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/messagerow"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// OldMessages implements [storage.RetentionTx].
func (t *Tx) OldMessages(session shoal.SessionID, before shoal.Time, after storage.MessagePosition, limit int) ([]shoal.Message, error) {
	return sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) shoal.Message {
		return t.row.Read(r, 1, session, shoal.SpaceID(r.Text(0)))
	}, `SELECT m.space_id, `+messagerow.Columns+` FROM messages AS m
		WHERE m.session_id = $1 AND (m.space_id, m.seq) > ($2, $3) AND m.created_at < $4 AND m.deleted_at IS NULL AND m.status <> 'streaming'
		AND NOT EXISTS (SELECT 1 FROM pending_actions AS p WHERE p.session_id = $1 AND p.status = 'open' AND p.message_id = m.id)
		ORDER BY m.space_id, m.seq`+sqlconn.Limit(limit), session, after.Space, after.Seq, before)
}

// DropRuns implements [storage.RetentionTx].
func (t *Tx) DropRuns(session shoal.SessionID, before shoal.Time, limit int) (int, error) {
	if err := t.c.Overwrite(true); err != nil {
		return 0, err
	}
	type run struct {
		number           int64
		id, conversation string
	}
	old, err := sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) run { return run{r.Int(0), r.Text(1), r.Text(2)} },
		`SELECT r.number, r.id, r.conversation FROM runs AS r WHERE r.session_id = $1 AND r.ended_at < $2
		 AND NOT EXISTS (SELECT 1 FROM runs AS o WHERE o.session_id = $1 AND o.ended_at IS NULL
		   AND (o.cause_root = r.cause_root OR o.conversation <> '' AND o.conversation = r.conversation OR o.part_of = r.id))
		 ORDER BY r.number`+sqlconn.Limit(limit), session, before)
	if err != nil {
		return 0, err
	}
	for _, r := range old {
		if err := t.leaveEvents(session, r.id); err != nil {
			return 0, err
		}
		if err := t.core.DeleteRun(session, r.number); err != nil {
			return 0, err
		}
		// The conversations of its sub-agents, and what is known of its own one after its last run.
		if _, err := t.c.Exec(`DELETE FROM conversations WHERE session_id = $1 AND id > $2 AND id < $3`, session, r.id+".sub.", r.id+".sub/"); err != nil {
			return 0, err
		}
		if _, err := t.c.Exec(`UPDATE conversations SET data = NULL WHERE session_id = $1 AND id = $2
			AND NOT EXISTS (SELECT 1 FROM runs WHERE session_id = $1 AND conversation = $2 AND ended > 0)`, session, r.conversation); err != nil {
			return 0, err
		}
	}
	settled, err := t.c.Exec(`DELETE FROM pending_actions WHERE number IN (SELECT p.number FROM pending_actions AS p
		WHERE p.session_id = $1 AND p.run_id = '' AND p.status <> 'open' AND COALESCE(p.answered_at, p.expires_at, p.created_at) < $2 LIMIT $3)`, session, before, limit)
	if err != nil {
		return 0, err
	}
	return len(old) + int(settled), t.c.Overwrite(false)
}

// leaveEvents prepares the events of a run for their deletion: followers that have not received them
// get a snapshot, and the newest event of the session stays, without its content, because its place
// is the counter.
func (t *Tx) leaveEvents(session shoal.SessionID, id string) error {
	last, err := t.core.EventEnd(session)
	if err != nil {
		return err
	}
	if _, err := t.c.Exec(`INSERT INTO event_floors (session_id, space_id, entity_id, place)
		SELECT e.session_id, e.space_id, e.entity_id, MAX(e.place) FROM events AS e
		WHERE e.session_id = $1 AND e.run_id = $2 AND e.space_id <> '' GROUP BY e.session_id, e.space_id, e.entity_id
		ON CONFLICT (session_id, space_id, entity_id) DO UPDATE
		SET place = CASE WHEN excluded.place > event_floors.place THEN excluded.place ELSE event_floors.place END`, session, id); err != nil {
		return err
	}
	_, err = t.c.Exec(`UPDATE events SET space_id = '', entity_id = '', run_id = '', private = FALSE, data = '{}', message_id = NULL
		WHERE session_id = $1 AND place = $2 AND run_id = $3`, session, last, id)
	return err
}
