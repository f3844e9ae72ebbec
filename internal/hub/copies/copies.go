// Package copies finds and erases what runs, events and conversations have copied from messages and
// other texts of people, and the names of people; pure.
package copies

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// A JSON object that names a message by its id loses all content of the message, and an element
// <message id="…">, the form in which models read messages, loses its text. Elsewhere a copy
// is recognized by its text alone. A short text is recognized only where it is the whole of a
// text that people or models read, so that deleting a message "user" does not change what
// "user" means elsewhere.

const (
	// Erased is what remains of an erased text.
	Erased = "[deleted]"
	// minLongText is the length in bytes from which a text is recognized anywhere.
	minLongText = 24
	// maxPiece bounds the length of a piece that is used to find rows, and maxPieces the
	// number of pieces.
	maxPiece  = 64
	maxPieces = 16
)

// Eraser erases the copies of messages and other texts, and the name of an entity.
type Eraser struct {
	ids    map[string][]string // of what loses its content; with texts, only an object that contains one
	run    shoal.RunID
	at     json.RawMessage
	texts  []string // as they were written, and as they are escaped between tags
	pieces []string
	person *person
	answer bool // the texts are an answer, which is stored in other fields than messages
}

// OfMessage returns an eraser for a message and its earlier versions, which was deleted at a time.
func OfMessage(m shoal.Message, before []shoal.MessageVersion, at shoal.Time) *Eraser {
	c := &Eraser{ids: map[string][]string{string(m.ID): nil}}
	c.at, _ = shoal.EncodeJSON(at)
	if m.RunID != nil {
		c.run = *m.RunID
	}
	c.addMessage(m)
	for _, v := range before {
		c.addMessage(shoal.Message{Parts: v.Parts})
	}
	return c
}

// OfAnswer returns an eraser for the answer of a person: its texts, and the results of the calls
// with these ids that contain one of them.
func OfAnswer(ids []string, answers ...shoal.PendingAnswer) *Eraser {
	c := &Eraser{ids: map[string][]string{}, at: json.RawMessage("null"), answer: true}
	for _, a := range answers {
		for _, text := range []*string{a.Error, a.Reason, a.Ask, a.Answer} {
			if text != nil {
				c.addText(*text)
			}
		}
		c.addJSON(a.Result, 1)
		c.addJSON(a.Args, 1)
	}
	for _, id := range ids {
		if id != "" && len(c.pieces) > 0 {
			c.ids[id] = c.pieces
		}
	}
	return c
}

// Join returns one eraser that does what all do.
func Join(all ...*Eraser) *Eraser {
	out := &Eraser{ids: map[string][]string{}, at: json.RawMessage("null")}
	for _, c := range all {
		for id, pieces := range c.ids {
			if known, found := out.ids[id]; found && (known == nil || pieces == nil) {
				pieces = nil
			} else {
				pieces = append(slices.Clip(known), pieces...)
			}
			out.ids[id] = pieces
		}
		out.texts = append(out.texts, c.texts...)
		out.answer = out.answer || c.answer
		if len(c.at) > 0 && string(c.at) != "null" {
			out.at = c.at
		}
		if c.person != nil {
			out.person = c.person
		}
	}
	return out
}

// Empty reports whether there is nothing that the eraser could find.
func (c *Eraser) Empty() bool { return len(c.ids) == 0 && len(c.texts) == 0 && c.person == nil }

func (c *Eraser) addMessage(m shoal.Message) {
	c.addText(m.Text())
	for _, p := range m.Parts {
		c.addText(p.Text)
		for _, raw := range []json.RawMessage{p.Data, p.Args, p.EditedArgs, p.Result} {
			c.addJSON(raw, minLongText)
		}
	}
}

// addText adds a text, and the piece by which rows that contain it are found: its longest
// stretch that is written the same in every encoding.
func (c *Eraser) addText(text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	c.texts = append(c.texts, text)
	if tagged := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text); tagged != text {
		c.texts = append(c.texts, tagged)
	}
	longest := ""
	for _, piece := range strings.FieldsFunc(text, separates) {
		if len(piece) > len(longest) {
			longest = piece
		}
	}
	for len(longest) > maxPiece {
		_, size := utf8.DecodeLastRuneInString(longest)
		longest = longest[:len(longest)-size]
	}
	if longest != "" && len(c.pieces) < maxPieces {
		c.pieces = append(c.pieces, longest)
	}
}

// separates reports whether some encoding of a text writes a character differently.
func separates(r rune) bool {
	return r < ' ' || strings.ContainsRune(`<>&"'\/`+"`\u007f\u0085\u2028\u2029", r)
}

