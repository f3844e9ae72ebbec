package httpapi

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// The parts of OpenAPI 3.1 that the document uses. Schemas are plain JSON Schema, with the keywords
// that only OpenAPI has in their Extra.
type (
	apiDocument struct {
		OpenAPI    string                              `json:"openapi"`
		Generated  string                              `json:"x-generated"`
		Info       apiInfo                             `json:"info"`
		Tags       []apiTag                            `json:"tags"`
		Paths      map[string]map[string]*apiOperation `json:"paths"` // by path and lower-case method
		Components apiComponents                       `json:"components"`
	}
	apiInfo struct {
		Title       string     `json:"title"`
		Version     string     `json:"version"`
		Description string     `json:"description"`
		License     apiLicense `json:"license"`
	}
	apiLicense struct {
		Name       string `json:"name"`
		Identifier string `json:"identifier"`
	}
	apiTag struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	apiComponents struct {
		Schemas         map[string]*jsonschema.Schema `json:"schemas"`
		Parameters      map[string]*apiParam          `json:"parameters"`
		Responses       map[string]*apiResponse       `json:"responses"`
		SecuritySchemes map[string]apiSecurity        `json:"securitySchemes"`
	}
	apiSecurity struct {
		Type        string `json:"type"`
		Scheme      string `json:"scheme"`
		Description string `json:"description"`
	}
	apiOperation struct {
		OperationID string                  `json:"operationId"`
		Tags        []string                `json:"tags"`
		Summary     string                  `json:"summary"`
		Description string                  `json:"description,omitempty"`
		Parameters  []*apiParam             `json:"parameters,omitempty"`
		RequestBody *apiBody                `json:"requestBody,omitempty"`
		Responses   map[string]*apiResponse `json:"responses"`
		Security    []map[string][]string   `json:"security,omitempty"`
	}
	apiParam struct {
		Ref         string             `json:"$ref,omitempty"`
		Name        string             `json:"name,omitempty"`
		In          string             `json:"in,omitempty"`
		Required    bool               `json:"required,omitempty"`
		Description string             `json:"description,omitempty"`
		Schema      *jsonschema.Schema `json:"schema,omitempty"`
		Example     any                `json:"example,omitempty"`
	}
	apiBody struct {
		Required bool       `json:"required,omitempty"`
		Content  apiContent `json:"content"`
	}
	apiResponse struct {
		Ref         string     `json:"$ref,omitempty"`
		Description string     `json:"description,omitempty"`
		Content     apiContent `json:"content,omitempty"`
	}
	// apiContent is by media type.
	apiContent map[string]*apiMedia
	apiMedia   struct {
		Schema  *jsonschema.Schema `json:"schema"`
		Example json.RawMessage    `json:"example,omitempty"`
	}
)

// schemaRegistry makes schemas of Go types. A struct becomes a named schema and a reference to it.
type schemaRegistry struct {
	schemas map[string]*jsonschema.Schema
	types   map[string]reflect.Type // of the schemas that were made of a Go type
}

// schema returns the schema of t.
func (r *schemaRegistry) schema(t reflect.Type) *jsonschema.Schema {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{}
	case t.Kind() == reflect.Pointer:
		s := r.schema(t.Elem())
		if s.Ref == "" {
			allowNull(s)
		}
		return s
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return &jsonschema.Schema{Type: "string"}
	}
	switch t.Kind() {
	case reflect.String:
		return &jsonschema.Schema{Type: "string"}
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		return &jsonschema.Schema{Type: "integer", Format: "int64"}
	case reflect.Float64:
		return &jsonschema.Schema{Type: "number", Format: "double"}
	case reflect.Slice:
		return &jsonschema.Schema{Type: "array", Items: r.schema(t.Elem())}
	case reflect.Array:
		n := t.Len()
		return &jsonschema.Schema{Type: "array", Items: r.schema(t.Elem()), MinItems: &n, MaxItems: &n}
	case reflect.Interface:
		return &jsonschema.Schema{}
	case reflect.Map:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: r.schema(t.Elem())}
	case reflect.Struct:
		return r.reference(t)
	}
	panic("no schema for " + t.String())
}

// reference returns a reference to the schema of a struct, which it makes if there is none yet.
func (r *schemaRegistry) reference(t reflect.Type) *jsonschema.Schema {
	name := schemaName(t)
	if r.schemas[name] == nil {
		s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: closed()}
		r.schemas[name], r.types[name] = s, t
		r.addFields(s, t)
	}
	return &jsonschema.Schema{Ref: schemaRefs + name}
}

// addFields adds the fields of a struct to its schema, and after them those of embedded structs.
func (r *schemaRegistry) addFields(s *jsonschema.Schema, t reflect.Type) {
	var embedded []reflect.Type
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Name == "_" && field.Tag.Get("additionalProperties") == "true":
			s.AdditionalProperties = &jsonschema.Schema{}
		case field.Anonymous && name == "":
			embedded = append(embedded, field.Type)
		case name != "-" && name != "":
			s.Properties[name] = r.property(field, options == "omitempty")
			if options != "omitempty" {
				s.Required = append(s.Required, name)
			}
		}
	}
	for _, t := range embedded {
		r.addFields(s, t)
	}
}

// property returns the schema of a field. One that can be left out is never null.
func (r *schemaRegistry) property(field reflect.StructField, optional bool) *jsonschema.Schema {
	t := field.Type
	if optional && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	p := r.schema(t)
	switch word := field.Tag.Get("enum"); {
	case word != "" && p.Type == "boolean":
		p.Enum = []any{word == "true"}
	case word != "":
		p.Enum = []any{word}
	}
	return p
}

// schemaName is the name of the schema of a type, such as SpacePage for page[shoal.Space].
func schemaName(t reflect.Type) string {
	name := t.Name()
	if strings.HasSuffix(t.PkgPath(), "internal/audit") {
		return "Audit" + name
	}
	outer, of, generic := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	if generic {
		name = of[strings.LastIndexByte(of, '.')+1:] + upperFirst(outer)
	}
	return upperFirst(name)
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// closed is the schema that allows nothing.
func closed() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

// allowNull lets a schema with a type accept null, too.
func allowNull(s *jsonschema.Schema) {
	if s.Type != "" {
		s.Type, s.Types = "", []string{s.Type, "null"}
	}
}

// typeOf returns the type of a schema, null apart.
func typeOf(s *jsonschema.Schema) string {
	if len(s.Types) > 0 {
		return s.Types[0]
	}
	return s.Type
}

// addExtra adds a keyword that JSON Schema does not have.
func addExtra(s *jsonschema.Schema, keyword string, value any) {
	if s.Extra == nil {
		s.Extra = map[string]any{}
	}
	s.Extra[keyword] = value
}
