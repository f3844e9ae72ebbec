package agent

import (
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
)

// maxSchemaBytes limits the work of compiling, in which a part that is referenced is
// read once for each spelling of its reference.
const maxSchemaBytes = 2 << 20

var toolNames = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// checkSpec returns an error about a tool's spec. It does not check the content of the
// schema, which [compileSchema] reads.
func checkSpec(spec ToolSpec) error {
	if !toolNames.MatchString(spec.Name) {
		return Invalid("tool", fmt.Sprintf("%q needs a name of 1 to 64 characters from [A-Za-z0-9_-]", spec.Name))
	}
	if spec.Question && !spec.External {
		return Invalid("tool", spec.Name+" is a question and so has to be external")
	}
	if len(spec.Schema) > 0 {
		var root struct {
			Type any `json:"type"`
		}
		if err := json.Unmarshal(spec.Schema, &root); err != nil || (root.Type != nil && root.Type != "object") {
			return Invalid("tool", spec.Name+` needs the schema of an object: {"type":"object","properties":{…}}`)
		}
	}
	return nil
}

// argumentSchema is the schema of an object that a model writes: the arguments of a
// call, or an answer.
type argumentSchema struct {
	*Schema
	label string // what errors call the object
}

// compileSchema compiles the schema of the tool called name; an empty schema accepts
// any object.
func compileSchema(name string, raw json.RawMessage) (*argumentSchema, error) {
	if len(raw) == 0 {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	s, err := toolSchemas.compile(raw)
	if wrong, ok := errors.AsType[*Error](err); ok {
		return nil, Invalid("tool", fmt.Sprintf("%s has a schema that cannot be used: %s", name, wrong.Msg))
	}
	return &argumentSchema{Schema: s, label: "arguments"}, nil
}

// check is [Schema.Check] for an object. An empty text counts as {}.
func (s *argumentSchema) check(text string) error {
	if strings.TrimSpace(text) == "" {
		text = "{}"
	}
	value, err := parseJSON(s.label, text)
	if err != nil {
		return err
	}
	if _, ok := value.(map[string]any); !ok {
		return fmt.Errorf("%s: must be object, not %s", s.label, typeOf(value))
	}
	return s.judge(s.label, value)
}

// Schema is a JSON Schema (2020-12, or draft 7) that values are checked against,
// such as those that a model writes. It is safe for concurrent use and does not
// change.
//
// All keywords that restrict a value are checked except the following, which may be
// sent to a model but refuse nothing: format, contentEncoding, contentMediaType,
// contentSchema, unevaluatedItems, unevaluatedProperties, and a pattern that Go's
// regexp cannot express. Unknown keywords are ignored. References must point into the
// same schema (#/$defs/name); references to anchors or other documents are refused when
// the schema is compiled, and nothing is ever loaded.
//
// Numbers are compared as float64.
type Schema struct {
	root     *jsonschema.Schema
	document any                           // the schema as JSON, for references
	refs     map[string]*jsonschema.Schema // by reference, such as #/$defs/name
	patterns map[string]*regexp.Regexp     // nil where Go cannot express the pattern
	bytes    int                           // read so far
}

// CompileSchema compiles a schema. It checks only what [Schema.Check] needs, not the
// meta-schema: minLength may be negative. A schema may nest 100 levels deep and have
// 2 MiB; referenced parts count again for each reference. The error is of kind
// ErrInvalidArgument with one field: the path of the invalid part, which begins with
// name (name.properties.size).
func CompileSchema(name string, raw json.RawMessage) (*Schema, error) {
	s := &Schema{refs: map[string]*jsonschema.Schema{}, patterns: map[string]*regexp.Regexp{}}
	var err error
	if s.document, err = parseJSON(name, string(raw)); err != nil {
		return nil, Invalid(name, "is not usable JSON: "+err.Error())
	}
	if s.root, err = s.read(s.document, name); err != nil {
		return nil, err
	}
	if err := s.prepare(s.root, name, name); err != nil {
		return nil, err
	}
	judged := map[*jsonschema.Schema]bool{}
	for _, schema := range append(slices.Collect(maps.Values(s.refs)), s.root) {
		if s.endless(schema, judged) {
			return nil, Invalid(name, "refers to itself without end")
		}
	}
	return s, nil
}

// read reads the schema at a path.
func (s *Schema) read(document any, at string) (*jsonschema.Schema, error) {
	schema, ok := s.decode(document)
	if s.bytes > maxSchemaBytes {
		return nil, Invalid(at, fmt.Sprintf("is too large: %d bytes are read of a schema, and what references name counts again", maxSchemaBytes))
	}
	if !ok {
		place, v := s.misfit(document, at)
		return nil, Invalid(place, "cannot be "+quote(v))
	}
	return schema, nil
}

// prepare checks the schema at a path of the one called name, and everything below
// it, compiles its patterns and resolves its references.
func (s *Schema) prepare(schema *jsonschema.Schema, name, at string) error {
	if schema == nil {
		return Invalid(at, "is null")
	}
	for _, t := range typesOf(schema) {
		if !slices.Contains([]string{"object", "array", "string", "number", "integer", "boolean", "null"}, t) {
			return Invalid(at, fmt.Sprintf("has the unknown type %q", t))
		}
	}
	if schema.DynamicRef != "" {
		return Invalid(at, "has a $dynamicRef, which is not supported")
	}
	for _, pattern := range append(slices.Collect(maps.Keys(schema.PatternProperties)), schema.Pattern) {
		compiled, err := regexp.Compile(pattern)
		if wrong, ok := errors.AsType[*syntax.Error](err); ok && wrong.Code != syntax.ErrInvalidPerlOp &&
			wrong.Code != syntax.ErrInvalidEscape && wrong.Code != syntax.ErrInvalidCharRange {
			return Invalid(at, "has a pattern that cannot be used: "+err.Error())
		}
		s.patterns[pattern] = compiled
	}
	if ref := schema.Ref; ref != "" && s.refs[ref] == nil {
		target, place, ok := s.lookUp(ref, name)
		if !ok {
			return Invalid(at, fmt.Sprintf("has the reference %q, which names nothing: use one such as #/$defs/name", ref))
		}
		var err error
		if s.refs[ref], err = s.read(target, place); err != nil {
			return err
		}
		if err := s.prepare(s.refs[ref], name, place); err != nil {
			return err
		}
	}
	for _, part := range slices.Concat(sameValue(schema), innerValues(schema)) {
		if err := s.prepare(part.schema, name, at+part.place); err != nil {
			return err
		}
	}
	return nil
}

// lookUp finds what a reference within the document names, and its path.
func (s *Schema) lookUp(ref, path string) (target any, at string, ok bool) {
	pointer, local := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(pointer)
	if !local || err != nil || (pointer != "" && pointer[0] != '/') {
		return nil, "", false
	}
	target, at = s.document, path
	for i, name := range strings.Split(pointer, "/") {
		if i == 0 {
			continue // the empty text before the first slash
		}
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		switch in := target.(type) {
		case map[string]any:
			target, at = in[name], propertyPath(at, name)
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return nil, "", false
			}
			target, at = in[i], at+"["+strconv.Itoa(i)+"]"
		default:
			return nil, "", false
		}
	}
	return target, at, target != nil
}

