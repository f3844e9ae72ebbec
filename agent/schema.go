package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/shoal-dev/shoal"
)

// maxJSONDepth bounds the nesting of arguments and schemas.
const maxJSONDepth = 100

var toolNames = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// checkSpec says what is wrong with a tool's spec, its schema's content aside,
// which [compileSchema] reads.
func checkSpec(spec ToolSpec) error {
	if !toolNames.MatchString(spec.Name) {
		return shoal.Invalid("tool", fmt.Sprintf("%q needs a name of 1 to 64 characters from [A-Za-z0-9_-]", spec.Name))
	}
	if spec.Question && !spec.External {
		return shoal.Invalid("tool", spec.Name+" is a question and so has to be external")
	}
	if len(spec.Schema) > 0 {
		var root struct {
			Type any `json:"type"`
		}
		if err := json.Unmarshal(spec.Schema, &root); err != nil || (root.Type != nil && root.Type != "object") {
			return shoal.Invalid("tool", spec.Name+` needs the schema of an object: {"type":"object","properties":{…}}`)
		}
	}
	return nil
}

// argumentSchema checks what a model wrote against a JSON Schema. It is safe for
// concurrent use.
type argumentSchema struct {
	label    string // what errors call the value: arguments
	root     *jsonschema.Schema
	document any                           // the schema as JSON, for references
	refs     map[string]*jsonschema.Schema // by reference, such as #/$defs/name
	patterns map[string]*regexp.Regexp     // nil where Go cannot express the pattern
}

// compileSchema reads the schema of the tool called name; an empty one is that
// of any object.
func compileSchema(name string, raw json.RawMessage) (*argumentSchema, error) {
	if len(raw) == 0 {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	s := &argumentSchema{label: "arguments", refs: map[string]*jsonschema.Schema{}, patterns: map[string]*regexp.Regexp{}}
	if err := s.compile(raw); err != nil {
		return nil, shoal.Invalid("tool", fmt.Sprintf("%s has a schema that cannot be used: %v", name, err))
	}
	return s, nil
}

func (s *argumentSchema) compile(raw json.RawMessage) (err error) {
	if s.document, err = parseJSON("schema", string(raw)); err != nil {
		return err
	}
	if s.root, err = readSchema(s.document); err != nil {
		return err
	}
	if err := s.prepare(s.root, "#"); err != nil {
		return err
	}
	judged := map[*jsonschema.Schema]bool{}
	for _, schema := range append(slices.Collect(maps.Values(s.refs)), s.root) {
		if s.endless(schema, judged) {
			return errors.New("it refers to itself without end")
		}
	}
	return nil
}

func readSchema(document any) (*jsonschema.Schema, error) {
	raw, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	schema := new(jsonschema.Schema)
	return schema, json.Unmarshal(raw, schema)
}

// prepare checks schema and everything below it, compiles its patterns and
// resolves its references.
func (s *argumentSchema) prepare(schema *jsonschema.Schema, at string) error {
	if schema == nil {
		return fmt.Errorf("%s is null", at)
	}
	for _, t := range typesOf(schema) {
		if !slices.Contains([]string{"object", "array", "string", "number", "integer", "boolean", "null"}, t) {
			return fmt.Errorf("%s has the unknown type %q", at, t)
		}
	}
	if schema.DynamicRef != "" {
		return fmt.Errorf("%s has a $dynamicRef, which is not supported", at)
	}
	for _, pattern := range append(slices.Collect(maps.Keys(schema.PatternProperties)), schema.Pattern) {
		compiled, err := regexp.Compile(pattern)
		if wrong, ok := errors.AsType[*syntax.Error](err); ok && wrong.Code != syntax.ErrInvalidPerlOp &&
			wrong.Code != syntax.ErrInvalidEscape && wrong.Code != syntax.ErrInvalidCharRange {
			return fmt.Errorf("%s: %w", at, err)
		}
		s.patterns[pattern] = compiled
	}
	if ref := schema.Ref; ref != "" && s.refs[ref] == nil {
		target, err := s.lookUp(ref)
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		s.refs[ref] = target
		if err := s.prepare(target, ref); err != nil {
			return err
		}
	}
	for _, part := range slices.Concat(sameValue(schema), innerValues(schema)) {
		if err := s.prepare(part.schema, at+"/"+part.name); err != nil {
			return err
		}
	}
	return nil
}

// lookUp finds the schema that a reference within the document names.
func (s *argumentSchema) lookUp(ref string) (*jsonschema.Schema, error) {
	unknown := fmt.Errorf("the reference %q names nothing: use one such as #/$defs/name", ref)
	pointer, local := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(pointer)
	if !local || err != nil || (pointer != "" && pointer[0] != '/') {
		return nil, unknown
	}
	at := s.document
	for i, name := range strings.Split(pointer, "/") {
		if i == 0 {
			continue // what stands before the first slash: nothing
		}
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		switch in := at.(type) {
		case map[string]any:
			at = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return nil, unknown
			}
			at = in[i]
		default:
			return nil, unknown
		}
	}
	if at == nil {
		return nil, unknown
	}
	return readSchema(at)
}

