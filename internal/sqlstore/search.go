package sqlstore

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// Search implements [hub.MessageTx]. The messages that the index does not hold yet,
// the newest and those that were closed late, are compared one by one; the index
// answers for the others. Messages in progress are not found. New means committed
// late: no clock is asked.
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
	hits, err := t.compare(session, query, asked, unindexed{`messages AS m`, `m.doc`, ``}, indexed, before)
	if err != nil || len(hits) >= query.Limit {
		return founds(hits), err
	}
	query.Limit -= len(hits)
	before = min(before, indexed+1)
	late, err := t.compare(session, query, asked, unindexed{`late AS l CROSS JOIN messages AS m`, `l.doc`, ` AND m.doc = l.doc`}, 0, before)
	if err != nil {
		return nil, err
	}
	older, err := t.searchIndex(session, query, asked, before)
	if err != nil {
		return nil, err
	}
	older = append(older, late...)
	slices.SortFunc(older, func(a, b hit) int { return cmp.Compare(b.doc, a.doc) })
	return founds(append(hits, older[:min(len(older), query.Limit)]...)), nil
}

// hit is what a search found, with its number.
type hit struct {
	doc   int64
	found hub.Found
}

func founds(hits []hit) []hub.Found {
	found := make([]hub.Found, len(hits))
	for i, h := range hits {
		found[i] = h.found
	}
	return found
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

const foundColumns = `m.doc, s.id, s.name, s.status, ` + messageColumns

func hitOf(session shoal.SessionID) func(*rows) hit {
	return func(r *rows) hit {
		space := spaceRefOf(r, 1)
		return hit{r.int(0), hub.Found{Space: space, Message: messageOf(r, 4, session, space.ID)}}
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

// unindexed says where messages are that the index does not hold: the tables, the
// column with their numbers, and what joins the tables.
type unindexed struct{ tables, doc, joined string }

// compare searches such messages, between two numbers.
func (t tx) compare(session shoal.SessionID, query hub.SearchQuery, asked []string, in unindexed, after, before int64) ([]hit, error) {
	var b clauses
	b.add(`SELECT `+foundColumns+` FROM `+in.tables+` JOIN spaces AS s ON s.session_id = m.session_id AND s.id = m.space_id
		WHERE `+in.doc+` > ? AND `+in.doc+` < ? AND m.status <> 'streaming'`+in.joined, after, before)
	wanted(&b, session, query)
	b.add(` ORDER BY ` + in.doc + ` DESC`)
	r, err := t.c.query(b.text.String(), b.args...)
	if err != nil {
		return nil, err
	}
	defer r.close() //nolint:errcheck // as in list
	read := hitOf(session)
	hits := []hit{}
	for len(hits) < query.Limit && r.next() {
		if h := read(r); holdsAll(h.found.Message.Text(), asked) {
			hits = append(hits, h)
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
func (t tx) searchIndex(session shoal.SessionID, query hub.SearchQuery, asked []string, before int64) ([]hit, error) {
	var b clauses
	b.args = append(b.args, t.c.dialect.allWords(asked)) // $1 of matchWords
	b.add(`SELECT `+foundColumns+` FROM search CROSS JOIN messages AS m JOIN spaces AS s ON s.session_id = m.session_id AND s.id = m.space_id
		WHERE m.doc = search.rowid AND `+t.c.dialect.matchWords+` AND search.rowid < ?
		AND search.rowid NOT IN (SELECT doc FROM late)`, before)
	wanted(&b, session, query)
	b.add(` ORDER BY search.rowid DESC` + upTo(query.Limit))
	return listFirst(t.c, query.Limit, hitOf(session), b.text.String(), b.args...)
}
