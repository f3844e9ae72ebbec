package sqlstore

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// MessageByID implements [hub.EraseTx].
func (t tx) MessageByID(session shoal.SessionID, id shoal.MessageID) (shoal.Message, error) {
	m, ok, err := one(t.c, func(r *rows) shoal.Message { return messageOf(r, 1, session, shoal.SpaceID(r.text(0))) },
		`SELECT m.space_id, `+messageColumns+` FROM messages AS m WHERE m.session_id = $1 AND m.id = $2`, session, id)
	return present(m, ok, err, "MessageByID", noMessage, id)
}

// EraseMessage implements [hub.EraseTx].
func (t tx) EraseMessage(session shoal.SessionID, id shoal.MessageID, at shoal.Time) error {
	if err := t.overwrite(true); err != nil {
		return err
	}
	found, err := t.wordies(1, `SELECT `+wordyColumns+` FROM messages AS m WHERE m.session_id = $1 AND m.id = $2`, session, id)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return missing("EraseMessage", noMessage, id)
	}
	if err := t.unindex(found[0]); err != nil {
		return err
	}
	m := found[0].document.Message
	m.Parts, m.Mentions, m.DroppedMentions, m.UpdatedAt, m.DeletedAt, m.EditedAt = nil, nil, nil, at, &at, nil
	behalf, err := idsOrNull(m.OnBehalfOf)
	if err != nil {
		return err
	}
	partID, text, parts, err := encodeParts(m.Parts)
	if err != nil {
		return err
	}
	if _, err := t.c.exec(
		`UPDATE messages SET mentions = NULL, dropped_mentions = NULL, updated_at = $3, part_id = NULL, text = NULL, parts = $4, state = NULL, sum = $5, deleted_at = $3, edited_at = NULL, reactions = NULL
		 WHERE session_id = $1 AND id = $2`, session, id, at, parts, t.c.sumOf(&m, nil, behalf, partID, text, parts)); err != nil {
		return err
	}
	if _, err := t.c.exec(`DELETE FROM message_versions WHERE session_id = $1 AND message_id = $2`, session, id); err != nil {
		return err
	}
	_, err = t.c.exec(
		`UPDATE inbox SET reason = 'message' WHERE session_id = $1 AND space_id = $2 AND seq = $3 AND reason = 'mention'
		 AND entity_id IN (SELECT entity_id FROM members WHERE session_id = $1 AND space_id = $2)`, session, m.SpaceID, m.Seq)
	return err
}

// overwrite says whether what is removed from a file is overwritten there, which
// otherwise happens only when the room is used again.
func (t tx) overwrite(on bool) error {
	if t.c.dialect.overwrite == "" {
		return nil
	}
	value := "OFF;"
	if on {
		value = "ON;"
	}
	// With a semicolon it is not prepared: a statement that is used again would set nothing.
	if failed := t.c.control(t.c.dialect.overwrite + value); failed != nil {
		return failed
	}
	return nil
}

