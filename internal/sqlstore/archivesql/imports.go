package archivesql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/schema"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// importing is the status of a session that is being imported. Its row is marked as deleted,
// which hides it; name contains the token, and closed_at the time of the last progress.
const importing = "importing"

// EmptySession implements [hub.RecordTx].
func (t *Tx) EmptySession(session shoal.SessionID) (bool, error) {
	full, err := sqlconn.Exists(t.c, `SELECT 1 FROM spaces WHERE session_id = $1
		UNION ALL SELECT 1 FROM runs WHERE session_id = $1
		UNION ALL SELECT 1 FROM hosted_agents WHERE session_id = $1
		UNION ALL SELECT 1 FROM files WHERE session_id = $1
		UNION ALL SELECT 1 FROM renderers WHERE session_id = $1`, session)
	return !full, err
}

// BeginImport implements [hub.RecordTx].
func (t *Tx) BeginImport(session shoal.SessionID, token string, at shoal.Time) error {
	n, err := t.c.Exec(`INSERT INTO sessions (id, name, status, created_at, closed_at, deleted) VALUES ($1, $2, $3, $4, $5, TRUE) ON CONFLICT DO NOTHING`,
		session, token, importing, at, at)
	if err == nil && n == 0 {
		err = sqlconn.AlreadyExists("BeginImport", "The session id %q is taken; choose another.", session)
	}
	return err
}

// TouchImport implements [hub.RecordTx].
func (t *Tx) TouchImport(session shoal.SessionID, token string, at shoal.Time) error {
	n, err := t.c.Exec(`UPDATE sessions SET closed_at = $4 WHERE id = $1 AND status = $2 AND name = $3`, session, importing, token, at)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("TouchImport", "No such import of %q goes on.", session)
	}
	return err
}

// EndImport implements [hub.RecordTx].
func (t *Tx) EndImport(session shoal.SessionID, token string, s shoal.Session) error {
	if err := t.TouchImport(session, token, s.CreatedAt); err != nil {
		return err
	}
	_, done := t.c.ExtendTimeout()
	defer done()
	if _, err := t.c.Exec(`UPDATE members SET hosted = TRUE WHERE session_id = $1 AND entity_id IN
		(SELECT id FROM entities WHERE session_id = $1 AND hosted_version IS NOT NULL)`, session); err != nil {
		return err
	}
	if _, err := t.c.Exec(`UPDATE spaces SET member_count = (SELECT COUNT(*) FROM members AS m WHERE m.session_id = $1 AND m.space_id = spaces.id)
		WHERE session_id = $1`, session); err != nil {
		return err
	}
	if err := t.placeInboxes(session); err != nil {
		return err
	}
	if err := t.checkImport(session); err != nil {
		return err
	}
	if err := t.c.ExecAll(countPositions, session); err != nil {
		return err
	}
	if session != s.ID {
		if err := t.replaceSession(s.ID, session); err != nil {
			return err
		}
	}
	n, err := t.c.Exec(`UPDATE sessions SET name = $2, status = $3, created_at = $4, closed_at = $5, deleted = FALSE WHERE id = $1`,
		s.ID, s.Name, s.Status, s.CreatedAt, s.ClosedAt)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("EndImport", "Session %q not found.", s.ID)
	}
	if err != nil {
		return err
	}
	return t.core.UpdateSession(s)
}

