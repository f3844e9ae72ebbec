package agent

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// deriver derives the schema of one type. Types that contain themselves, and unions, are
// definitions below $defs: all providers accept that, and a schema cannot nest forever.
type deriver struct {
	known map[reflect.Type]*jsonschema.Schema // what does not follow from a type's fields
	edges map[reflect.Type][]reflect.Type     // the types that a type directly contains
	defs  []reflect.Type
	names map[string]bool
}

// deriveSchema derives the schema of an object from the type that it decodes into.
func deriveSchema(t reflect.Type) (json.RawMessage, error) {
	if t.Kind() != reflect.Struct && (t.Kind() != reflect.Map || t.Key().Kind() != reflect.String) {
		return nil, fmt.Errorf("%v is not an object in JSON: use a struct", t)
	}
	d := &deriver{known: map[reflect.Type]*jsonschema.Schema{}, edges: map[reflect.Type][]reflect.Type{}, names: map[string]bool{}}
	d.learn(t)
	d.define()
	s, err := d.body(t)
	if err != nil {
		return nil, err
	}
	if s.Type != "object" {
		return nil, fmt.Errorf("%v is not an object in JSON: use a struct", t)
	}
	for _, def := range d.defs {
		body, err := d.body(def)
		if err != nil {
			return nil, err
		}
		if s.Defs == nil {
			s.Defs = map[string]*jsonschema.Schema{}
		}
		s.Defs[d.known[def].Ref[len(defsPrefix):]] = body
	}
	loosen(s)
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	return json.Marshal(s)
}

const defsPrefix = "#/$defs/"

// learn finds the types within t and those whose JSON form does not follow from their
// fields.
func (d *deriver) learn(t reflect.Type) {
	if _, seen := d.edges[t]; seen {
		return
	}
	d.edges[t] = nil
	var within []reflect.Type
	switch p := reflect.PointerTo(t); {
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface:
	case isUnion(t):
		d.defs = append(d.defs, t)
		for _, v := range variantsOf(t) {
			within = append(within, v.fields)
		}
	case t == reflect.TypeFor[time.Time]():
		d.known[t] = &jsonschema.Schema{Type: "string", Format: "date-time"}
		return
	case p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		d.known[t] = &jsonschema.Schema{Type: "string"}
		return
	case p.Implements(reflect.TypeFor[json.Unmarshaler]()):
		d.known[t] = &jsonschema.Schema{}
		return
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		d.known[t] = &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		within = append(within, t.Elem())
	case reflect.Struct:
		if isUnion(t) {
			break
		}
		for _, field := range reflect.VisibleFields(t) {
			if field.IsExported() || field.Anonymous {
				within = append(within, field.Type)
			}
		}
	}
	d.edges[t] = within
	for _, inner := range within {
		d.learn(inner)
	}
}

// define makes a definition of every union and of every type that contains itself other
// than through a union.
func (d *deriver) define() {
	var loops []reflect.Type
	for t := range d.edges {
		if t.Name() != "" && d.known[t] == nil && !isUnion(t) && d.leads(t, t, false) {
			loops = append(loops, t)
		}
	}
	slices.SortFunc(loops, func(a, b reflect.Type) int { // names must not change from run to run
		return slices.Compare([]string{a.Name(), a.PkgPath()}, []string{b.Name(), b.PkgPath()})
	})
	d.defs = append(d.defs, loops...)
	for _, t := range d.defs {
		d.known[t] = &jsonschema.Schema{Ref: defsPrefix + d.name(t)}
	}
}

