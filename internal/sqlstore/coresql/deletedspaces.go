package coresql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/searchsql"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// DeleteSpace implements [hub.SpaceTx].
func (t *Tx) DeleteSpace(session shoal.SessionID, id shoal.SpaceID, place int64) error {
	t.cache.DropSpace(session, id)
	for _, table := range []string{"inbox_entries", "read_ranges", "members"} {
		if _, err := t.c.ExecCached(`DELETE FROM `+table+` WHERE session_id = $1 AND space_id = $2`, session, id); err != nil {
			return err
		}
	}
	n, err := t.c.Exec(`DELETE FROM spaces WHERE session_id = $1 AND id = $2`, session, id)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("DeleteSpace", noSpace, id)
	}
	if err != nil {
		return err
	}
	_, err = t.c.Exec(`INSERT INTO deleted_spaces (session_id, id, place) VALUES ($1, $2, $3)`, session, id, place)
	return err
}

// DeletedSpace implements [hub.SpaceTx].
func (t *Tx) DeletedSpace(session shoal.SessionID, id shoal.SpaceID) (bool, error) {
	return sqlconn.Exists(t.c, `SELECT 1 FROM deleted_spaces WHERE session_id = $1 AND id = $2`, session, id)
}

// LeftSpaces implements [hub.SpaceTx].
func (t *Tx) LeftSpaces(limit int) ([]storage.DeletedSpace, error) {
	return sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) storage.DeletedSpace {
		return storage.DeletedSpace{Session: shoal.SessionID(r.Text(0)), ID: shoal.SpaceID(r.Text(1))}
	}, `SELECT session_id, id FROM deleted_spaces WHERE NOT erased ORDER BY session_id, id`+sqlconn.Limit(limit))
}

// EraseSpace implements [hub.SpaceTx].
func (t *Tx) EraseSpace(session shoal.SessionID, id shoal.SpaceID, limit int) (more bool, err error) {
	if err := t.c.Overwrite(true); err != nil {
		return false, err
	}
	for _, erase := range []func(shoal.SessionID, shoal.SpaceID, int) (int64, error){
		t.eraseMessages, t.eraseRuns, t.eraseFiles, t.eraseSpaceEvents,
	} {
		n, err := erase(session, id, limit)
		if err != nil || n > 0 {
			return true, err
		}
	}
	for _, query := range eraseSpace {
		if _, err := t.c.Exec(query, session, id); err != nil {
			return false, err
		}
	}
	if _, err := t.c.Exec(`UPDATE deleted_spaces SET erased = TRUE WHERE session_id = $1 AND id = $2`, session, id); err != nil {
		return false, err
	}
	return false, t.c.Overwrite(false)
}

// eraseSpace removes the rows of which one space has few.
var eraseSpace = []string{
	`DELETE FROM pending_actions WHERE session_id = $1 AND space_id = $2 AND status <> 'open'`,
	`DELETE FROM remembered_decisions WHERE session_id = $1 AND space_id = $2`,
	`DELETE FROM memories WHERE session_id = $1 AND space_id = $2`,
	`DELETE FROM conversations WHERE session_id = $1 AND id = agent_id || '/' || CAST($2 AS TEXT)`,
	`DELETE FROM run_spaces WHERE session_id = $1 AND space_id = $2`,
	`DELETE FROM event_floors WHERE session_id = $1 AND space_id = $2`,
}