// checkImport refuses timelines and inboxes that no server has written.
func (t *Tx) checkImport(session shoal.SessionID) error {
	for query, what := range importChecks {
		wrong, found, err := sqlconn.One(t.c, func(r *sqlconn.Rows) string { return r.Text(0) }, query, session)
		if err == nil && found {
			err = shoal.E("sqlstore.EndImport", shoal.InvalidArgument, fmt.Sprintf(what, wrong)+" The export was changed; nothing was imported.")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keptTables are the tables whose rows are not erased when a session is replaced: they are
// kept, or the statements that replace them read them.
var keptTables = []string{"keys", "explicit_keys", "push_subscriptions", "answers", "events", "event_floors", "lineage_places", "entities", "inbox_places"}

// replaceSession replaces the content of the session id by that of the hidden session stage.
func (t *Tx) replaceSession(id, stage shoal.SessionID) error {
	end, err := t.core.EventEnd(id)
	if err != nil {
		return err
	}
	places, err := t.core.InboxEnd(id)
	if err != nil {
		return err
	}
	if err := t.core.StorePlace(id, places); err != nil {
		return err
	}
	for _, query := range schema.EraseSession {
		table, _, _ := strings.Cut(strings.TrimPrefix(query, "DELETE FROM "), " ")
		if slices.Contains(keptTables, table) {
			continue
		}
		if _, err := t.c.Exec(query, id); err != nil {
			return err
		}
	}
	// Entities with keys are kept unless the import contains them.
	for _, query := range []string{
		`DELETE FROM entities WHERE session_id = $1 AND (id IN (SELECT id FROM entities WHERE session_id = $2)
		   OR id NOT IN (SELECT entity_id FROM keys WHERE session_id = $1 AND entity_id IS NOT NULL))`,
		`UPDATE entities SET hosted_version = NULL WHERE session_id = $1 AND hosted_version IS NOT NULL AND session_id <> $2`,
		`UPDATE entities SET external_id = NULL WHERE session_id = $1 AND external_id IN (SELECT external_id FROM entities WHERE session_id = $2)`,
	} {
		if _, err := t.c.Exec(query, id, stage); err != nil {
			return err
		}
	}
	if err := t.movePlaces(stage, places); err != nil {
		return err
	}
	tables := []string{"search_blocks", "search_words"}
	for _, of := range storage.RecordTypes[1:] {
		if !of.Old {
			tables = append(tables, recordTables[of.Name].table)
		}
	}
	for _, table := range tables {
		if _, err := t.c.Exec(`UPDATE `+table+` SET session_id = $1 WHERE session_id = $2`, id, stage); err != nil {
			return err
		}
	}
	if _, err := t.c.Exec(`DELETE FROM sessions WHERE id = $1`, stage); err != nil {
		return err
	}
	return t.expireCursors(id, end+1)
}

// expireCursors makes every cursor of a session too old: its events are about content that no
// longer exists.
func (t *Tx) expireCursors(id shoal.SessionID, place int64) error {
	if err := t.c.ExecAll([]string{
		`DELETE FROM events WHERE session_id = $1`,
		`DELETE FROM event_floors WHERE session_id = $1`,
	}, id); err != nil {
		return err
	}
	if err := t.c.RecordPosition(id, place); err != nil {
		return err
	}
	return t.c.ExecAll([]string{
		`INSERT INTO events (session_id, place, space_id, entity_id, type, data) VALUES ($1, $2, '', '', '', '{}')`,
		`INSERT INTO event_floors (session_id, space_id, entity_id, place) SELECT session_id, id, '', CAST($2 AS BIGINT) FROM spaces WHERE session_id = $1`,
		`UPDATE runs SET event_floor = $2 WHERE session_id = $1`,
	}, id, place)
}

// dropBatchSize is the number of messages of an import that one transaction erases.
const dropBatchSize = 2000

// DropImport implements [hub.RecordTx].
func (t *Tx) DropImport(session shoal.SessionID) (left bool, err error) {
	hidden, err := sqlconn.Exists(t.c, `SELECT 1 FROM sessions WHERE id = $1 AND status = $2`, session, importing)
	if err != nil || !hidden {
		return false, err
	}
	some := `(SELECT doc FROM messages WHERE session_id = $1 ORDER BY space_id, seq LIMIT ` + strconv.Itoa(dropBatchSize) + `)`
	if _, err := t.c.Exec(`DELETE FROM late WHERE doc IN `+some, session); err != nil {
		return false, err
	}
	n, err := t.c.Exec(`DELETE FROM messages WHERE doc IN `+some, session)
	if err != nil || n > 0 {
		return true, err
	}
	_, done := t.c.ExtendTimeout()
	defer done()
	if err := t.c.ExecAll(schema.EraseSession, session); err != nil {
		return false, err
	}
	if err := t.search.ResetEnd(); err != nil {
		return false, err
	}
	_, err = t.c.Exec(`DELETE FROM sessions WHERE id = $1`, session)
	return false, err
}

// Imports implements [hub.RecordTx].
func (t *Tx) Imports(before shoal.Time) ([]shoal.SessionID, error) {
	return sqlconn.List(t.c, func(r *sqlconn.Rows) shoal.SessionID { return shoal.SessionID(r.Text(0)) },
		`SELECT id FROM sessions WHERE status = $1 AND closed_at < $2 ORDER BY id`, importing, before)
}
