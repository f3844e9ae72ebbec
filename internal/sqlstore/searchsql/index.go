// Package searchsql is the search index of messages: which messages contain a word.
//
// The index is divided into blocks of messages. A row of search_words lists the messages of a
// block that contain a word; a row of search_blocks lists all messages of a block. Messages
// with a number above store.indexed are not in the index yet, and those in the table late
// have changed since they were added: searches compare both one by one.
package searchsql

import (
	"math"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
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

// Part is the messages that are added to the index in one transaction.
type Part struct {
	// Sessions are those of the messages. The transaction must exclude others in them.
	Sessions []shoal.SessionID
	from, to int64   // messages that are not in the index yet: from < doc <= to
	late     []int64 // messages that have changed since they were indexed
}

// NextPart returns the messages to add next: at most batch new ones and batch late ones, in
// at most [storage.MaxSessions] sessions. The new ones are not above safe: messages up to safe
// are stored or never will be. left is how many messages the index lacks, at most.
func (t *Tx) NextPart(batch int, safe int64) (p Part, left int64, err error) {
	if p.from, err = sqlconn.Number(t.c, `SELECT indexed FROM store`); err != nil {
		return p, 0, err
	}
	p.to = p.from
	late, err := t.numbered(`SELECT l.doc, m.session_id FROM late AS l CROSS JOIN messages AS m WHERE m.doc = l.doc ORDER BY l.doc` + sqlconn.Limit(batch))
	if err != nil {
		return p, 0, err
	}
	for _, n := range late {
		if !p.include(n.session) {
			break
		}
		p.late = append(p.late, n.doc)
	}
	fresh, err := t.numbered(`SELECT m.doc, m.session_id FROM messages AS m WHERE m.doc > $1 AND m.doc <= $2 ORDER BY m.doc`+sqlconn.Limit(batch), p.from, safe)
	if err != nil {
		return p, 0, err
	}
	for _, n := range fresh {
		if !p.include(n.session) {
			break
		}
		p.to = n.doc
	}
	left, err = sqlconn.Number(t.c, `SELECT COALESCE((SELECT MAX(doc) FROM messages), $1) - $1 + (SELECT COUNT(*) FROM late)`, p.from)
	return p, left, err
}

// numberedSession is a message with its session.
type numberedSession struct {
	doc     int64
	session shoal.SessionID
}

func (t *Tx) numbered(query string, args ...any) ([]numberedSession, error) {
	return sqlconn.List(t.c, func(r *sqlconn.Rows) numberedSession { return numberedSession{r.Int(0), shoal.SessionID(r.Text(1))} }, query, args...)
}

// include adds a session, and reports whether the part has it.
func (p *Part) include(session shoal.SessionID) bool {
	if !slices.Contains(p.Sessions, session) {
		if len(p.Sessions) == storage.MaxSessions {
			return false
		}
		p.Sessions = append(p.Sessions, session)
	}
	return true
}

// IndexPart adds a part to the index, or the first messages of it if they are long. It does
// nothing if another server has added it meanwhile.
func (t *Tx) IndexPart(p Part) error {
	indexed, err := sqlconn.Number(t.c, `SELECT indexed FROM store`+t.c.Dialect().ForUpdate)
	if err != nil || indexed != p.from {
		return err
	}
	added := postings{}
	if err := t.indexLate(added, p); err != nil {
		return err
	}
	fresh, err := t.Entries(math.MaxInt, `SELECT `+EntryColumns+` FROM messages AS m WHERE m.doc > $1 AND m.doc <= $2 ORDER BY m.doc`, p.from, p.to)
	if err != nil {
		return err
	}
	for _, f := range fresh {
		if !slices.Contains(p.Sessions, f.Document.Message.SessionID) {
			break // an import has given its messages to another session
		}
		added.add(f) // a streaming message gets into the table late when it is complete
		indexed = f.Doc
	}
	if err := t.writePostings(added); err != nil || indexed == p.from {
		return err
	}
	_, err = t.c.Exec(`UPDATE store SET indexed = $1`, indexed)
	return err
}

// indexLate adds messages that have changed since they were indexed. The words that they had
// before stay in the index: a search compares what it proposes.
func (t *Tx) indexLate(added postings, p Part) error {
	if len(p.late) == 0 {
		return nil
	}
	var b sqlconn.Builder
	b.Add(`SELECT ` + EntryColumns + ` FROM late AS l CROSS JOIN messages AS m WHERE m.doc = l.doc`)
	sqlconn.AddIn(&b, ` AND l.doc IN (?)`, p.late)
	b.Add(` ORDER BY l.doc`)
	late, err := t.Entries(len(p.late), b.Text(), b.Args...)
	if err != nil {
		return err
	}
	for _, l := range late {
		if !slices.Contains(p.Sessions, l.Document.Message.SessionID) {
			continue
		}
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
