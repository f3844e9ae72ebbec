package sqlstore

import (
	"bytes"
	"math"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// Search implements [hub.MessageTx]. The newest messages, which the index does
// not hold yet, are compared one by one; the index answers for the others. New
// means committed late: no clock is asked.
func (t tx) Search(session shoal.SessionID, query hub.SearchQuery) ([]hub.Found, error) {
	asked := wordsOf(query.Words)
	if len(asked) == 0 || query.Limit <= 0 {
		return []hub.Found{}, nil
	}
	before := int64(math.MaxInt64)
	if query.Before.Seq > 0 {
		doc, err := number(t.c, `SELECT doc FROM messages WHERE session_id = $1 AND space_id = $2 AND seq = $3`,
			session, query.Before.Space, query.Before.Seq)
		if err != nil || doc == 0 {
			return []hub.Found{}, err
		}
		before = doc
	}
	indexed, err := number(t.c, `SELECT indexed FROM store`)
	if err != nil {
		return nil, err
	}
	newest, err := t.searchTail(session, query, asked, indexed, before)
	if err != nil || len(newest) >= query.Limit {
		return newest, err
	}
	query.Limit -= len(newest)
	older, err := t.searchIndex(session, query, asked, min(before, indexed+1))
	return append(newest, older...), err
}

// wordsOf returns the words of a query.
func wordsOf(query []string) (asked []string) {
	for _, q := range query {
		words(q, func(word []byte) bool {
			asked = append(asked, string(word))
			return true
		})
	}
	return asked
}

const foundColumns = `s.id, s.name, s.status, ` + messageColumns

func foundOf(session shoal.SessionID) func(*rows) hub.Found {
	return func(r *rows) hub.Found {
		space := spaceRefOf(r, 0)
		return hub.Found{Space: space, Message: messageOf(r, 3, session, space.ID)}
	}
}

// wanted appends the conditions of a search but for its words and its limit. The
// session is compared in a way that no index serves: the messages are found by
// their numbers, or else all of the session would be sorted.
func wanted(b *clauses, session shoal.SessionID, query hub.SearchQuery) {
	b.add(` AND m.session_id || '' = ?`, session)
	if query.Reader != "" {
		b.add(` AND m.space_id IN `+mySpaces, session, query.Reader)
	}
	if query.Space != "" {
		b.add(` AND m.space_id = ?`, query.Space)
	}
	if query.SenderKind != "" {
		b.add(` AND EXISTS (SELECT 1 FROM entities AS e WHERE e.session_id = m.session_id AND e.id = m.entity_id AND e.kind = ?)`, query.SenderKind)
	}
}

// searchTail searches the messages after indexed.
func (t tx) searchTail(session shoal.SessionID, query hub.SearchQuery, asked []string, indexed, before int64) ([]hub.Found, error) {
	var b clauses
	b.add(`SELECT `+foundColumns+` FROM messages AS m JOIN spaces AS s ON s.session_id = m.session_id AND s.id = m.space_id
		WHERE m.doc > ? AND m.doc < ?`, indexed, before)
	wanted(&b, session, query)
	b.add(` ORDER BY m.doc DESC`)
	r, err := t.c.query(b.text.String(), b.args...)
	if err != nil {
		return nil, err
	}
	defer r.close() //nolint:errcheck // as in list
	read := foundOf(session)
	hits := []hub.Found{}
	for len(hits) < query.Limit && r.next() {
		if hit := read(r); holdsAll(hit.Message.Text(), asked) {
			hits = append(hits, hit)
		}
	}
	return hits, r.close()
}

// holdsAll reports whether a text holds all words, the last one also as the
// beginning of a word.
func holdsAll(text string, asked []string) bool {
	open := slices.Clone(asked[:len(asked)-1])
	last := []byte(asked[len(asked)-1])
	begun := false
	words(text, func(word []byte) bool {
		begun = begun || bytes.HasPrefix(word, last)
		open = slices.DeleteFunc(open, func(w string) bool { return w == string(word) })
		return !begun || len(open) > 0
	})
	return begun && len(open) == 0
}

// searchIndex searches the messages before a number through the index.
func (t tx) searchIndex(session shoal.SessionID, query hub.SearchQuery, asked []string, before int64) ([]hub.Found, error) {
	var b clauses
	b.args = append(b.args, t.c.dialect.allWords(asked)) // $1 of matchWords
	b.add(`SELECT `+foundColumns+` FROM search CROSS JOIN messages AS m JOIN spaces AS s ON s.session_id = m.session_id AND s.id = m.space_id
		WHERE m.doc = search.rowid AND `+t.c.dialect.matchWords+` AND search.rowid < ?`, before)
	wanted(&b, session, query)
	b.add(` ORDER BY search.rowid DESC` + upTo(query.Limit))
	return listFirst(t.c, query.Limit, foundOf(session), b.text.String(), b.args...)
}
