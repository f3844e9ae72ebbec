package search

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
)

// Query is a search as it was meant. Everything in it must hold: every term,
// one of the senders, one of the spaces and one of the kinds that are named,
// every mention and every content, both dates.
type Query struct {
	Terms   []Term
	Filters []Filter
	// After is the first moment that counts, Before the first that does not;
	// zero is none.
	After, Before shoal.Time
}

// Term is words that follow each other in a text, as [Words] spells them.
type Term struct {
	Words []string
	// Prefix says that the last word may also be the beginning of one.
	Prefix bool
	// Not says that the text must not hold them.
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

// Me is the value that stands for whoever asks, in from: and mentions:.
const Me = "me"

// Within returns the query for one space, one sender or one kind alone, whatever
// else it names of them: if that is something else, nothing can be found.
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

// Needs returns what every message must have in an index, one of each list, as
// [Document.Index] tells it. A message that has all of it need not be one that the
// query holds for.
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

// Prefixes returns beginnings of words: every message must have a word with each
// of them.
func (q Query) Prefixes() (all []string) {
	for _, t := range q.Terms {
		if t.Prefix && !t.Not {
			all = append(all, t.Words[len(t.Words)-1])
		}
	}
	return all
}

func (f Filter) key() string { return f.Name + ":" + f.Value }

// Values returns the values of the filters of one name, those that exclude
// included.
func (q Query) Values(name string) (values []string) {
	for _, f := range q.Filters {
		if f.Name == name {
			values = append(values, f.Value)
		}
	}
	return values
}

// As returns the query as somebody asks it, with their id in the place of [Me].
func (q Query) As(who shoal.EntityID) Query {
	q.Filters = slices.Clone(q.Filters)
	for i, f := range q.Filters {
		if f.Value == Me && (f.Name == From || f.Name == Mentions) {
			q.Filters[i].Value = string(who)
		}
	}
	return q
}

// NamesMe reports whether the query speaks of whoever asks.
func (q Query) NamesMe() bool {
	return slices.ContainsFunc(q.Filters, func(f Filter) bool { return f.Value == Me && (f.Name == From || f.Name == Mentions) })
}

// Document is a message as somebody may see it, with what kind of sender it has,
// empty for the system.
type Document struct {
	Message shoal.Message
	Kind    shoal.EntityKind
}

// Keys returns what filters ask for: no word is ever equal to one of them.
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

// Index calls yield with all under which an index must have a message: its keys,
// its words, and what stands for two words that follow each other. Some come more
// than once. The bytes are yield's until it returns.
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

// pair stands for two words that follow each other, and for a thousandth of all
// others: enough to tell most messages apart that have both words somewhere.
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

// contents are what has: knows, in the order in which it is told.
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

// Contents returns what has: knows.
func Contents() (names []string) {
	for _, c := range contents {
		names = append(names, c.name)
	}
	return names
}
