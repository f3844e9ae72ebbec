package chat

import (
	"slices"
	"strings"
	"unicode"

	"github.com/shoal-dev/shoal"
)

// Mentions returns the members that text names as @id, each once, in the order of the text.
// The server never parses text, so clients find mentions. An id that is not a member's is plain
// text; if the ids of two members differ only in case, the exact match counts.
func Mentions(text string, members []shoal.Member) []shoal.EntityID {
	var all []shoal.EntityID
	for at := range ats(text) {
		word := text[at+1:]
		word = word[:idSpan(word)]
		for ; word != ""; word = word[:len(word)-1] {
			if id := memberOf(word, members); id != "" {
				if !slices.Contains(all, id) {
					all = append(all, id)
				}
				break
			}
			if !strings.ContainsAny(word[len(word)-1:], "._-") { // punctuation at the end of a sentence is not part of the id
				break
			}
		}
	}
	return all
}

func memberOf(word string, members []shoal.Member) shoal.EntityID {
	var like []shoal.EntityID
	for _, m := range members {
		if string(m.EntityID) == word {
			return m.EntityID
		}
		if strings.EqualFold(string(m.EntityID), word) {
			like = append(like, m.EntityID)
		}
	}
	if len(like) == 1 {
		return like[0]
	}
	return ""
}

// ats yields the offsets of each @ that may start a mention: not those inside a word, such as
// in an address.
func ats(text string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		before := ' '
		for i, r := range text {
			if r == '@' && !unicode.IsLetter(before) && !unicode.IsDigit(before) && before != '_' && !yield(i) {
				return
			}
			before = r
		}
	}
}

func inID(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-'
}

func idSpan(s string) int {
	if end := strings.IndexFunc(s, func(r rune) bool { return !inID(r) }); end >= 0 {
		return end
	}
	return len(s)
}

// Completion is a mention that is being typed: From is the offset of its @ in the text before
// the cursor, Members are the candidates.
type Completion struct {
	From    int
	Members []shoal.Member
}

// Complete returns the mention at the end of text, which is the text before the cursor, and
// the members that it may become: those whose id or a word of whose name has it as a prefix,
// without the entity me.
func Complete(text string, members []shoal.Member, me shoal.EntityID) (c Completion, ok bool) {
	from := -1
	for at := range ats(text) {
		from = at
	}
	if from < 0 || idSpan(text[from+1:]) != len(text)-from-1 {
		return c, false
	}
	begun := strings.ToLower(text[from+1:])
	c.From = from
	for _, m := range members {
		words := append(strings.Fields(strings.ToLower(m.Name)), strings.ToLower(string(m.EntityID)))
		if m.EntityID != me && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, begun) }) {
			c.Members = append(c.Members, m)
		}
	}
	return c, len(c.Members) > 0
}
