package searchsql

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Unlist removes a message that is deleted from its block: SQLite may assign its number to
// another message, which must not be listed twice.
func (t *Tx) Unlist(session shoal.SessionID, doc int64) error {
	docs, found, err := sqlconn.One(t.c, func(r *sqlconn.Rows) string { return r.Text(0) },
		`SELECT docs FROM search_blocks WHERE session_id = $1 AND block = $2`, session, doc/blockSize)
	if err != nil || !found {
		return err
	}
	_, err = t.c.Exec(`UPDATE search_blocks SET docs = $3 WHERE session_id = $1 AND block = $2`,
		session, doc/blockSize, withoutDoc(docs, string(appendDoc(nil, doc))))
	return err
}

// Unindex removes the words of a message from the index.
func (t *Tx) Unindex(e Entry) error {
	if _, err := t.c.Exec(`DELETE FROM late WHERE doc = $1`, e.Doc); err != nil {
		return err
	}
	var words []string
	e.Document.Index(func(key []byte) { words = append(words, string(key)) })
	slices.Sort(words)
	session, block, number := e.Document.Message.SessionID, e.Doc/blockSize, string(appendDoc(nil, e.Doc))
	for some := range slices.Chunk(slices.Compact(words), sqlconn.MaxList) {
		var b sqlconn.Builder
		b.Add(`SELECT word, docs FROM search_words WHERE session_id = ? AND block = ?`, session, block)
		sqlconn.AddIn(&b, ` AND word IN (?)`, some)
		type indexed struct{ word, docs string }
		rows, err := sqlconn.List(t.c, func(r *sqlconn.Rows) indexed { return indexed{r.Text(0), r.Text(1)} }, b.Text(), b.Args...)
		if err != nil {
			return err
		}
		for _, row := range rows {
			docs := withoutDoc(row.docs, number)
			query, args := `UPDATE search_words SET docs = $4 WHERE session_id = $1 AND block = $2 AND word = $3`, []any{session, block, row.word, docs}
			if docs == "" {
				query, args = `DELETE FROM search_words WHERE session_id = $1 AND block = $2 AND word = $3`, args[:3]
			}
			if _, err := t.c.Exec(query, args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// withoutDoc returns docs without a number, both as appendDoc writes them.
func withoutDoc(docs, number string) string {
	var b strings.Builder
	for ; len(docs) >= len(number); docs = docs[len(number):] {
		if docs[:len(number)] != number {
			b.WriteString(docs[:len(number)])
		}
	}
	return b.String()
}

// ResetEnd must be called after messages were deleted: where the number of a deleted message
// can be assigned to a new one, that must not count as indexed.
func (t *Tx) ResetEnd() error {
	if !t.c.Dialect().Renumbers {
		return nil
	}
	_, err := t.c.Exec(`UPDATE store SET indexed = (SELECT COALESCE(MAX(doc), 0) FROM messages)
		WHERE indexed > (SELECT COALESCE(MAX(doc), 0) FROM messages)`)
	return err
}
