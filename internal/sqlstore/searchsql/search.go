package searchsql

import (
	"cmp"
	"math"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/search"
	"github.com/shoal-dev/shoal/internal/sqlstore/messagerow"
	"github.com/shoal-dev/shoal/internal/sqlstore/schema"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// The work of a search is counted, in units of about a microsecond of SQLite, and limited by
// the dialect: beyond that the search ends and the next one continues. No clock is read, so
// the same search always has the same result.
const (
	// messageWork is the work of reading a message and comparing it.
	messageWork = 8
	// probeWork is the work of looking up a word in a block.
	probeWork = 8
	// docsWork is the number of bytes of docs that cost one unit.
	docsWork = 256
	// maxUnindexed is the maximum number of messages that one search compares because the
	// index does not contain them yet.
	maxUnindexed = 20_000
	// maxBatch is the maximum number of proposed messages that one statement reads.
	maxBatch = 128
)

// Search implements [hub.MessageTx]. The newest messages, which the index does not contain
// yet, are compared one by one. For the others the index proposes messages, block by block
// from the newest, and these are compared as well, so that both databases find the same.
// Messages are ordered by their commits and not by a clock.
func (t *Tx) Search(session shoal.SessionID, query storage.SearchQuery) (storage.SearchResult, error) {
	s := &searching{Tx: t, session: session, SearchQuery: query, match: search.NewMatcher(query.Query), before: query.Before}
	if s.before == 0 {
		s.before = math.MaxInt64
	}
	s.result.Found = []storage.SearchHit{}
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

// searching is the state of one search.
type searching struct {
	*Tx
	session shoal.SessionID
	storage.SearchQuery
	match  *search.Matcher
	spaces []string // of the reader, if there is one
	before int64    // only messages with lower numbers are left
	work   int
	result storage.SearchResult
}

// stopBefore ends the search; the next one continues before a position.
func (s *searching) stopBefore(before int64) {
	s.result.Next = before
}

// foundColumns are the columns that readFound reads.
const foundColumns = `m.doc, ` + senderKind + `, s.id, s.name, s.status, ` + messagerow.Columns

// readFound reads a message and adds it to the result if it matches.
func (s *searching) readFound(r *sqlconn.Rows) {
	space := messagerow.ReadSpaceRef(r, 2)
	m := s.row.Read(r, 5, s.session, space.ID)
	if s.match.Matches(search.Document{Message: m.For(s.Reader), Kind: shoal.EntityKind(r.Text(1))}) {
		s.result.Found = append(s.result.Found, storage.SearchHit{Space: space, Message: m, Position: r.Int(0)})
	}
}

// selectMessages starts a query for messages that may be found. The expression on session_id
// cannot use an index: the messages must be found by their numbers.
func (s *searching) selectMessages() *sqlconn.Builder {
	var b sqlconn.Builder
	b.Add(`SELECT `+foundColumns+` FROM messages AS m CROSS JOIN spaces AS s
		WHERE s.session_id = m.session_id AND s.id = m.space_id AND m.session_id || '' = ? AND m.status <> 'streaming' AND m.deleted_at IS NULL`, s.session)
	if s.Reader != "" {
		b.Add(` AND m.space_id || '' IN `+schema.SpacesOf, s.session, s.Reader)
	}
	return &b
}

// searchUnindexed compares the messages after the end of the index. It reports whether the
// search is done.
func (s *searching) searchUnindexed(indexed int64) (done bool, err error) {
	b := s.selectMessages()
	b.Add(` AND m.doc > ? AND m.doc < ? ORDER BY m.doc DESC`, indexed, s.before)
	r, err := s.c.Query(b.Text(), b.Args...)
	if err != nil {
		return false, err
	}
	defer r.Close() //nolint:errcheck // the second Close returns the same error
	for compared := 0; r.Next(); compared++ {
		s.readFound(r)
		if len(s.result.Found) == s.Limit || compared == maxUnindexed {
			s.stopBefore(r.Int(0))
			return true, r.Close()
		}
	}
	return false, r.Close()
}

// searchIndex searches the index: few blocks at first, which is enough for frequent words,
// then more and more.
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

// readLate returns the messages that have changed since they were indexed, by block. There are
// few, so messages of other sessions are only excluded when they are compared.
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

// compare reads the proposed messages of a block. It reports whether the search is done.
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
		slices.SortFunc(s.result.Found[was:], func(a, b storage.SearchHit) int { return cmp.Compare(b.Position, a.Position) })
		if len(s.result.Found) >= s.Limit {
			s.result.Found = s.result.Found[:s.Limit]
			s.stopBefore(s.result.Found[s.Limit-1].Position)
			return true, nil
		}
		if s.work > s.c.Dialect().SearchBudget {
			s.stopBefore(some[len(some)-1])
			return true, nil
		}
	}
	return false, nil
}

// batchSize returns the number of messages to read next.
func (s *searching) batchSize() int {
	return min(maxBatch, sqlconn.Padded(max(8, s.Limit-len(s.result.Found))))
}