// eraseMessages removes messages with their words in the search index.
func (t *Tx) eraseMessages(session shoal.SessionID, space shoal.SpaceID, limit int) (int64, error) {
	found, err := t.search.Entries(limit, `SELECT `+searchsql.EntryColumns+` FROM messages AS m WHERE m.session_id = $1 AND m.space_id = $2 ORDER BY m.seq`+sqlconn.Limit(limit), session, space)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	last, err := t.InboxEnd(session)
	if err == nil {
		err = t.StorePlace(session, last) // the messages may be the last that have places
	}
	if err != nil {
		return 0, err
	}
	for _, w := range found {
		if err := t.search.Unindex(w); err != nil {
			return 0, err
		}
		if err := t.search.Unlist(session, w.Doc); err != nil {
			return 0, err
		}
		for _, query := range []string{
			`DELETE FROM message_causes WHERE session_id = $1 AND message_id = $2`,
			`DELETE FROM message_versions WHERE session_id = $1 AND message_id = $2`,
		} {
			if _, err := t.c.Exec(query, session, w.Document.Message.ID); err != nil {
				return 0, err
			}
		}
		if _, err := t.c.Exec(`DELETE FROM messages WHERE doc = $1`, w.Doc); err != nil {
			return 0, err
		}
	}
	return int64(len(found)), t.search.ResetEnd()
}

// eraseRuns removes the runs that were started in a space, with everything that they stored
// except their usage.
func (t *Tx) eraseRuns(session shoal.SessionID, space shoal.SpaceID, limit int) (int64, error) {
	runs, err := sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) int64 { return r.Int(0) },
		`SELECT number FROM runs WHERE session_id = $1 AND space_id = $2 ORDER BY number`+sqlconn.Limit(limit), session, space)
	for _, number := range runs {
		if err == nil {
			err = t.DeleteRun(session, number)
		}
	}
	return int64(len(runs)), err
}

// DeleteRun removes the run with a number, with everything that it stored except its usage.
func (t *Tx) DeleteRun(session shoal.SessionID, number int64) error {
	for _, table := range []string{"run_steps", "run_requests", "run_clients", "run_work", "pending_actions", "events"} {
		if _, err := t.c.Exec(`DELETE FROM `+table+` WHERE session_id = $1 AND run_id = (SELECT id FROM runs WHERE number = $2)`, session, number); err != nil {
			return err
		}
	}
	if _, err := t.c.Exec(`DELETE FROM run_spaces WHERE number = $1`, number); err != nil {
		return err
	}
	_, err := t.c.Exec(`DELETE FROM runs WHERE session_id = $1 AND number = $2`, session, number)
	return err
}

// eraseFiles removes the files that only this space shows.
func (t *Tx) eraseFiles(session shoal.SessionID, space shoal.SpaceID, limit int) (int64, error) {
	type shown struct {
		id        shoal.FileID
		elsewhere bool
	}
	files, err := sqlconn.ListFirst(t.c, limit, func(r *sqlconn.Rows) shown { return shown{shoal.FileID(r.Text(0)), r.Int(1) > 0} },
		`SELECT f.file_id, (SELECT COUNT(*) FROM file_spaces AS o WHERE o.session_id = f.session_id AND o.file_id = f.file_id AND o.space_id <> f.space_id)
		 FROM file_spaces AS f WHERE f.session_id = $1 AND f.space_id = $2 ORDER BY f.file_id`+sqlconn.Limit(limit), session, space)
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		if f.elsewhere {
			_, err = t.c.Exec(`DELETE FROM file_spaces WHERE session_id = $1 AND file_id = $2 AND space_id = $3`, session, f.id, space)
		} else {
			err = t.DeleteFile(session, f.id)
		}
		if err != nil {
			return 0, err
		}
	}
	return int64(len(files)), nil
}

// eraseSpaceEvents removes the events before those of the deletion.
func (t *Tx) eraseSpaceEvents(session shoal.SessionID, space shoal.SpaceID, limit int) (int64, error) {
	return t.c.Exec(
		`DELETE FROM events WHERE session_id = $1 AND place IN (
		   SELECT e.place FROM events AS e WHERE e.session_id = $1 AND e.space_id = $2
		   AND e.place < (SELECT d.place FROM deleted_spaces AS d WHERE d.session_id = $1 AND d.id = $2) ORDER BY e.place LIMIT $3)`,
		session, space, limit)
}
