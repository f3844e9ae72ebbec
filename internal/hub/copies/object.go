package copies

import (
	"bytes"
	"encoding/json"

	"github.com/shoal-dev/shoal"
)

// field is a field of an object. The order of the fields is preserved, so that a text that
// a model has read before does not change.
type field struct {
	name  string
	value json.RawMessage
}

// eraseObject erases the copies in a JSON object. If the object is about the message, it
// also clears the fields with its content.
func (c *Eraser) eraseObject(raw json.RawMessage) (out json.RawMessage, changed bool) {
	fields, err := parseFields(raw)
	if err != nil {
		return raw, false
	}
	isMessage := false
	for _, f := range fields {
		switch f.name {
		case "id", "messageId", "MessageID", "callId", "toolCallId":
			isMessage = isMessage || c.names(f.value, raw)
		}
	}
	changed = c.person.eraseFields(fields)
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
func (c *Eraser) blankValue(f field) json.RawMessage {
	switch f.name {
	case "deletedAt":
		if string(f.value) != "null" {
			return nil // it was deleted before
		}
		return c.at
	case "parts", "mentions", "droppedMentions", "text", "content", "delta", "messageContent", "MessageContent", "args", "editedArgs", "result", "question", "answer", "reason", "ask":
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