// endless reports whether checking a value against schema would lead to schema again
// without descending into the value. judged holds the schemas that are being checked
// (true) and those that were found to end (false).
func (s *Schema) endless(schema *jsonschema.Schema, judged map[*jsonschema.Schema]bool) bool {
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

// schemaPart is a schema within another one, with its path there.
type schemaPart struct {
	place  string // such as .properties.size
	schema *jsonschema.Schema
}

// sameValue returns the parts of schema that apply to the value itself.
func sameValue(schema *jsonschema.Schema) []schemaPart {
	var parts []schemaPart
	for name, s := range map[string]*jsonschema.Schema{"not": schema.Not, "if": schema.If, "then": schema.Then, "else": schema.Else} {
		if s != nil {
			parts = append(parts, schemaPart{"." + name, s})
		}
	}
	parts = listParts(parts, "allOf", schema.AllOf)
	parts = listParts(parts, "anyOf", schema.AnyOf)
	parts = listParts(parts, "oneOf", schema.OneOf)
	parts = mapParts(parts, "dependentSchemas", schema.DependentSchemas)
	return mapParts(parts, "dependencies", schema.DependencySchemas)
}

// innerValues returns the parts of schema that apply to the elements of the value.
func innerValues(schema *jsonschema.Schema) []schemaPart {
	var parts []schemaPart
	for name, s := range map[string]*jsonschema.Schema{
		"items": schema.Items, "additionalItems": schema.AdditionalItems, "contains": schema.Contains,
		"additionalProperties": schema.AdditionalProperties, "propertyNames": schema.PropertyNames,
	} {
		if s != nil {
			parts = append(parts, schemaPart{"." + name, s})
		}
	}
	parts = listParts(parts, "prefixItems", schema.PrefixItems)
	parts = listParts(parts, "items", schema.ItemsArray)
	parts = mapParts(parts, "properties", schema.Properties)
	return mapParts(parts, "patternProperties", schema.PatternProperties)
}

func listParts(parts []schemaPart, name string, list []*jsonschema.Schema) []schemaPart {
	for i, s := range list {
		parts = append(parts, schemaPart{"." + name + "[" + strconv.Itoa(i) + "]", s})
	}
	return parts
}

func mapParts(parts []schemaPart, name string, m map[string]*jsonschema.Schema) []schemaPart {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, schemaPart{propertyPath("."+name, key), m[key]})
	}
	return parts
}

func typesOf(schema *jsonschema.Schema) []string {
	if schema.Type != "" {
		return []string{schema.Type}
	}
	return schema.Types
}
