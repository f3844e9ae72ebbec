package search

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
)

// Query is a parsed search. A message matches if it contains every term, has one of the
// given senders, spaces and kinds, has every given mention and content, and lies between both
// dates.
type Query struct {
	Terms   []Term
	Filters []Filter
	// After is the first moment that matches, Before the first that no longer does; zero
	// means no limit.
	After, Before shoal.Time
}

// Term is a sequence of adjacent words of a text, in the form that [Words] returns.
type Term struct {
	Words []string
	// Prefix means that the last word may be the beginning of a word.
	Prefix bool
	// Not means that the text must not contain the words.
	Not bool
}

// Filter is a condition on a message besides its words.
type Filter struct {
	Name, Value string
	Not         bool
}

// The names of the filters that take a value of their own.
const (
	From     = "from"
	In       = "in"
	Mentions = "mentions"
	Has      = "has"
	Kind     = "kind"
)

// Me is the value for the searching entity in from: and mentions:.
const Me = "me"

// Within restricts the query to a single space, sender or kind. If the query has other
// values for the same filter, it matches nothing.
func (q Query) Within(name, value string) Query {
	named := q.keys(name)
	only := Filter{Name: name, Value: value}
	q.Filters = slices.DeleteFunc(slices.Clone(q.Filters), func(f Filter) bool { return f.Name == name && !f.Not })
	q.Filters = append(q.Filters, only)
	if len(named) > 0 && !slices.Contains(named, only.key()) {
		q.Filters = append(q.Filters, Filter{Name: name, Value: value, Not: true})
	}
	return q
}

// Needs returns the index keys that a matching message has, at least one of each list; see
// [Document.Index]. A message that has all of them need not match the query.
func (q Query) Needs() (all [][]string) {
	for _, t := range q.Terms {
		words := t.Words
		if t.Not {
			continue
		}
		if t.Prefix {
			words = words[:len(words)-1]
		}
		for i, w := range words {
			all = append(all, []string{w})
			if i > 0 {
				all = append(all, []string{pair([]byte(words[i-1]), []byte(w))})
			}
		}
	}
	for _, name := range []string{From, In, Kind} {
		if keys := q.keys(name); len(keys) > 0 {
			all = append(all, keys)
		}
	}
	for _, name := range []string{Mentions, Has} {
		for _, key := range q.keys(name) {
			all = append(all, []string{key})
		}
	}
	return all
}

func (q Query) keys(name string) (keys []string) {
	for _, f := range q.Filters {
		if f.Name == name && !f.Not {
			keys = append(keys, f.key())
		}
	}
	return keys
}

// Prefixes returns prefixes: a matching message has a word with each of them.
func (q Query) Prefixes() (all []string) {
	for _, t := range q.Terms {
		if t.Prefix && !t.Not {
			all = append(all, t.Words[len(t.Words)-1])
		}
	}
	return all
}

func (f Filter) key() string { return f.Name + ":" + f.Value }

// Values returns the values of the filters with one name, including filters that exclude.
func (q Query) Values(name string) (values []string) {
	for _, f := range q.Filters {
		if f.Name == name {
			values = append(values, f.Value)
		}
	}
	return values
}

// As returns the query of an entity, with its id in place of [Me].
func (q Query) As(who shoal.EntityID) Query {
	q.Filters = slices.Clone(q.Filters)
	for i, f := range q.Filters {
		if f.Value == Me && (f.Name == From || f.Name == Mentions) {
			q.Filters[i].Value = string(who)
		}
	}
	return q
}

// ContainsMe reports whether the query contains [Me].
func (q Query) ContainsMe() bool {
	return slices.ContainsFunc(q.Filters, func(f Filter) bool { return f.Value == Me && (f.Name == From || f.Name == Mentions) })
}

// Document is a message as an entity may see it, with the kind of its sender; the kind is
// empty for the system.
type Document struct {
	Message shoal.Message
	Kind    shoal.EntityKind
}

// Keys returns the index keys for filters. No word is ever equal to one of them.
func (d Document) Keys() []string {
	m := d.Message
	keys := []string{Filter{Name: In, Value: string(m.SpaceID)}.key(), Filter{Name: From, Value: string(m.EntityID)}.key()}
	kind := string(d.Kind)
	if m.EntityID == shoal.System {
		kind = "system"
	}
	if kind != "" {
		keys = append(keys, Filter{Name: Kind, Value: kind}.key())
	}
	for _, id := range m.Mentions {
		keys = append(keys, Filter{Name: Mentions, Value: string(id)}.key())
	}
	for _, content := range contents {
		if slices.ContainsFunc(m.Parts, content.in) {
			keys = append(keys, Filter{Name: Has, Value: content.name}.key())
		}
	}
	return keys
}

// Index calls yield with all index keys of a message: its filter keys, its words, and the
// keys of pairs of adjacent words. Keys may occur more than once. The bytes are valid until
// yield returns.
func (d Document) Index(yield func(key []byte)) {
	for _, key := range d.Keys() {
		yield([]byte(key))
	}
	var before []byte
	Words(d.Message.Text(), func(word []byte, _, _ int) bool {
		yield(word)
		if before != nil {
			yield([]byte(pair(before, word)))
		}
		before = append(before[:0], word...)
		return true
	})
}

// pair returns the key of two adjacent words. A key covers about a thousandth of all
// pairs, which is enough to distinguish most messages that contain both words somewhere.
func pair(a, b []byte) string {
	n := uint32(2166136261) // FNV-1a
	for _, c := range a {
		n = (n ^ uint32(c)) * 16777619
	}
	n *= 16777619
	for _, c := range b {
		n = (n ^ uint32(c)) * 16777619
	}
	n ^= n >> 16
	const digits = "0123456789abcdefghijklmnopqrstuv"
	return string([]byte{'~', digits[n>>5&31], digits[n&31]})
}

// contents are the values of has:, in the order in which errors list them.
var contents = []struct {
	name string
	in   func(shoal.Part) bool
}{
	{"file", func(p shoal.Part) bool { return p.Type == shoal.FilePart }},
	{"image", func(p shoal.Part) bool { return p.Type == shoal.FilePart && strings.HasPrefix(p.MediaType, "image/") }},
	{"link", func(p shoal.Part) bool {
		return p.Type == shoal.TextPart && (strings.Contains(p.Text, "https://") || strings.Contains(p.Text, "http://"))
	}},
	{"code", func(p shoal.Part) bool { return p.Type == shoal.TextPart && strings.Contains(p.Text, "```") }},
	{"tool", func(p shoal.Part) bool { return p.Type == shoal.ToolPart }},
	{"approval", func(p shoal.Part) bool {
		return p.Type == shoal.ToolPart && !p.Private &&
			(p.Status == shoal.PartRequiresAction || p.Status == shoal.PartDenied || p.AnsweredBy != "")
	}},
	{"data", func(p shoal.Part) bool { return p.Type == shoal.DataPart }},
}

// Contents returns the values of has:.
func Contents() (names []string) {
	for _, c := range contents {
		names = append(names, c.name)
	}
	return names
}
