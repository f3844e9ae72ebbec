package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxJSONDepth limits the nesting of arguments and schemas.
const maxJSONDepth = 100

// parseJSON reads one JSON value: objects as map[string]any, numbers as float64.
// Unlike encoding/json it refuses an object with a duplicate property, because parsers
// disagree on which one counts. label is the name of the value in errors.
func parseJSON(label, text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	value, err := readValue(dec, label, 0)
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			return value, nil
		}
	}
	// If the text is not JSON, that error takes precedence over those found before it.
	if err := notJSON(label, text); err != nil {
		return nil, err
	}
	return nil, err
}

// notJSON returns an error that names the offset where a text ceases to be one JSON
// value; nil if it is one.
func notJSON(label, text string) error {
	err := json.Unmarshal([]byte(text), new(json.RawMessage))
	if err == nil {
		return nil
	}
	wrong, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return fmt.Errorf("%s: not valid JSON: %w", label, err)
	}
	end := min(int(wrong.Offset), len(text))
	near := strings.ToValidUTF8(text[max(0, end-24):end], "")
	return fmt.Errorf("%s: not valid JSON at byte %d, after %q: %w", label, end, near, err)
}

// readValue reads the next value and nothing after it.
func readValue(dec *json.Decoder, path string, depth int) (any, error) {
	if depth > maxJSONDepth {
		return nil, fmt.Errorf("%s: nested more than %d deep", path, maxJSONDepth)
	}
	token, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	switch token {
	case json.Delim('{'):
		object := map[string]any{}
		for dec.More() {
			token, err := dec.Token()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			name, _ := token.(string)
			at := propertyPath(path, name)
			if _, twice := object[name]; twice {
				return nil, fmt.Errorf("%s: is given twice", at)
			}
			if object[name], err = readValue(dec, at, depth+1); err != nil {
				return nil, err
			}
		}
		_, err := dec.Token()
		return object, err
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			item, err := readValue(dec, path+"["+strconv.Itoa(len(list))+"]", depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err := dec.Token()
		return list, err
	}
	return token, nil
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_$-]{1,64}$`)

// propertyPath appends a property's name to path. It quotes a name that would be
// ambiguous and truncates a long one.
func propertyPath(path, name string) string {
	if plainName.MatchString(name) {
		return path + "." + name
	}
	return path + "[" + quote(name) + "]"
}

// quote renders a value as JSON, truncated to a length that suits an error.
func quote(v any) string {
	text, _ := json.Marshal(v)
	if len(text) > 80 {
		return strings.ToValidUTF8(string(text[:77]), "") + "…"
	}
	return string(text)
}

func (s *Schema) decode(document any) (schema *jsonschema.Schema, ok bool) {
	raw, err := json.Marshal(document)
	s.bytes += len(raw)
	schema = new(jsonschema.Schema)
	return schema, err == nil && document != nil && json.Unmarshal(raw, schema) == nil
}

// readable reports whether a part is a schema. Once enough has been read it reports true
// for every part, so that [Schema.misfit] ends.
func (s *Schema) readable(part any) bool {
	if s.bytes > maxSchemaBytes {
		return true
	}
	_, ok := s.decode(part)
	return ok
}

var (
	mapsOfSchemas  = []string{"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
	listsOfSchemas = []string{"allOf", "anyOf", "items", "oneOf", "prefixItems"}
)

// misfit finds the smallest part of a schema that is not readable, and its path, because
// the library's own error mentions its internals. In a large schema it may find a larger
// part.
func (s *Schema) misfit(v any, at string) (path string, part any) {
	schema, _ := v.(map[string]any)
	for _, keyword := range slices.Sorted(maps.Keys(schema)) {
		value, place := schema[keyword], propertyPath(at, keyword)
		if s.readable(map[string]any{keyword: value}) {
			continue
		}
		if list, ok := value.([]any); ok && slices.Contains(listsOfSchemas, keyword) {
			if i := slices.IndexFunc(list, func(v any) bool { return !s.readable(v) }); i >= 0 {
				return s.misfit(list[i], place+"["+strconv.Itoa(i)+"]")
			}
		}
		in, ok := value.(map[string]any)
		if ok && !slices.Contains(mapsOfSchemas, keyword) {
			return s.misfit(in, place)
		}
		for _, name := range slices.Sorted(maps.Keys(in)) {
			if !s.readable(in[name]) {
				return s.misfit(in[name], propertyPath(place, name))
			}
		}
		return place, value
	}
	return at, v
}

// encodeJSON is [json.Marshal] without the escapes that only HTML needs, so that JSON
// within JSON stays the same bytes.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
