package searchsql

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// blockOf identifies a block of a session.
type blockOf struct {
	session shoal.SessionID
	block   int64
}

// postings are the additions of a transaction to the search index.
type postings map[blockOf]*posting

// posting is the additions to one block.
type posting struct {
	first, last shoal.Time
	docs        []byte
	words       map[string][]byte
}

// add adds a message; a streaming one without words.
func (p postings) add(e Entry) {
	at := blockOf{e.Document.Message.SessionID, e.Doc / blockSize}
	in := p[at]
	if in == nil {
		in = &posting{first: e.Document.Message.CreatedAt, last: e.Document.Message.CreatedAt, words: map[string][]byte{}}
		p[at] = in
	}
	if m := e.Document.Message; m.CreatedAt.Before(in.first.Time) {
		in.first = m.CreatedAt
	} else if m.CreatedAt.After(in.last.Time) {
		in.last = m.CreatedAt
	}
	in.docs = appendDoc(in.docs, e.Doc)
	if e.Streaming {
		return
	}
	number := appendDoc(nil, e.Doc)
	e.Document.Index(func(key []byte) { in.addWord(key, number) })
}

// addWord adds a message to those with a word, once.
func (p *posting) addWord(word, number []byte) {
	docs := p.words[string(word)]
	if !bytes.HasSuffix(docs, number) {
		p.words[string(word)] = append(docs, number...)
	}
}

// postingRows is the number of rows that one statement adds. The rest is added by statements
// of half as many rows, and so on, so that a few statements serve all lengths.
const postingRows = 128

// writePostings adds all postings to the index. A block is a small part of it, so the pages
// that are written are close together.
func (t *Tx) writePostings(p postings) error {
	order := slices.SortedFunc(maps.Keys(p), func(a, b blockOf) int {
		return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.block, b.block))
	})
	for _, at := range order {
		in := p[at]
		_, err := t.c.Exec(
			`INSERT INTO search_blocks (session_id, block, first_at, last_at, docs) VALUES ($1, $2, $3, $4, $5)
			 ON CONFLICT (session_id, block) DO UPDATE SET docs = search_blocks.docs || excluded.docs,
			   first_at = CASE WHEN excluded.first_at < search_blocks.first_at THEN excluded.first_at ELSE search_blocks.first_at END,
			   last_at = CASE WHEN excluded.last_at > search_blocks.last_at THEN excluded.last_at ELSE search_blocks.last_at END`,
			at.session, at.block, in.first, in.last, string(in.docs))
		if err != nil {
			return err
		}
		words := slices.Sorted(maps.Keys(in.words))
		for size := postingRows; len(words) > 0; {
			if len(words) < size {
				size /= 2
				continue
			}
			if err := t.writeWords(at, in, words[:size]); err != nil {
				return err
			}
			words = words[size:]
		}
	}
	return nil
}

func (t *Tx) writeWords(at blockOf, in *posting, words []string) error {
	var b sqlconn.Builder
	b.Args = append(b.Args, at.session, at.block)
	b.Add(`INSERT INTO search_words (session_id, block, word, docs) VALUES `)
	for i, word := range words {
		if i > 0 {
			b.Add(`, `)
		}
		b.Add(`($1, $2, ?, ?)`, word, string(in.words[word]))
	}
	b.Add(` ON CONFLICT (session_id, block, word) DO UPDATE SET docs = search_words.docs || excluded.docs`)
	_, err := t.c.Exec(b.Text(), b.Args...)
	return err
}