// unindex removes the words of a message from the search index.
func (t tx) unindex(w wordy) error {
	if _, err := t.c.exec(`DELETE FROM late WHERE doc = $1`, w.doc); err != nil {
		return err
	}
	var words []string
	w.document.Index(func(key []byte) { words = append(words, string(key)) })
	slices.Sort(words)
	session, block, number := w.document.Message.SessionID, w.doc/blockSize, string(appendDoc(nil, w.doc))
	for some := range slices.Chunk(slices.Compact(words), mostIn) {
		var b clauses
		b.add(`SELECT word, docs FROM search_words WHERE session_id = ? AND block = ?`, session, block)
		addIn(&b, ` AND word IN (?)`, some)
		type indexed struct{ word, docs string }
		rows, err := list(t.c, func(r *rows) indexed { return indexed{r.text(0), r.text(1)} }, b.text.String(), b.args...)
		if err != nil {
			return err
		}
		for _, row := range rows {
			docs := withoutDoc(row.docs, number)
			query, args := `UPDATE search_words SET docs = $4 WHERE session_id = $1 AND block = $2 AND word = $3`, []any{session, block, row.word, docs}
			if docs == "" {
				query, args = `DELETE FROM search_words WHERE session_id = $1 AND block = $2 AND word = $3`, args[:3]
			}
			if _, err := t.c.exec(query, args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// withoutDoc is docs without a number, both as appendDoc writes them.
func withoutDoc(docs, number string) string {
	var b strings.Builder
	for ; len(docs) >= len(number); docs = docs[len(number):] {
		if docs[:len(number)] != number {
			b.WriteString(docs[:len(number)])
		}
	}
	return b.String()
}

// traceTables are where copies of messages are: the columns that name a row in its
// session, and those that hold JSON or text. run is the column of the run, if there is
// one.
var traceTables = []struct {
	table, run   string
	key, columns []string
}{
	{"events", "run_id", []string{"place"}, []string{"data"}},
	{"runs", "id", []string{"number"}, []string{"trigger_data", "turn"}},
	{"run_steps", "run_id", []string{"run_id", "place"}, []string{"step", "data"}},
	{"conversations", "", []string{"id"}, []string{"data"}},
	{"pending_actions", "run_id", []string{"number"}, []string{"args", "question", "options", "answer", "policy"}},
	{"remembered_decisions", "", []string{"id"}, []string{"args"}},
}

// RewriteTraces implements [hub.EraseTx].
func (t tx) RewriteTraces(session shoal.SessionID, traces hub.Traces, rewrite func(text string) string) error {
	if err := t.overwrite(true); err != nil {
		return err
	}
	for _, in := range traceTables {
		keys, err := t.traced(session, traces, in.table, in.run, in.key, in.columns)
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
	return t.overwrite(false)
}

// traced returns the keys of the rows of a table that may hold a copy.
func (t tx) traced(session shoal.SessionID, traces hub.Traces, table, run string, key, columns []string) ([][]any, error) {
	var b clauses
	b.add(`SELECT `+strings.Join(key, ", ")+` FROM `+table+` WHERE session_id = ? AND (FALSE`, session)
	if run != "" && traces.Run != "" {
		b.add(` OR `+run+` = ?`, traces.Run)
	}
	for _, column := range columns {
		for _, piece := range append([]string{string(traces.Message)}, traces.Pieces...) {
			b.add(` OR `+t.c.dialect.position+`(`+column+`, ?) > 0`, piece)
		}
	}
	b.add(`)`)
	return list(t.c, func(r *rows) []any {
		values := make([]any, len(key))
		for i, name := range key {
			if name == "place" || name == "number" {
				values[i] = r.int(i)
			} else {
				values[i] = r.text(i)
			}
		}
		return values
	}, b.text.String(), b.args...)
}

func (t tx) rewriteRow(session shoal.SessionID, table string, key []string, values []any, columns []string, rewrite func(string) string) error {
	var where clauses
	where.args = append(where.args, session)
	where.add(` WHERE session_id = $1`)
	for i, name := range key {
		where.add(` AND `+name+` = ?`, values[i])
	}
	for i, column := range columns {
		old, found, err := one(t.c, func(r *rows) *string { return textOrNil[string](r, 0) },
			`SELECT `+columns[i]+` FROM `+table+where.text.String(), where.args...)
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
		set := clauses{args: slices.Clone(where.args)}
		set.add(`UPDATE `+table+` SET `+column+` = ?`, text)
		if _, err := t.c.exec(set.text.String()+where.text.String(), set.args...); err != nil {
			return err
		}
	}
	return nil
}

// rewriteAnswers rewrites the first answers to idempotency keys that show a run: they
// are few, as they are kept for a day.
func (t tx) rewriteAnswers(session shoal.SessionID, rewrite func(string) string) error {
	type answer struct{ scope, route, key, body string }
	all, err := list(t.c, func(r *rows) answer { return answer{r.text(0), r.text(1), r.text(2), string(r.bytes(3))} },
		`SELECT scope, route, key, body FROM answers WHERE session_id = $1 AND route LIKE 'hub.Runs.%'`, session)
	if err != nil {
		return err
	}
	for _, a := range all {
		body := rewrite(a.body)
		if body == a.body {
			continue
		}
		if _, err := t.c.exec(`UPDATE answers SET body = $5 WHERE session_id = $1 AND scope = $2 AND route = $3 AND key = $4`,
			session, a.scope, a.route, a.key, []byte(body)); err != nil {
			return err
		}
	}
	return nil
}
