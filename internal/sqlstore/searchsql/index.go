// Package searchsql is the search index of messages: which messages contain a word.
//
// The index is divided into blocks of messages. A row of search_words lists the messages of a
// block that contain a word; a row of search_blocks lists all messages of a block. Messages
// with a number above store.indexed are not in the index yet, and those in the table late
// have changed since they were added: searches compare both one by one.
package searchsql

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/search"
	"github.com/shoal-dev/shoal/internal/sqlstore/messagerow"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Tx searches and updates the index in the current transaction of a connection.
type Tx struct {
	c   *sqlconn.Conn
	row messagerow.Codec
}

// New returns the Tx of a connection.
func New(c *sqlconn.Conn) *Tx { return &Tx{c: c} }

// UpdateIndex adds the next messages to the index, at most batch, and returns how many are
// left.
func (t *Tx) UpdateIndex(batch int) (left int64, err error) {
	added := postings{}
	if err := t.indexLate(added, batch); err != nil {
		return 0, err
	}
	indexed, err := sqlconn.Number(t.c, `SELECT indexed FROM store`)
	if err != nil {
		return 0, err
	}
	fresh, err := t.Entries(batch, `SELECT `+EntryColumns+` FROM messages AS m WHERE m.doc > $1 ORDER BY m.doc`+sqlconn.Limit(batch), indexed)
	if err != nil {
		return 0, err
	}
	for _, f := range fresh {
		added.add(f) // a streaming message gets into the table late when it is complete
		indexed = f.Doc
	}
	if err := t.writePostings(added); err != nil {
		return 0, err
	}
	if len(fresh) > 0 {
		if _, err := t.c.Exec(`UPDATE store SET indexed = $1`, indexed); err != nil {
			return 0, err
		}
	}
	return sqlconn.Number(t.c, `SELECT COALESCE((SELECT MAX(doc) FROM messages), $1) - $1 + (SELECT COUNT(*) FROM late)`, indexed)
}

// indexLate adds messages that have changed since they were indexed. The words that they had
// before stay in the index: a search compares what it proposes.
func (t *Tx) indexLate(added postings, batch int) error {
	late, err := t.Entries(batch, `SELECT `+EntryColumns+` FROM late AS l CROSS JOIN messages AS m WHERE m.doc = l.doc ORDER BY l.doc`+sqlconn.Limit(batch))
	if err != nil {
		return err
	}
	for _, l := range late {
		added.add(l)
		if _, err := t.c.Exec(`DELETE FROM late WHERE doc = $1`, l.Doc); err != nil {
			return err
		}
	}
	return nil
}

// Entry is a message as the index needs it.
type Entry struct {
	Doc       int64 // the number of the message
	Document  search.Document
	Streaming bool
}

// EntryColumns are the columns that a query of [Tx.Entries] selects.
const EntryColumns = `m.doc, ` + senderKind + `, m.session_id, m.space_id, ` + messagerow.Columns

// senderKind is the kind of the sender of a message, NULL for the system.
const senderKind = `(SELECT e.kind FROM entities AS e WHERE e.session_id = m.session_id AND e.id = m.entity_id)`

// maxEntryBytes limits the text of the messages that one call of Entries returns, and so how
// long a post may wait for the transaction.
const maxEntryBytes = 1 << 20

// Entries returns the first messages that a query selects, at most batch.
func (t *Tx) Entries(batch int, query string, args ...any) ([]Entry, error) {
	r, err := t.c.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // the second Close returns the same error
	var fresh []Entry
	for size := 0; size < maxEntryBytes && len(fresh) < batch && r.Next(); {
		m := t.row.Read(r, 4, shoal.SessionID(r.Text(2)), shoal.SpaceID(r.Text(3)))
		for _, p := range m.Parts {
			size += len(p.Text)
		}
		fresh = append(fresh, Entry{
			Doc: r.Int(0), Document: search.Document{Message: m, Kind: shoal.EntityKind(r.Text(1))}, Streaming: m.Status == shoal.MessageStreaming,
		})
	}
	return fresh, r.Close()
}
