package spacetool

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
)

var (
	inText      = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	inAttribute = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")
)

// escape makes a text fit between tags: it holds none.
func escape(text string) string { return inText.Replace(text) }

// attribute makes a text fit into a tag, on one line.
func attribute(text string) string {
	line := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
	return inAttribute.Replace(line)
}

// tag writes the beginning of an element: <name key="value" …. Pairs with an empty
// value are left out.
func tag(b *strings.Builder, name string, pairs ...string) {
	b.WriteString("<" + name)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			b.WriteString(" " + pairs[i] + `="` + attribute(pairs[i+1]) + `"`)
		}
	}
}

// element writes an element of a prompt with a text, on lines of its own.
func element(b *strings.Builder, name, text string, pairs ...string) {
	tag(b, name, pairs...)
	if text == "" {
		b.WriteString("/>\n")
		return
	}
	b.WriteString(">" + block(text) + "</" + name + ">\n")
}

// cut keeps at most so many characters of a text, and says if it left some out.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	count := 0
	for i := range text {
		if count == most {
			return text[:i] + " …"
		}
		count++
	}
	return text
}

// checkText refuses what a text of a model may not be.
func checkText(field, text string, limit int) error {
	switch {
	case strings.TrimSpace(text) == "":
		return shoal.Invalid(field, "is missing")
	case len(text) > limit:
		return shoal.Invalid(field, fmt.Sprintf("has %d bytes; at most %d are allowed: say it shorter", len(text), limit))
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return shoal.Invalid(field, "must be text without the character U+0000")
	}
	return nil
}

// checkLine is checkText for a text of one line, which may be empty.
func checkLine(field, text string, limit int) error {
	if text == "" {
		return nil
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return shoal.Invalid(field, "must be one line without control characters")
	}
	return checkText(field, text, limit)
}

// block is escape for a text in a prompt: none of its lines looks like a heading.
func block(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
	return strings.ReplaceAll(escape(text), "\n", "\n  ")
}

// shown is what there is to see of a message, within so many characters: its text,
// and its other parts as JSON, cut off where there are too many.
func shown(m shoal.Message, most int) (text string, parts []string, err error) {
	text = cut(m.Text(), most)
	left := most - len(text)
	for _, p := range m.Parts {
		if p.Type == shoal.TextPart {
			continue
		}
		if left <= 0 {
			return text, append(parts, "…"), nil
		}
		part, err := encode(p)
		if err != nil {
			return "", nil, err
		}
		part = cut(part, left)
		left -= len(part)
		parts = append(parts, part)
	}
	return text, parts, nil
}

// or is what a pointer leads to, or what is meant without one.
func or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
