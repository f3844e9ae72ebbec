package storage

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
)

// recordTimeLayout is the layout of a time in an export, with every digit that is stored.
const recordTimeLayout = "2006-01-02T15:04:05.000000Z"

// maxRecordDepth is the maximum nesting depth of the JSON of a line.
const maxRecordDepth = 256

// Append appends the line of a record to b, with the line break.
func (t *RecordType) Append(b []byte, values []any) ([]byte, error) {
	b = append(b, `{"type":"`...)
	b = append(b, t.Name...)
	b = append(b, '"')
	for i, f := range t.Fields {
		b = append(b, `,"`...)
		b = append(b, f.Name...)
		b = append(b, `":`...)
		var err error
		if b, err = appendValue(b, values[i]); err != nil {
			return b, fmt.Errorf("hub: the field %q of a %s: %w", f.Name, t.Name, err)
		}
	}
	return append(b, '}', '\n'), nil
}

func appendValue(b []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(b, "null"...), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case shoal.Time:
		return v.UTC().AppendFormat(b, `"`+recordTimeLayout+`"`), nil
	case []byte:
		b = append(b, '"')
		b = base64.StdEncoding.AppendEncode(b, v)
		return append(b, '"'), nil
	case json.RawMessage:
		if !bytes.ContainsAny(v, "\r\n") {
			return append(b, v...), nil // byte for byte, unless it contains line breaks
		}
		var flat bytes.Buffer
		if err := json.Compact(&flat, v); err != nil {
			return b, err
		}
		return append(b, flat.Bytes()...), nil
	case string, float64, []shoal.EntityID:
		text, err := shoal.EncodeJSON(v)
		return append(b, text...), err
	}
	return b, fmt.Errorf("contains a %T", value)
}

// Parse reads a line of this type. The error says in a sentence what is wrong.
func (t *RecordType) Parse(line []byte) ([]any, error) {
	members, err := MembersOf(line)
	if err != nil {
		return nil, err
	}
	values := make([]any, len(t.Fields))
	for i, f := range t.Fields {
		raw, found := members[f.Name]
		if !found && f.Absent != nil {
			raw, found = f.Absent, true
		}
		if !found {
			return nil, fmt.Errorf("the field %q is missing", f.Name)
		}
		if values[i], err = f.parse(raw); err == nil {
			err = f.Bound.check(f, values[i])
		}
		if err != nil {
			return nil, fmt.Errorf("the field %q %w", f.Name, err)
		}
	}
	for name := range members {
		if name != "type" && !slices.ContainsFunc(t.Fields, func(f RecordField) bool { return f.Name == name }) {
			return nil, fmt.Errorf("a %s has no field %q", t.Name, name)
		}
	}
	return values, nil
}

// MembersOf returns the members of a JSON object by name. It rejects duplicate names and an
// object whose first member is not "type".
func MembersOf(line []byte) (map[string]json.RawMessage, error) {
	switch {
	case !utf8.Valid(line):
		return nil, errors.New("it is not valid UTF-8")
	case shoal.JSONDepth(line) > maxRecordDepth:
		return nil, fmt.Errorf("its JSON nests deeper than %d levels", maxRecordDepth)
	case !json.Valid(line):
		return nil, errors.New("it is not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("it is not a JSON object")
	}
	members := map[string]json.RawMessage{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		if _, twice := members[name]; twice {
			return nil, fmt.Errorf("the field %q occurs twice", name)
		}
		if len(members) == 0 && name != "type" {
			return nil, errors.New("its first field is not \"type\"")
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, err
		}
		members[name] = raw
	}
	return members, nil
}

// parse reads a value of the field.
func (f RecordField) parse(raw json.RawMessage) (any, error) {
	if string(raw) == "null" && f.Kind != RecordJSON {
		if !f.Null {
			return nil, errors.New("is null")
		}
		return nil, nil
	}
	switch f.Kind {
	case RecordID, RecordText, RecordLine:
		return f.parseText(raw)
	case RecordInt:
		return ParseAs[int64](raw, "a whole number")
	case RecordReal:
		return ParseAs[float64](raw, "a number")
	case RecordBool:
		return ParseAs[bool](raw, "true or false")
	case RecordTime:
		s, err := ParseAs[string](raw, "a time")
		if err != nil {
			return nil, err
		}
		at, err := time.Parse(recordTimeLayout, s)
		if err != nil {
			return nil, fmt.Errorf("is not a time such as %s", recordTimeLayout)
		}
		return shoal.At(at), nil
	case RecordIDs:
		ids, err := ParseAs[[]shoal.EntityID](raw, "a list of ids")
		for _, id := range ids {
			if why := checkRecordID(string(id)); why != nil {
				return nil, why
			}
		}
		return ids, err
	case RecordBytes:
		data, err := ParseAs[[]byte](raw, "base64")
		if err == nil && data == nil {
			data = []byte{}
		}
		return data, err
	}
	return f.parseJSON(raw)
}

// ParseAs decodes a JSON value. The error says that the value is not what, such as "a
// number".
func ParseAs[T any](raw json.RawMessage, what string) (v T, err error) {
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("is not %s", what)
	}
	return v, nil
}

func (f RecordField) parseText(raw json.RawMessage) (any, error) {
	s, err := ParseAs[string](raw, "a string")
	switch {
	case err != nil:
		return nil, err
	case bytes.IndexByte([]byte(s), 0) >= 0:
		return nil, errors.New("contains the character U+0000")
	case f.Kind == RecordID:
		return s, checkRecordID(s)
	case f.Of != nil && !slices.Contains(f.Of, s):
		return nil, fmt.Errorf("is %q and not one of %q", Shorten(s), f.Of)
	case f.Kind == RecordLine && slices.ContainsFunc([]rune(s), unicode.IsControl):
		return nil, errors.New("contains control characters")
	}
	return s, nil
}

// parseJSON reads JSON. Null means no value where the field may be null.
func (f RecordField) parseJSON(raw json.RawMessage) (any, error) {
	if f.Null && string(raw) == "null" {
		return nil, nil
	}
	if f.Check != nil {
		if err := f.Check(raw); err != nil {
			return nil, fmt.Errorf("cannot be read: %w", err)
		}
	}
	return raw, nil
}

// checkRecordID returns an error if a text is not an id.
func checkRecordID(s string) error {
	if err := shoal.CheckID("id", s); err != nil && s != string(shoal.System) {
		return fmt.Errorf("is not an id: %q", Shorten(s))
	}
	return nil
}

// Shorten shortens a text that an error message quotes.
func Shorten(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
