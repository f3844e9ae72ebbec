package hub

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
)

// Search asks for messages by their words.
type Search struct {
	// Query holds plain words; a message must hold all of them, the last one
	// also as the beginning of a word.
	Query string
	// Space and SenderKind narrow the search, if set.
	Space      shoal.SpaceID
	SenderKind shoal.EntityKind
	// Before starts behind an earlier page's last result.
	Before SearchPlace
	Limit  int
}

// Limits of a search.
const (
	maxQuery    = 500
	maxWords    = 20
	snippetSize = 160
)

// Search returns matching messages of the spaces that the caller sees, the
// newest first, each with a piece of its text where it matches.
func (m *Messages) Search(ctx context.Context, who shoal.Principal, session shoal.SessionID, s Search) (out []shoal.Hit, err error) {
	const op = "hub.Messages.Search"
	words, err := queryWords(s.Query)
	if err := errors.Join(enter(who, session), err); err != nil {
		return nil, wrap(op, first(err))
	}
	if s.SenderKind != "" && s.SenderKind != shoal.Human && s.SenderKind != shoal.Agent {
		return nil, wrap(op, shoal.Invalid("kind", `must be "human" or "agent"`))
	}
	err = m.view(ctx, op, func(tx Tx) error {
		if s.Space != "" {
			if _, err := sees(tx, who, session, s.Space); err != nil {
				return err
			}
		}
		found, err := tx.Search(session, SearchQuery{
			Words: words, Reader: reader(who), Space: s.Space, SenderKind: s.SenderKind, Before: s.Before, Limit: s.Limit,
		})
		out = make([]shoal.Hit, len(found))
		for i, f := range found {
			out[i] = shoal.Hit{Space: f.Space, Message: f.Message.For(reader(who))}
			out[i].Highlight, out[i].Matches = highlight(f.Message.Text(), words)
		}
		return err
	})
	return out, err
}

// queryWords splits a query into the words that the index knows.
func queryWords(q string) ([]string, error) {
	if len(q) > maxQuery {
		return nil, shoal.Invalid("query", fmt.Sprintf("has %d bytes; at most %d are allowed", len(q), maxQuery))
	}
	words := strings.FieldsFunc(q, func(r rune) bool { return !isWordRune(r) })
	switch {
	case len(words) == 0:
		return nil, shoal.Invalid("query", "holds no word to search for")
	case len(words) > maxWords:
		return nil, shoal.Invalid("query", fmt.Sprintf("has %d words; at most %d are allowed", len(words), maxWords))
	}
	return words, nil
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// highlight cuts a piece around the first match out of text and returns it with
// the byte ranges in it that match.
func highlight(text string, words []string) (string, [][2]int) {
	from := 0
	if all := matches(text, words); len(all) > 0 {
		from = max(0, all[0][0]-snippetSize/4)
	}
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	to := min(len(text), from+snippetSize)
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	piece := text[from:to]
	return piece, matches(piece, words)
}

// matches finds whole words of text that equal one of words, or begin with the
// last one, without regard to case.
func matches(text string, words []string) [][2]int {
	out := [][2]int{}
	start := -1
	check := func(end int) {
		if start < 0 {
			return
		}
		if n := matchLen(text[start:end], words); n > 0 {
			out = append(out, [2]int{start, start + n})
		}
		start = -1
	}
	for i, r := range text {
		switch {
		case !isWordRune(r):
			check(i)
		case start < 0:
			start = i
		}
	}
	check(len(text))
	return out
}

func matchLen(word string, words []string) int {
	for _, w := range words {
		if strings.EqualFold(word, w) {
			return len(word)
		}
	}
	last := words[len(words)-1]
	if len(word) > len(last) && utf8.RuneStart(word[len(last)]) && strings.EqualFold(word[:len(last)], last) {
		return len(last)
	}
	return 0
}