// addJSON adds the texts in a JSON value that are at least as long as shortest, in bytes.
func (c *Eraser) addJSON(raw json.RawMessage, shortest int) {
	if len(raw) == 0 {
		return
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if len(v) >= shortest {
				c.addText(v)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	var v any
	if json.Unmarshal(raw, &v) == nil {
		walk(v)
	}
}

// Copies returns how the rows with copies of a message are found.
func (c *Eraser) Copies() storage.MessageCopies {
	var id shoal.MessageID
	for only := range c.ids {
		id = shoal.MessageID(only)
	}
	return storage.MessageCopies{Message: id, Run: c.run, Pieces: c.pieces}
}

// Holds reports whether a stored text contains the id of a message or a long piece of
// a text. A short piece proves nothing, because other texts contain it too.
func (c *Eraser) Holds(text string) bool {
	for id := range c.ids {
		if strings.Contains(text, id) {
			return true
		}
	}
	for _, piece := range c.pieces {
		if len(piece) >= minLongText && strings.Contains(text, piece) {
			return true
		}
	}
	return false
}

// Erase returns a stored text, JSON or not, without the copies in it. A text without copies
// is returned unchanged.
func (c *Eraser) Erase(text string) string {
	if raw := []byte(text); json.Valid(raw) && isNested(text) {
		if out, changed := c.eraseValue("", raw); changed {
			return string(out)
		}
		return text
	}
	return c.eraseText("text", text)
}

// isNested reports whether JSON in a text is an object, an array or a string.
func isNested(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && strings.ContainsRune(`{["`, rune(text[0]))
}

// eraseValue erases the copies in the JSON value of a key.
func (c *Eraser) eraseValue(key string, raw json.RawMessage) (out json.RawMessage, changed bool) {
	raw = bytes.TrimSpace(raw)
	switch {
	case key == "opaque" || len(raw) == 0: // sealed data of a model provider
		return raw, false
	case raw[0] == '{':
		return c.eraseObject(raw)
	case raw[0] == '[':
		var entries []json.RawMessage
		if json.Unmarshal(raw, &entries) != nil {
			return raw, false
		}
		for i := range entries {
			var one bool
			entries[i], one = c.eraseValue(key, entries[i])
			changed = changed || one
		}
		if !changed {
			return raw, false
		}
		return append(append([]byte("["), bytes.Join(rawBytes(entries), []byte(","))...), ']'), true
	case raw[0] == '"':
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return raw, false
		}
		without := c.eraseText(key, text)
		if without == text {
			return raw, false
		}
		encoded, err := shoal.EncodeJSON(without)
		return encoded, err == nil
	}
	return raw, false
}

// names reports whether a JSON value is the id of something whose content an object loses.
func (c *Eraser) names(value, object json.RawMessage) bool {
	var id string
	if json.Unmarshal(value, &id) != nil {
		return false
	}
	pieces, found := c.ids[id]
	return found && (pieces == nil || slices.ContainsFunc(pieces, func(p string) bool { return bytes.Contains(object, []byte(p)) }))
}

func rawBytes(entries []json.RawMessage) [][]byte {
	out := make([][]byte, len(entries))
	for i := range entries {
		out[i] = entries[i]
	}
	return out
}

// readableFields are the names of fields whose texts people or models read.
var readableFields = map[string]bool{"text": true, "content": true, "Text": true, "messageContent": true, "MessageContent": true, "delta": true}

// isReadable reports whether people or models read the text of a field.
func (c *Eraser) isReadable(key string) bool {
	return readableFields[key] || c.answer && slices.Contains([]string{"reason", "ask", "answer", "result", "error"}, key)
}

// eraseText erases the copies in the text of a key.
func (c *Eraser) eraseText(key, text string) string {
	if isNested(text) && json.Valid([]byte(text)) {
		if out, changed := c.eraseValue(key, json.RawMessage(text)); changed {
			return string(out)
		}
		return text
	}
	text = c.eraseElements(text)
	for _, known := range c.texts {
		short := strings.TrimSuffix(strings.TrimSuffix(text, "…"), " ")
		switch {
		case strings.TrimSpace(text) == known && (c.isReadable(key) || len(known) >= minLongText), len(short) >= minLongText && strings.Contains(known, short):
			return Erased
		case len(known) >= minLongText:
			text = strings.ReplaceAll(text, known, Erased)
		}
	}
	return c.person.eraseName(text)
}

// eraseElements erases the content of the elements of a prompt that show a message.
func (c *Eraser) eraseElements(text string) string {
	if !strings.Contains(text, elementStart) {
		return text
	}
	for id, pieces := range c.ids {
		if pieces == nil {
			text = eraseElement(text, id)
		}
	}
	return text
}

// elementStart begins an element of a prompt that shows a message.
const elementStart = `<message id="`

func eraseElement(text, id string) string {
	opening, end := elementStart+id+`"`, "</message>"
	from := 0
	for {
		at := strings.Index(text[from:], opening)
		if at < 0 {
			return text
		}
		from += at
		begin := strings.IndexByte(text[from:], '>') // attributes contain no '>'
		until := strings.Index(text[from:], end)
		if begin < 0 || until < begin {
			return text[:from] + Erased
		}
		text = text[:from] + text[from:from+begin+1] + Erased + text[from+until:]
		from += begin + 1
	}
}
