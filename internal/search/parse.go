package search

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
)

// Limits of a query.
const (
	maxQuery   = 500
	maxWords   = 20
	maxFilters = 20
)

const dates = "a day such as 2027-01-31, a month such as 2027-01, a year, or a time such as 2027-01-31T08:00:00Z"

// Parse parses a query: words; "words that follow each other"; prefixes such as lap*, which
// the last word is implicitly; -exclusions; and the filters from:, in:, mentions:, has:,
// kind:, before: and after:. A quoted filter is text, and so are URLs, times and ports.
// Errors are of kind InvalidArgument, list the valid choices, and name the field.
func Parse(field, text string) (Query, error) {
	if len(text) > maxQuery {
		return Query{}, shoal.Invalid(field, fmt.Sprintf("has %d bytes; at most %d are allowed", len(text), maxQuery))
	}
	p := parser{rest: text, open: -1}
	for p.parseNext() {
	}
	if p.err == nil {
		p.checkLimits()
	}
	if p.err != nil {
		return Query{}, shoal.Invalid(field, p.err.Error())
	}
	if p.open >= 0 {
		p.query.Terms[p.open].Prefix = true
	}
	return p.query, nil
}

type parser struct {
	rest  string
	query Query
	open  int // index of the last term if it is an unquoted word, otherwise -1
	dated bool
	err   error
}

// parseNext parses one element and reports whether more may follow.
func (p *parser) parseNext() bool {
	p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace)
	if p.rest == "" || p.err != nil {
		return false
	}
	not := false
	if after, found := strings.CutPrefix(p.rest, "-"); found && after != "" && after[0] != '-' && !startsWithSpace(after) {
		p.rest, not = after, true
	}
	if p.rest[0] == '"' {
		p.addPhrase(not)
		return true
	}
	if name, value, found := strings.Cut(p.rest, ":"); found && isName(name) {
		if p.parseFilter(strings.ToLower(name), value, not) {
			return true
		}
	}
	word := p.readWord()
	p.addTerm(word, not, strings.HasSuffix(word, "*"), true)
	return true
}

func startsWithSpace(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(r)
}

// isName reports whether a text can be the name of a filter.
func isName(s string) bool {
	return len(s) > 1 && strings.IndexFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) < 0
}

// readWord returns the text before the next space and skips it.
func (p *parser) readWord() string {
	end := strings.IndexFunc(p.rest, unicode.IsSpace)
	if end < 0 {
		end = len(p.rest)
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	return word
}

// readQuoted returns the text between quotes and skips it; the closing quote may be missing.
func (p *parser) readQuoted() string {
	text, rest, _ := strings.Cut(p.rest[1:], `"`)
	p.rest = rest
	return text
}

func (p *parser) addPhrase(not bool) {
	text := p.readQuoted()
	prefix := strings.HasPrefix(p.rest, "*")
	p.rest = strings.TrimPrefix(p.rest, "*")
	p.addTerm(text, not, prefix, false)
}

func (p *parser) addTerm(text string, not, prefix, bare bool) {
	words := wordsOf(text)
	if len(words) == 0 {
		return
	}
	if bare && !not {
		p.open = len(p.query.Terms)
	}
	p.query.Terms = append(p.query.Terms, Term{Words: words, Prefix: prefix, Not: not})
}

// parseFilter parses the value of a filter and reports whether the text is a filter.
func (p *parser) parseFilter(name, value string, not bool) bool {
	known := slices.Contains([]string{From, In, Mentions, Has, Kind, "before", "after"}, name)
	if !known {
		// A URL, a scope, a port, or a word followed by a colon.
		if value == "" || strings.HasPrefix(value, "//") || value[0] == ':' || value[0] >= '0' && value[0] <= '9' || startsWithSpace(value) {
			return false
		}
		p.err = fmt.Errorf(`has a filter %s: that does not exist; there are from:, in:, mentions:, has:, kind:, before: and after:. To search for the text, put it in quotes`, name)
		return true
	}
	p.rest = value
	if strings.HasPrefix(value, `"`) {
		value = p.readQuoted()
	} else {
		value = p.readWord()
	}
	if value == "" {
		p.err = fmt.Errorf(`has %s: without a value after the colon; to search for the text, put it in quotes`, name)
		return true
	}
	p.setFilter(name, value, not)
	return true
}

// setFilter checks the value of a filter and adds it to the query.
func (p *parser) setFilter(name, value string, not bool) {
	switch name {
	case From, Mentions:
		value = strings.TrimPrefix(value, "@")
		p.err = checkID(name, value)
	case In:
		value = strings.TrimPrefix(value, "#")
		p.err = checkID(name, value)
	case Has:
		value = strings.ToLower(value)
		if !slices.Contains(Contents(), value) {
			p.err = fmt.Errorf("has has:%s; valid are %s", value, strings.Join(Contents(), ", "))
		}
	case Kind:
		value = strings.ToLower(value)
		if value == "person" { // as the console calls them
			value = string(shoal.Human)
		}
		if !slices.Contains(Kinds(), value) {
			p.err = fmt.Errorf("has kind:%s; valid are %s", value, strings.Join(Kinds(), ", "))
		}
	default:
		p.parseDate(name, value, not)
		return
	}
	p.query.Filters = append(p.query.Filters, Filter{Name: name, Value: value, Not: not})
}

// Kinds returns the kinds of senders that kind: accepts.
func Kinds() []string {
	return []string{string(shoal.Human), string(shoal.Agent), string(shoal.System)}
}

func checkID(name, value string) error {
	if shoal.CheckID(name, value) != nil {
		return fmt.Errorf("has %s:%q, which is not an id", name, value)
	}
	return nil
}

// parseDate parses a date. Days, months and years start in UTC.
func (p *parser) parseDate(name, value string, not bool) {
	if not {
		p.err = fmt.Errorf("has -%s:, which is not supported: use before: or after: the other way round", name)
		return
	}
	p.dated = true
	for _, layout := range []string{"2006-01-02", "2006-01", "2006", time.RFC3339} {
		at, err := time.Parse(layout, value)
		if err != nil {
			continue
		}
		// Times are stored in microseconds from 1970 on, so dates outside that range are ignored.
		moment := shoal.At(at)
		switch {
		case name == "after" && moment.After(p.query.After.Time):
			p.query.After = moment
		case name == "before" && (p.query.Before.IsZero() || moment.Before(p.query.Before.Time)):
			p.query.Before = moment
		}
		return
	}
	p.err = fmt.Errorf("has %s:%s, which is not a date; use %s", name, value, dates)
}

// checkLimits checks the limits of the complete query.
func (p *parser) checkLimits() {
	words := 0
	for _, t := range p.query.Terms {
		words += len(t.Words)
	}
	switch {
	case words == 0 && len(p.query.Filters) == 0 && !p.dated:
		p.err = fmt.Errorf("has neither a word to search for nor a filter")
	case words > maxWords:
		p.err = fmt.Errorf("has %d words; at most %d are allowed", words, maxWords)
	case len(p.query.Filters) > maxFilters:
		p.err = fmt.Errorf("has %d filters; at most %d are allowed", len(p.query.Filters), maxFilters)
	}
}
