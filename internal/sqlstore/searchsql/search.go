package searchsql

import (
	"cmp"
	"math"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/search"
	"github.com/shoal-dev/shoal/internal/sqlstore/messagerow"
	"github.com/shoal-dev/shoal/internal/sqlstore/schema"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// What a search costs is counted, in microseconds or so of SQLite, and bounded by the
// dialect: behind that the next search goes on. No clock is asked, so that the same
// search always finds the same.
const (
	// messageWork is what reading a message and comparing it costs.
	messageWork = 8
	// probeWork is what looking for a word in a block costs.
	probeWork = 8
	// docsWork is how many bytes of docs cost one.
	docsWork = 256
	// mostUnindexed is how many messages that the index does not hold yet one
	// search compares.
	mostUnindexed = 20_000
	// readAtOnce is how many proposed messages are read with one statement.
	readAtOnce = 128
)

// Search implements [hub.MessageTx]. The newest messages, which the index does not
// hold yet, are compared one by one. For the others the index proposes, block by
// block from the newest, and what it proposes is compared as well: so both
// databases find the same. New means committed late: no clock is asked.
func (t *Tx) Search(session shoal.SessionID, query hub.SearchQuery) (hub.SearchResult, error) {
	s := &searching{Tx: t, session: session, SearchQuery: query, match: search.NewMatcher(query.Query), before: query.Before}
	if s.before == 0 {
		s.before = math.MaxInt64
	}
	s.result.Found = []hub.Found{}
	if query.Limit <= 0 {
		return s.result, nil
	}
	if query.Reader != "" {
		spaces, err := sqlconn.List(t.c, func(r *sqlconn.Rows) string { return r.Text(0) },
			`SELECT space_id FROM members WHERE session_id = $1 AND entity_id = $2`, session, query.Reader)
		if err != nil || len(spaces) == 0 {
			return s.result, err
		}
		s.spaces = spaces
	}
	indexed, err := sqlconn.Number(t.c, `SELECT indexed FROM store`)
	if err != nil {
		return s.result, err
	}
	done, err := s.searchUnindexed(indexed)
	if err != nil || done {
		return s.result, err
	}
	s.before = min(s.before, indexed+1)
	return s.result, s.searchIndex()
}

// searching is one search under way.
type searching struct {
	*Tx
	session shoal.SessionID
	hub.SearchQuery
	match  *search.Matcher
	spaces []string // those of the reader, if there is one
	before int64    // only messages below are left
	work   int
	result hub.SearchResult
}

// stopBefore ends the search before a place.
func (s *searching) stopBefore(before int64) {
	s.result.Next = before
}

// foundColumns are what take reads.
const foundColumns = `m.doc, ` + senderKind + `, s.id, s.name, s.status, ` + messagerow.Columns

// readFound reads a message, compares it and keeps it, if it is one.
func (s *searching) readFound(r *sqlconn.Rows) {
	space := messagerow.ReadSpaceRef(r, 2)
	m := s.row.Read(r, 5, s.session, space.ID)
	if s.match.Matches(search.Document{Message: m.For(s.Reader), Kind: shoal.EntityKind(r.Text(1))}) {
		s.result.Found = append(s.result.Found, hub.Found{Space: space, Message: m, Place: r.Int(0)})
	}
}

// selectMessages begins a query for messages that may be found. The session is compared in a
// way that no index serves: the messages are found by their numbers.
func (s *searching) selectMessages() *sqlconn.Builder {
	var b sqlconn.Builder
	b.Add(`SELECT `+foundColumns+` FROM messages AS m CROSS JOIN spaces AS s
		WHERE s.session_id = m.session_id AND s.id = m.space_id AND m.session_id || '' = ? AND m.status <> 'streaming' AND m.deleted_at IS NULL`, s.session)
	if s.Reader != "" {
		b.Add(` AND m.space_id || '' IN `+schema.SpacesOf, s.session, s.Reader)
	}
	return &b
}

// searchUnindexed compares the messages behind the end of the index. It reports whether
// the search ends there.
func (s *searching) searchUnindexed(indexed int64) (done bool, err error) {
	b := s.selectMessages()
	b.Add(` AND m.doc > ? AND m.doc < ? ORDER BY m.doc DESC`, indexed, s.before)
	r, err := s.c.Query(b.Text(), b.Args...)
	if err != nil {
		return false, err
	}
	defer r.Close() //nolint:errcheck // as in list
	for looked := 0; r.Next(); looked++ {
		s.readFound(r)
		if len(s.result.Found) == s.Limit || looked == mostUnindexed {
			s.stopBefore(r.Int(0))
			return true, r.Close()
		}
	}
	return false, r.Close()
}

// searchIndex searches what the index holds: few blocks at first, which is enough
// where much is found, then more and more.
func (s *searching) searchIndex() error {
	late, err := s.readLate()
	if err != nil {
		return err
	}
	for size := 1; s.before > 1; size = min(4*size, sqlconn.MaxList) {
		blocks, err := s.readBlocks(size)
		if err != nil || len(blocks) == 0 {
			return err
		}
		if err := s.propose(blocks, late); err != nil {
			return err
		}
		for _, b := range blocks {
			if full, err := s.compare(b); full || err != nil {
				return err
			}
		}
		s.before = blocks[len(blocks)-1].number * blockSize
		if s.work > s.c.Dialect().SearchBudget {
			s.stopBefore(s.before)
			return nil
		}
	}
	return nil
}

// readLate returns the messages that were closed after the index had passed them.
// There are few, and whose they are is seen when they are compared.
func (s *searching) readLate() (map[int64]*docSet, error) {
	docs, err := sqlconn.List(s.c, func(r *sqlconn.Rows) int64 { return r.Int(0) }, `SELECT doc FROM late WHERE doc < $1`, s.before)
	sets := map[int64]*docSet{}
	for _, doc := range docs {
		set := sets[doc/blockSize]
		if set == nil {
			set = new(docSet)
			sets[doc/blockSize] = set
		}
		set.addOne(doc)
	}
	return sets, err
}

// compare reads the messages that are proposed of a block. It reports whether the
// search ends there.
func (s *searching) compare(b *block) (full bool, err error) {
	docs := b.proposed.newest(nil, b.number)
	for len(docs) > 0 {
		some := docs[:min(len(docs), s.batchSize())]
		docs = docs[len(some):]
		was := len(s.result.Found)
		q := s.selectMessages()
		sqlconn.AddIn(q, ` AND m.doc IN (?)`, some)
		r, err := s.c.Query(q.Text(), q.Args...)
		if err != nil {
			return false, err
		}
		for r.Next() {
			s.readFound(r)
		}
		if err := r.Close(); err != nil {
			return false, err
		}
		s.work += messageWork * len(some)
		slices.SortFunc(s.result.Found[was:], func(a, b hub.Found) int { return cmp.Compare(b.Place, a.Place) })
		if len(s.result.Found) >= s.Limit {
			s.result.Found = s.result.Found[:s.Limit]
			s.stopBefore(s.result.Found[s.Limit-1].Place)
			return true, nil
		}
		if s.work > s.c.Dialect().SearchBudget {
			s.stopBefore(some[len(some)-1])
			return true, nil
		}
	}
	return false, nil
}

// batchSize returns how many messages to read next.
func (s *searching) batchSize() int {
	return min(readAtOnce, sqlconn.Padded(max(8, s.Limit-len(s.result.Found))))
}
