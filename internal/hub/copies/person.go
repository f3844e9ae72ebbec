package copies

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
)

// person is an entity whose name is erased: what names it by its id loses every name, and the
// name that it has now is replaced by the id wherever it is a word of its own.
type person struct {
	id, name string
	tagged   *regexp.Regexp
	names    []string // as it is written, and as it is escaped between tags
}

// OfEntity returns an eraser for the name of an entity, its description, its metadata and the id
// that it has elsewhere.
func OfEntity(id shoal.EntityID, name string) *Eraser {
	p := &person{id: string(id), name: name, tagged: regexp.MustCompile(`( id="` + regexp.QuoteMeta(string(id)) + `" name=")[^"]*"`)}
	if name != "" && name != p.id {
		p.names = []string{name}
		if tagged := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;").Replace(name); tagged != name {
			p.names = append(p.names, tagged)
		}
	}
	return &Eraser{person: p}
}

// MayName reports whether a stored text may name the entity of [OfEntity].
func (c *Eraser) MayName(text string) bool {
	p := c.person
	if p == nil {
		return false
	}
	if strings.Contains(text, p.id) || p.name != "" && strings.Contains(text, p.name) {
		return true
	}
	encoded, err := shoal.EncodeJSON(p.name) // a name with a quotation mark, within JSON
	return err == nil && strings.Contains(text, strings.Trim(string(encoded), `"`))
}

// eraseFields erases the names in an object about the entity.
func (p *person) eraseFields(fields []field) (changed bool) {
	if p == nil {
		return false
	}
	about := false
	for _, f := range fields {
		switch f.name {
		case "id", "entityId", "senderEntityId":
			var id string
			about = about || json.Unmarshal(f.value, &id) == nil && id == p.id
		}
	}
	if !about {
		return false
	}
	for i, f := range fields {
		var to string
		switch f.name {
		case "name", "senderName":
			encoded, err := shoal.EncodeJSON(p.id)
			if err != nil {
				continue
			}
			to = string(encoded)
		case "description":
			to = `""`
		case "externalId", "lastFailure":
			to = "null"
		case "metadata":
			to = "{}"
		default:
			continue
		}
		changed = changed || string(f.value) != to
		fields[i].value = json.RawMessage(to)
	}
	return changed
}

// eraseName replaces the name in a text.
func (p *person) eraseName(text string) string {
	if p == nil {
		return text
	}
	if strings.Contains(text, p.id) {
		text = p.tagged.ReplaceAllString(text, "${1}"+strings.ReplaceAll(p.id, "$", "$$")+`"`)
	}
	for _, name := range p.names {
		text = replaceWord(text, name, p.id)
	}
	return text
}

// replaceWord replaces a word, or a sequence of words, that is not a part of a longer word.
func replaceWord(text, word, by string) string {
	var b strings.Builder
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return b.String() + text[from:]
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(word):])
		b.WriteString(text[from:at])
		if inWord(before) || inWord(after) {
			b.WriteString(word)
		} else {
			b.WriteString(by)
		}
		from = at + len(word)
	}
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}
