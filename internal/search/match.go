package search

import (
	"bytes"
	"slices"
)

// Matcher matches messages against one query. It is not safe for concurrent use.
type Matcher struct {
	query Query
	words []byte // of the text that was read last, concatenated
	spans []span
}

// span is a word of a text: words[at:end], at the bytes from:to of the text.
type span struct{ at, end, from, to int }

// NewMatcher returns a matcher for a query without [Me].
func NewMatcher(q Query) *Matcher { return &Matcher{query: q} }

// Matches reports whether a message matches the query.
func (m *Matcher) Matches(d Document) bool {
	at := d.Message.CreatedAt
	if at.Before(m.query.After.Time) || !m.query.Before.IsZero() && !at.Before(m.query.Before.Time) {
		return false
	}
	if len(m.query.Filters) > 0 && !m.query.passesFilters(d.Keys()) {
		return false
	}
	if len(m.query.Terms) == 0 {
		return true
	}
	m.read(d.Message.Text())
	for _, t := range m.query.Terms {
		if m.containsTerm(t) == t.Not {
			return false
		}
	}
	return true
}

// passesFilters reports whether a message with the given keys passes the filters.
func (q Query) passesFilters(keys []string) bool {
	for _, f := range q.Filters {
		if f.Not && slices.Contains(keys, f.key()) {
			return false
		}
	}
	for _, name := range []string{From, In, Kind} {
		if any := q.keys(name); len(any) > 0 && !slices.ContainsFunc(any, func(key string) bool { return slices.Contains(keys, key) }) {
			return false
		}
	}
	for _, name := range []string{Mentions, Has} {
		for _, key := range q.keys(name) {
			if !slices.Contains(keys, key) {
				return false
			}
		}
	}
	return true
}

// read splits a text into its words.
func (m *Matcher) read(text string) {
	m.words, m.spans = m.words[:0], m.spans[:0]
	Words(text, func(word []byte, from, to int) bool {
		at := len(m.words)
		m.words = append(m.words, word...)
		m.spans = append(m.spans, span{at, len(m.words), from, to})
		return true
	})
}

func (m *Matcher) wordAt(i int) []byte { return m.words[m.spans[i].at:m.spans[i].end] }

// containsTerm reports whether the text that was read contains a term.
func (m *Matcher) containsTerm(t Term) bool {
	for i := range m.spans {
		if m.matchesAt(t, i) {
			return true
		}
	}
	return false
}

// matchesAt reports whether a term starts at the i-th word.
func (m *Matcher) matchesAt(t Term, i int) bool {
	if i+len(t.Words) > len(m.spans) {
		return false
	}
	last := len(t.Words) - 1
	for j, w := range t.Words {
		word := m.wordAt(i + j)
		if string(word) != w && (j < last || !t.Prefix || !bytes.HasPrefix(word, []byte(w))) {
			return false
		}
	}
	return true
}