// leads reports whether values of the type from contain values of the type to, also through
// unions if these count.
func (d *deriver) leads(from, to reflect.Type, unions bool) bool {
	seen := map[reflect.Type]bool{}
	var search func(t reflect.Type) bool
	search = func(t reflect.Type) bool {
		if isUnion(t) && !unions {
			return false
		}
		return slices.ContainsFunc(d.edges[t], func(inner reflect.Type) bool {
			if inner == to || seen[inner] {
				return inner == to
			}
			seen[inner] = true
			return search(inner)
		})
	}
	return search(from)
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// name returns a name of the definition of a type that no other one has.
func (d *deriver) name(t reflect.Type) string {
	if isUnion(t) {
		t = unionOf(t)
	}
	base := notInNames.ReplaceAllString(t.Name(), "_")
	name := base
	for n := 2; d.names[name]; n++ {
		name = base + strconv.Itoa(n)
	}
	d.names[name] = true
	return name
}

// body returns the schema of a type itself, also of one that is a definition.
func (d *deriver) body(t reflect.Type) (*jsonschema.Schema, error) {
	opts := &jsonschema.ForOptions{TypeSchemas: d.known}
	switch {
	case isUnion(t):
		return d.anyOf(t)
	case d.known[t] == nil || d.known[t].Ref == "":
		return jsonschema.ForType(t, opts)
	case t.Kind() == reflect.Slice:
		return jsonschema.ForType(reflect.SliceOf(t.Elem()), opts)
	case t.Kind() == reflect.Map:
		return jsonschema.ForType(reflect.MapOf(t.Key(), t.Elem()), opts)
	case t.Kind() != reflect.Struct:
		return nil, fmt.Errorf("%v contains itself, which only a struct, a slice or a map may do", t)
	}
	s, err := jsonschema.ForType(reflect.StructOf(plainFields(t)), opts)
	if err != nil {
		return nil, err
	}
	for _, field := range plainFields(t) {
		many := field.Type.Kind() == reflect.Slice || field.Type.Kind() == reflect.Map
		if many && (field.Type.Elem() == t || d.leads(field.Type.Elem(), t, true)) {
			s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return name == jsonName(field) })
		}
	}
	return s, nil
}

// anyOf returns the schema of a union: one object for each of its types, with the name of
// the type as its first property.
func (d *deriver) anyOf(t reflect.Type) (*jsonschema.Schema, error) {
	variants := variantsOf(t)
	if len(variants) == 0 {
		return nil, fmt.Errorf("%v has no types yet: call RegisterOneOf before", unionOf(t))
	}
	out := &jsonschema.Schema{}
	for _, v := range variants {
		s, err := d.body(v.fields)
		if err != nil {
			return nil, err
		}
		if s.Properties == nil {
			s.Properties = map[string]*jsonschema.Schema{}
		}
		s.Properties[typeProperty] = &jsonschema.Schema{Type: "string", Enum: []any{v.name}}
		s.PropertyOrder = append([]string{typeProperty}, s.PropertyOrder...)
		s.Required = append([]string{typeProperty}, s.Required...)
		out.AnyOf = append(out.AnyOf, s)
	}
	return out, nil
}

// plainFields returns the exported fields of a struct, with those of embedded structs in
// their place, as fields of a struct without a name.
func plainFields(t reflect.Type) []reflect.StructField {
	var out []reflect.StructField
	for _, field := range reflect.VisibleFields(t) {
		if field.IsExported() && !field.Anonymous {
			out = append(out, reflect.StructField{Name: field.Name, Type: field.Type, Tag: field.Tag})
		}
	}
	return out
}

// loosen adapts the schema to what this package guarantees for pointers and slices:
// a pointer is optional and may be null, a slice is an array and never null.
func loosen(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	isArray := func(s *jsonschema.Schema) bool { return slices.Contains(s.Types, "array") }
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool {
		p := s.Properties[name]
		return len(p.Types) > 0 && !isArray(p)
	})
	switch {
	case s.Ref != "":
		loosenRef(s)
	case isArray(s):
		s.Type, s.Types = "array", nil
	case len(s.Types) == 1: // a pointer to something that takes any value
		s.Types = nil
	case len(s.Types) == 2:
		s.Types = []string{s.Types[1], "null"}
	}
	for _, p := range s.Properties {
		loosen(p)
	}
	for _, p := range s.Defs {
		loosen(p)
	}
	for _, p := range s.AnyOf {
		loosen(p)
	}
	loosen(s.Items)
	loosen(s.AdditionalProperties)
}

// loosenRef rewrites a reference that is optional or described: providers refuse other
// keywords beside $ref.
func loosenRef(s *jsonschema.Schema) {
	if len(s.Types) == 0 && s.Description == "" {
		return
	}
	s.AnyOf = []*jsonschema.Schema{{Ref: s.Ref}}
	if len(s.Types) > 0 {
		s.AnyOf = append(s.AnyOf, &jsonschema.Schema{Type: "null"})
	}
	s.Ref, s.Types = "", nil
}