// endless reports whether judging one value by schema would come to schema
// again. judged holds what is being judged (true) and what was found well.
func (s *argumentSchema) endless(schema *jsonschema.Schema, judged map[*jsonschema.Schema]bool) bool {
	if open, seen := judged[schema]; seen {
		return open
	}
	judged[schema] = true
	defer func() { judged[schema] = false }()
	if schema.Ref != "" && s.endless(s.refs[schema.Ref], judged) {
		return true
	}
	return slices.ContainsFunc(sameValue(schema), func(p schemaPart) bool { return s.endless(p.schema, judged) })
}

// schemaPart is a schema within another one, with its place there.
type schemaPart struct {
	name   string
	schema *jsonschema.Schema
}

// sameValue returns the parts of schema that judge the value itself.
func sameValue(schema *jsonschema.Schema) []schemaPart {
	var parts []schemaPart
	for name, s := range map[string]*jsonschema.Schema{"not": schema.Not, "if": schema.If, "then": schema.Then, "else": schema.Else} {
		if s != nil {
			parts = append(parts, schemaPart{name, s})
		}
	}
	parts = listParts(parts, "allOf", schema.AllOf)
	parts = listParts(parts, "anyOf", schema.AnyOf)
	parts = listParts(parts, "oneOf", schema.OneOf)
	parts = mapParts(parts, "dependentSchemas", schema.DependentSchemas)
	return mapParts(parts, "dependencies", schema.DependencySchemas)
}

// innerValues returns the parts of schema that judge what the value holds.
func innerValues(schema *jsonschema.Schema) []schemaPart {
	var parts []schemaPart
	for name, s := range map[string]*jsonschema.Schema{
		"items": schema.Items, "additionalItems": schema.AdditionalItems, "contains": schema.Contains,
		"additionalProperties": schema.AdditionalProperties, "propertyNames": schema.PropertyNames,
	} {
		if s != nil {
			parts = append(parts, schemaPart{name, s})
		}
	}
	parts = listParts(parts, "prefixItems", schema.PrefixItems)
	parts = listParts(parts, "items", schema.ItemsArray)
	parts = mapParts(parts, "properties", schema.Properties)
	return mapParts(parts, "patternProperties", schema.PatternProperties)
}

func listParts(parts []schemaPart, name string, list []*jsonschema.Schema) []schemaPart {
	for i, s := range list {
		parts = append(parts, schemaPart{name + "/" + strconv.Itoa(i), s})
	}
	return parts
}

func mapParts(parts []schemaPart, name string, m map[string]*jsonschema.Schema) []schemaPart {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, schemaPart{name + "/" + key, m[key]})
	}
	return parts
}

func typesOf(schema *jsonschema.Schema) []string {
	if schema.Type != "" {
		return []string{schema.Type}
	}
	return schema.Types
}

// parseJSON reads one JSON value: objects as map[string]any, numbers as float64.
// Unlike encoding/json alone it refuses a property that is given twice, since
// readers disagree on which one counts. label is what errors call the value.
func parseJSON(label, text string) (any, error) {
	raw := []byte(text)
	if !json.Valid(raw) {
		err := json.Unmarshal(raw, new(json.RawMessage)) // which says where
		wrong, ok := errors.AsType[*json.SyntaxError](err)
		if !ok {
			return nil, fmt.Errorf("%s: not valid JSON: %w", label, err)
		}
		end := min(int(wrong.Offset), len(text))
		near := strings.ToValidUTF8(text[max(0, end-24):end], "")
		return nil, fmt.Errorf("%s: not valid JSON at byte %d, after %q: %w", label, end, near, err)
	}
	return readValue(json.NewDecoder(bytes.NewReader(raw)), label, 0)
}

// readValue reads the next value of text that is known to be JSON.
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

// propertyPath is path with a property's name, which is quoted where it would be
// unclear and cut where it is long.
func propertyPath(path, name string) string {
	if plainName.MatchString(name) {
		return path + "." + name
	}
	return path + "[" + quote(name) + "]"
}

// quote renders a value as JSON that is short enough for an error.
func quote(v any) string {
	text, _ := json.Marshal(v)
	if len(text) > 80 {
		return strings.ToValidUTF8(string(text[:77]), "") + "…"
	}
	return string(text)
}
