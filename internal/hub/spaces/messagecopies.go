package spaces

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Copies of a deleted message in stored runs, events and conversations. A JSON object that
// names the message by its id loses all content of the message, and an element
// <message id="…">, the form in which models read messages, loses its text. Elsewhere a copy
// is recognized by its text alone. A short text is recognized only where it is the whole of a
// text that people or models read, so that deleting a message "user" does not change what
// "user" means elsewhere.

const (
	erasedText = "[deleted]"
	// minLongText is the length in bytes from which a text is recognized anywhere.
	minLongText = 24
	// maxPiece bounds the length of a piece that is used to find rows, and maxPieces the
	// number of pieces.
	maxPiece  = 64
	maxPieces = 16
)

// copyEraser erases the copies of one message.
type copyEraser struct {
	id     shoal.MessageID
	run    shoal.RunID
	at     json.RawMessage
	texts  []string // as they were written, and as they are escaped between tags
	pieces []string
}

// newCopyEraser returns an eraser for a message and its earlier versions.
func newCopyEraser(m shoal.Message, before []shoal.MessageVersion, at shoal.Time) *copyEraser {
	c := &copyEraser{id: m.ID}
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

func (c *copyEraser) addMessage(m shoal.Message) {
	c.addText(m.Text())
	for _, p := range m.Parts {
		c.addText(p.Text)
		for _, raw := range []json.RawMessage{p.Data, p.Args, p.EditedArgs, p.Result} {
			c.addJSON(raw)
		}
	}
}

// addText adds a text, and the piece by which rows that contain it are found: its longest
// stretch that is written the same in every encoding.
func (c *copyEraser) addText(text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	c.texts = append(c.texts, text)
	if tagged := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text); tagged != text {
		c.texts = append(c.texts, tagged)
	}
	longest := ""
	for _, piece := range strings.FieldsFunc(text, func(r rune) bool { return r < ' ' || strings.ContainsRune(`<>&"'\/`+"\u007f\u0085\u2028\u2029", r) }) {
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

// addJSON adds the long texts in a JSON value.
func (c *copyEraser) addJSON(raw json.RawMessage) {
	if len(raw) == 0 {
		return
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if len(v) >= minLongText {
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

func (c *copyEraser) copies() storage.MessageCopies {
	return storage.MessageCopies{Message: c.id, Run: c.run, Pieces: c.pieces}
}

// erase returns a stored text, JSON or not, without the copies in it. A text without copies
// is returned unchanged.
func (c *copyEraser) erase(text string) string {
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
func (c *copyEraser) eraseValue(key string, raw json.RawMessage) (out json.RawMessage, changed bool) {
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

func rawBytes(entries []json.RawMessage) [][]byte {
	out := make([][]byte, len(entries))
	for i := range entries {
		out[i] = entries[i]
	}
	return out
}

// field is a field of an object. The order of the fields is preserved, so that a text that
// a model has read before does not change.
type field struct {
	name  string
	value json.RawMessage
}

// eraseObject erases the copies in a JSON object. If the object is about the message, it
// also clears the fields with its content.
func (c *copyEraser) eraseObject(raw json.RawMessage) (out json.RawMessage, changed bool) {
	fields, err := parseFields(raw)
	if err != nil {
		return raw, false
	}
	isMessage := false
	for _, f := range fields {
		switch f.name {
		case "id", "messageId", "MessageID":
			var id string
			isMessage = isMessage || json.Unmarshal(f.value, &id) == nil && id == string(c.id)
		}
	}
	for i, f := range fields {
		if to := c.blankValue(f); isMessage && to != nil {
			changed = changed || !bytes.Equal(to, f.value)
			fields[i].value = to
			continue
		}
		var one bool
		fields[i].value, one = c.eraseValue(f.name, f.value)
		changed = changed || one
	}
	if !changed {
		return raw, false
	}
	var b bytes.Buffer
	for i, f := range fields {
		b.WriteByte("{,"[min(i, 1)])
		name, err := shoal.EncodeJSON(f.name)
		if err != nil {
			return raw, false
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(f.value)
	}
	b.WriteByte('}')
	return b.Bytes(), true
}

// blankValue returns the value that replaces a field of an object about the message, or nil
// for a field that stays.
func (c *copyEraser) blankValue(f field) json.RawMessage {
	switch f.name {
	case "deletedAt":
		return c.at
	case "parts", "mentions", "droppedMentions", "text", "content", "delta", "messageContent", "MessageContent", "args", "editedArgs", "result", "question", "answer":
	default:
		return nil
	}
	switch f.value[0] {
	case '"':
		return json.RawMessage(`""`)
	case '[':
		return json.RawMessage(`[]`)
	case '{':
		return json.RawMessage(`{}`)
	}
	return json.RawMessage(`null`)
}

// parseFields parses the fields of an object in order.
func parseFields(raw json.RawMessage) (out []field, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		f := field{name: name.(string)}
		if err := d.Decode(&f.value); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// readableFields are the names of fields whose texts people or models read.
var readableFields = map[string]bool{"text": true, "content": true, "Text": true, "messageContent": true, "MessageContent": true, "delta": true}

// eraseText erases the copies in the text of a key.
func (c *copyEraser) eraseText(key, text string) string {
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
		case strings.TrimSpace(text) == known && (readableFields[key] || len(known) >= minLongText), len(short) >= minLongText && strings.Contains(known, short):
			return erasedText
		case len(known) >= minLongText:
			text = strings.ReplaceAll(text, known, erasedText)
		}
	}
	return text
}

// eraseElements erases the content of the elements of a prompt that show the message.
func (c *copyEraser) eraseElements(text string) string {
	opening, end := `<message id="`+string(c.id)+`"`, "</message>"
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
			return text[:from] + erasedText
		}
		text = text[:from] + text[from:from+begin+1] + erasedText + text[from+until:]
		from += begin + 1
	}
}
