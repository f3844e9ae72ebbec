package searchsql

import (
	"slices"

	"github.com/shoal-dev/shoal/internal/search"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

const (
	// fewProposed is the number of messages of a block up to which reading and comparing
	// them costs less than narrowing them down further.
	fewProposed = 8
	// fewDated is the same for filtering by time.
	fewDated = 64
	// fewSpaces is the number of spaces up to which each is a word of the query. More spaces
	// are filtered from all spaces of a block.
	fewSpaces = 64
	// lastRune ends the range of words with the same prefix.
	lastRune = "\U0010FFFF"
)

// block is a block of the index with the messages that it proposes for a search.
type block struct {
	number   int64
	partly   bool // only some of its messages are of the requested time
	proposed *docSet
}

// readBlocks returns the next blocks with messages of the session and of the requested time,
// the newest first. They propose all of their messages; if the query needs words, they even
// propose numbers that no message of the session has, which the words exclude.
func (s *searching) readBlocks(limit int) ([]*block, error) {
	var b sqlconn.Builder
	docs := `docs`
	if len(s.Query.Needs()) > 0 {
		docs = `''`
	}
	b.Add(`SELECT block, first_at, last_at, `+docs+` FROM search_blocks WHERE session_id = ? AND block <= ?`, s.session, (s.before-1)/blockSize)
	if !s.Query.After.IsZero() {
		b.Add(` AND last_at >= ?`, s.Query.After)
	}
	if !s.Query.Before.IsZero() {
		b.Add(` AND first_at < ?`, s.Query.Before)
	}
	b.Add(` ORDER BY block DESC` + sqlconn.Limit(limit))
	s.work += limit
	return sqlconn.ListFirst(s.c, limit, func(r *sqlconn.Rows) *block {
		first, last := r.Time(1), r.Time(2)
		found := &block{number: r.Int(0), proposed: new(docSet)}
		found.partly = first.Before(s.Query.After.Time) || !s.Query.Before.IsZero() && !last.Before(s.Query.Before.Time)
		if docs == `docs` {
			found.proposed.add(r.Text(3))
		} else {
			found.proposed.addAll()
		}
		return found
	}, b.Text(), b.Args...)
}

// propose narrows the proposed messages of blocks down to those that the index lists for
// everything that the query needs. Late messages remain.
func (s *searching) propose(blocks []*block, late map[int64]*docSet) error {
	for _, b := range blocks {
		b.proposed.removeFrom(s.before - b.number*blockSize)
	}
	open, err := s.filterByWords(blocks, s.Query.Needs(), late)
	if err == nil {
		for _, prefix := range s.Query.Prefixes() {
			if open, err = s.filterByPrefix(open, prefix, late); err != nil {
				return err
			}
		}
		err = s.filterBySpaces(open, late)
	}
	for _, b := range blocks {
		if err == nil && b.partly && b.proposed.count() > fewDated {
			err = s.filterByTime(b)
		}
	}
	return err
}

// filterByTime keeps the messages of the requested time.
func (s *searching) filterByTime(b *block) error {
	var q sqlconn.Builder
	q.Add(`SELECT doc FROM messages WHERE doc >= ? AND doc < ?`, b.number*blockSize, (b.number+1)*blockSize)
	if !s.Query.After.IsZero() {
		q.Add(` AND created_at >= ?`, s.Query.After)
	}
	if !s.Query.Before.IsZero() {
		q.Add(` AND created_at < ?`, s.Query.Before)
	}
	var dated docSet
	docs, err := sqlconn.List(s.c, func(r *sqlconn.Rows) int64 { return r.Int(0) }, q.Text(), q.Args...)
	for _, doc := range docs {
		dated.addOne(doc)
	}
	b.proposed.intersect(&dated)
	s.work += blockSize / messageWork
	return err
}

// filterByWords keeps the messages that have at least one word of each list. It returns the
// blocks that still propose more than fewProposed messages.
func (s *searching) filterByWords(blocks []*block, needs [][]string, late map[int64]*docSet) ([]*block, error) {
	if len(needs) == 0 || len(blocks) == 0 {
		return blocks, nil
	}
	var words []string
	for _, need := range needs {
		words = append(words, need...)
	}
	var b sqlconn.Builder
	b.Add(`SELECT block, word, docs FROM search_words WHERE session_id = ?`, s.session)
	sqlconn.AddIn(&b, ` AND block IN (?)`, blockNumbers(blocks))
	sqlconn.AddIn(&b, ` AND word IN (?)`, words)
	sets := make([][]docSet, len(blocks))
	for i := range sets {
		sets[i] = make([]docSet, len(needs))
	}
	err := s.eachWord(&b, func(at int64, word, docs string) {
		i := slices.IndexFunc(blocks, func(b *block) bool { return b.number == at })
		for n, need := range needs {
			if slices.Contains(need, word) {
				sets[i][n].add(docs)
			}
		}
	})
	s.work += len(blocks) * len(words) * probeWork
	for i, b := range blocks {
		for n := range needs {
			b.restrict(&sets[i][n], late)
		}
	}
	return withManyProposals(blocks), err
}

// filterByPrefix keeps the messages with a word that begins with prefix.
func (s *searching) filterByPrefix(blocks []*block, prefix string, late map[int64]*docSet) ([]*block, error) {
	return s.filterByRange(blocks, prefix, prefix+lastRune, late, func(string) bool { return true })
}

// filterBySpaces keeps the messages of the reader's spaces.
func (s *searching) filterBySpaces(blocks []*block, late map[int64]*docSet) (err error) {
	if s.Reader == "" {
		return nil
	}
	keys := make([]string, len(s.spaces))
	for i, space := range s.spaces {
		keys[i] = search.In + ":" + space
	}
	if len(keys) <= fewSpaces {
		_, err = s.filterByWords(blocks, [][]string{keys}, late)
		return err
	}
	is := map[string]bool{}
	for _, key := range keys {
		is[key] = true
	}
	_, err = s.filterByRange(blocks, search.In+":", search.In+";", late, func(word string) bool { return is[word] })
	return err
}

// filterByRange keeps the messages that have a word in the range [from, to) for which
// wanted returns true.
func (s *searching) filterByRange(blocks []*block, from, to string, late map[int64]*docSet, wanted func(word string) bool) ([]*block, error) {
	if len(blocks) == 0 {
		return nil, nil
	}
	var b sqlconn.Builder
	b.Add(`SELECT block, word, docs FROM search_words WHERE session_id = ?`, s.session)
	sqlconn.AddIn(&b, ` AND block IN (?)`, blockNumbers(blocks))
	b.Add(` AND word >= ? AND word < ?`, from, to)
	sets := map[int64]*docSet{}
	for _, b := range blocks {
		sets[b.number] = new(docSet)
	}
	s.work += len(blocks) * probeWork
	err := s.eachWord(&b, func(at int64, word, docs string) {
		if wanted(word) {
			sets[at].add(docs)
		}
	})
	for _, b := range blocks {
		b.restrict(sets[b.number], late)
	}
	return withManyProposals(blocks), err
}

// eachWord calls use for each row of a query for words of blocks.
func (s *searching) eachWord(b *sqlconn.Builder, use func(block int64, word, docs string)) error {
	r, err := s.c.Query(b.Text(), b.Args...)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // the second Close returns the same error
	for r.Next() {
		docs := r.Text(2)
		use(r.Int(0), r.Text(1), docs)
		s.work += 1 + len(docs)/docsWork
	}
	return r.Close()
}

// restrict keeps the messages of a set and the late ones.
func (b *block) restrict(set *docSet, late map[int64]*docSet) {
	if l := late[b.number]; l != nil {
		set.union(l)
	}
	b.proposed.intersect(set)
}

// withManyProposals returns the blocks that propose more than fewProposed messages.
func withManyProposals(blocks []*block) []*block {
	return slices.DeleteFunc(slices.Clone(blocks), func(b *block) bool { return b.proposed.count() <= fewProposed })
}

func blockNumbers(blocks []*block) []int64 {
	all := make([]int64, len(blocks))
	for i, b := range blocks {
		all[i] = b.number
	}
	return all
}
