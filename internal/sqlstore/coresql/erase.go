package coresql

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/messagerow"
	"github.com/shoal-dev/shoal/internal/sqlstore/searchsql"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// MessageByID implements [hub.EraseTx].
func (t *Tx) MessageByID(session shoal.SessionID, id shoal.MessageID) (shoal.Message, error) {
	m, ok, err := sqlconn.One(t.c, func(r *sqlconn.Rows) shoal.Message { return t.row.Read(r, 1, session, shoal.SpaceID(r.Text(0))) },
		`SELECT m.space_id, `+messagerow.Columns+` FROM messages AS m WHERE m.session_id = $1 AND m.id = $2`, session, id)
	return sqlconn.OrNotFound(m, ok, err, "MessageByID", noMessage, id)
}

// EraseMessage implements [hub.EraseTx].
func (t *Tx) EraseMessage(session shoal.SessionID, id shoal.MessageID, at shoal.Time) error {
	if err := t.c.Overwrite(true); err != nil {
		return err
	}
	found, err := t.search.Entries(1, `SELECT `+searchsql.EntryColumns+` FROM messages AS m WHERE m.session_id = $1 AND m.id = $2`, session, id)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return sqlconn.NotFound("EraseMessage", noMessage, id)
	}
	if err := t.search.Unindex(found[0]); err != nil {
		return err
	}
	m := found[0].Document.Message
	before := m.Mentions
	m.Parts, m.Mentions, m.DroppedMentions, m.UpdatedAt, m.DeletedAt, m.EditedAt = nil, nil, nil, at, &at, nil
	behalf, err := sqlconn.IDsOrNull(m.OnBehalfOf)
	if err != nil {
		return err
	}
	partID, text, parts, err := messagerow.EncodeParts(m.Parts)
	if err != nil {
		return err
	}
	if _, err := t.c.Exec(
		`UPDATE messages SET mentions = NULL, dropped_mentions = NULL, updated_at = $3, part_id = NULL, text = NULL, parts = $4, state = NULL, sum = $5, deleted_at = $3, edited_at = NULL, reactions = NULL
		 WHERE session_id = $1 AND id = $2`, session, id, at, parts, t.row.Checksum(&m, nil, behalf, partID, text, parts)); err != nil {
		return err
	}
	if _, err := t.c.Exec(`DELETE FROM message_versions WHERE session_id = $1 AND message_id = $2`, session, id); err != nil {
		return err
	}
	if err := t.withdrawMentions(m, before); err != nil {
		return err
	}
	return t.c.Overwrite(false)
}

// traceTables are the tables with copies of messages: key are the columns that identify a row
// in its session, columns those with JSON or text, and run the column of the run, if there is
// one.
var traceTables = []struct {
	table, run   string
	key, columns []string
}{
	{"events", "run_id", []string{"place"}, []string{"data"}},
	{"runs", "id", []string{"number"}, []string{"trigger_data", "turn"}},
	{"run_steps", "run_id", []string{"run_id", "place"}, []string{"step", "data"}},
	{"run_work", "run_id", []string{"run_id", "place"}, []string{"data"}},
	{"conversations", "", []string{"id"}, []string{"data"}},
	{"pending_actions", "run_id", []string{"number"}, []string{"args", "question", "options", "answer", "policy"}},
	{"remembered_decisions", "", []string{"id"}, []string{"args"}},
}

// RewriteCopies implements [hub.EraseTx].
func (t *Tx) RewriteCopies(session shoal.SessionID, copies storage.MessageCopies, rewrite func(text string) string) error {
	if err := t.c.Overwrite(true); err != nil {
		return err
	}
	for _, in := range traceTables {
		keys, err := t.findCopies(session, copies, in.table, in.run, in.key, in.columns)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if err := t.rewriteRow(session, in.table, in.key, key, in.columns, rewrite); err != nil {
				return err
			}
		}
	}
	if err := t.rewriteAnswers(session, rewrite); err != nil {
		return err
	}
	return t.c.Overwrite(false)
}

// findCopies returns the keys of the rows of a table that may contain a copy.
func (t *Tx) findCopies(session shoal.SessionID, copies storage.MessageCopies, table, run string, key, columns []string) ([][]any, error) {
	var b sqlconn.Builder
	b.Add(`SELECT `+strings.Join(key, ", ")+` FROM `+table+` WHERE session_id = ? AND (FALSE`, session)
	if run != "" && copies.Run != "" {
		b.Add(` OR `+run+` = ?`, copies.Run)
	}
	for _, column := range columns {
		for _, piece := range append([]string{string(copies.Message)}, copies.Pieces...) {
			b.Add(` OR `+t.c.Dialect().Position+`(`+column+`, ?) > 0`, piece)
		}
	}
	b.Add(`)`)
	return sqlconn.List(t.c, func(r *sqlconn.Rows) []any {
		values := make([]any, len(key))
		for i, name := range key {
			if name == "place" || name == "number" {
				values[i] = r.Int(i)
			} else {
				values[i] = r.Text(i)
			}
		}
		return values
	}, b.Text(), b.Args...)
}

func (t *Tx) rewriteRow(session shoal.SessionID, table string, key []string, values []any, columns []string, rewrite func(string) string) error {
	var where sqlconn.Builder
	where.Args = append(where.Args, session)
	where.Add(` WHERE session_id = $1`)
	for i, name := range key {
		where.Add(` AND `+name+` = ?`, values[i])
	}
	for i, column := range columns {
		old, found, err := sqlconn.One(t.c, func(r *sqlconn.Rows) *string { return sqlconn.TextOrNil[string](r, 0) },
			`SELECT `+columns[i]+` FROM `+table+where.Text(), where.Args...)
		if err != nil || !found || old == nil {
			if err != nil {
				return err
			}
			continue
		}
		text := rewrite(*old)
		if text == *old {
			continue
		}
		set := sqlconn.Builder{Args: slices.Clone(where.Args)}
		set.Add(`UPDATE `+table+` SET `+column+` = ?`, text)
		if _, err := t.c.Exec(set.Text()+where.Text(), set.Args...); err != nil {
			return err
		}
	}
	return nil
}

// rewriteAnswers rewrites the stored responses to idempotency keys that show a run. They are
// kept for a day, so there are few.
func (t *Tx) rewriteAnswers(session shoal.SessionID, rewrite func(string) string) error {
	type answer struct{ scope, route, key, body string }
	all, err := sqlconn.List(t.c, func(r *sqlconn.Rows) answer { return answer{r.Text(0), r.Text(1), r.Text(2), string(r.Bytes(3))} },
		`SELECT scope, route, key, body FROM answers WHERE session_id = $1 AND route LIKE 'hub.Runs.%'`, session)
	if err != nil {
		return err
	}
	for _, a := range all {
		body := rewrite(a.body)
		if body == a.body {
			continue
		}
		if _, err := t.c.Exec(`UPDATE answers SET body = $5 WHERE session_id = $1 AND scope = $2 AND route = $3 AND key = $4`,
			session, a.scope, a.route, a.key, []byte(body)); err != nil {
			return err
		}
	}
	return nil
}
