package tools

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/shoal-dev/shoal"
)

// schema is a JSON Schema with the few words that are needed here. Properties
// are kept in order, so that a client shows them as they were meant.
type schema struct {
	Type        any        `json:"type,omitempty"` // a name, or a list of names
	Description string     `json:"description,omitempty"`
	Properties  properties `json:"properties,omitempty"`
	Items       *schema    `json:"items,omitempty"`
	Required    []string   `json:"required,omitempty"`
	Default     any        `json:"default,omitempty"`
	Minimum     *int64     `json:"minimum,omitempty"`
	Maximum     *int64     `json:"maximum,omitempty"`
	MaxLength   int        `json:"maxLength,omitempty"`
	MaxItems    int        `json:"maxItems,omitempty"`
	Unique      bool       `json:"uniqueItems,omitempty"`
	Closed      *bool      `json:"additionalProperties,omitempty"`
}

// properties marshal as an object in their own order.
type properties []property

type property struct {
	name string
	schema
}

// MarshalJSON implements [json.Marshaler].
func (p properties) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, each := range p {
		if i > 0 {
			out = append(out, ',')
		}
		body, err := json.Marshal(each.schema)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, '"'), each.name...), `":`...) // names are plain words
		out = append(out, body...)
	}
	return append(out, '}'), nil
}

func mustMarshal(s schema) json.RawMessage {
	out, err := json.Marshal(s)
	if err != nil {
		panic(err) // a schema holds nothing that cannot be marshalled
	}
	return out
}

// inputSchema describes what a tool takes, and that it takes nothing else.
func inputSchema(inputs []input) json.RawMessage {
	closed := false
	s := schema{Type: "object", Closed: &closed, Properties: properties{}}
	for _, in := range inputs {
		p := property{in.name, schema{Type: string(in.kind), Description: in.about}}
		switch in.kind {
		case anyInput:
			p.Type = nil
		case textInput:
			p.MaxLength = in.longest()
		case listInput:
			p.Items = &schema{Type: "string", MaxLength: in.longestEntry()}
			p.MaxItems, p.Unique = in.longest(), in.unique
			if in.empty {
				p.Default = []string{}
			}
		case wholeInput:
			p.Minimum = &in.least
			p.Maximum = &in.most
			if in.otherwise != 0 {
				p.Default = in.otherwise
			}
		case flagInput:
			if !in.open {
				p.Default = false
			}
		}
		if in.required {
			s.Required = append(s.Required, in.name)
		}
		s.Properties = append(s.Properties, p)
	}
	return mustMarshal(s)
}

// outputSchema describes the JSON of a value's type. It allows further
// properties, so that a client which checks results bears a newer server.
func outputSchema(of any) json.RawMessage { return mustMarshal(schemaOf(reflect.TypeOf(of))) }

var (
	timeType = reflect.TypeFor[shoal.Time]()
	partType = reflect.TypeFor[shoal.Part]()
	// pendingType has a list that is null for most.
	pendingType = reflect.TypeFor[shoal.PendingAction]()
	rawType     = reflect.TypeFor[json.RawMessage]()
)

func schemaOf(t reflect.Type) schema {
	switch t {
	case timeType:
		return schema{Type: "string"}
	case rawType:
		return schema{}
	case partType:
		text := schema{Type: "string"}
		return schema{Type: "object", Properties: properties{{"id", text}, {"type", text}, {"text", text}}, Required: []string{"id", "type"}}
	}
	switch t.Kind() {
	case reflect.String:
		return schema{Type: "string"}
	case reflect.Bool:
		return schema{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		return schema{Type: "integer"}
	case reflect.Slice, reflect.Array:
		items := schemaOf(t.Elem())
		return schema{Type: "array", Items: &items}
	case reflect.Pointer:
		s := schemaOf(t.Elem())
		s.Type = []any{s.Type, "null"}
		return s
	case reflect.Struct:
		s := schema{Type: "object"}
		s.addFields(t)
		if t == pendingType {
			s.allowNull("options")
			s.allowNull("by")
		}
		return s
	}
	panic("tools: no schema for " + t.String())
}

// addFields adds the fields of a struct, those of embedded structs among them.
func (s *schema) addFields(t reflect.Type) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if f.Anonymous && name == "" {
			s.addFields(f.Type)
			continue
		}
		s.Properties = append(s.Properties, property{name, schemaOf(f.Type)})
		if options != "omitempty" {
			s.Required = append(s.Required, name)
		}
	}
}

// allowNull lets the named property be null.
func (s *schema) allowNull(name string) {
	for i, p := range s.Properties {
		if p.name == name {
			s.Properties[i].Type = []any{p.Type, "null"}
		}
	}
}
