package chat

import (
	"encoding/json"
	"slices"

	"github.com/shoal-dev/shoal"
)

// schema contains the keywords of JSON Schema that a form supports. Other schemas lead to a
// JSON field; the server validates the result in any case.
type schema struct {
	Type        json.RawMessage   `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Enum        []json.RawMessage `json:"enum"`
	Const       json.RawMessage   `json:"const"`
	Properties  json.RawMessage   `json:"properties"`
	Required    []string          `json:"required"`
	AnyOf       []schema          `json:"anyOf"`
	OneOf       []schema          `json:"oneOf"`
}

// resultFields returns the fields for the result of a client tool: one for each member of an
// object, or a single field, whose type is then root.
func resultFields(raw json.RawMessage) (fields []Field, root kind) {
	var s schema
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &s) != nil {
		return []Field{{Name: "result", kind: loose, Required: true}}, loose
	}
	s = s.narrowed()
	if s.kind() == value && len(s.Properties) > 0 {
		for name, member := range members(s.Properties) {
			var of schema
			if json.Unmarshal(member, &of) != nil {
				of = schema{} // true and false are valid schemas
			}
			fields = append(fields, of.field(name, slices.Contains(s.Required, name)))
		}
	}
	if len(fields) > 0 {
		return fields, ""
	}
	if string(s.Type) == `"null"` {
		return []Field{{Name: "result", kind: nothing}}, nothing
	}
	f := s.field("result", true)
	return []Field{f}, f.kind
}

// narrowed returns the schema without the alternative null.
func (s schema) narrowed() schema {
	var left []schema
	for _, alternative := range append(slices.Clone(s.AnyOf), s.OneOf...) {
		if string(alternative.Type) != `"null"` {
			left = append(left, alternative)
		}
	}
	if len(left) == 1 && len(s.Type) == 0 {
		only := left[0]
		if only.Description == "" {
			only.Description = s.Description
		}
		return only
	}
	return s
}

func (s schema) field(name string, required bool) Field {
	f := Field{Name: name, About: s.Description, Required: required}
	if f.About == "" && s.Title != name {
		f.About = s.Title
	}
	s = s.narrowed()
	f.kind = s.kind()
	if f.kind == choice {
		f.values = s.Enum
		if len(s.Const) > 0 {
			f.values = []json.RawMessage{s.Const}
		}
		for _, v := range f.values {
			f.Choices = append(f.Choices, plain(v))
		}
	}
	return f
}

// kind returns the field type for values of the schema.
func (s schema) kind() kind {
	if len(s.Enum) > 0 || len(s.Const) > 0 {
		return choice
	}
	var types []string
	var one string
	if json.Unmarshal(s.Type, &one) == nil {
		types = []string{one}
	} else if json.Unmarshal(s.Type, &types) != nil {
		return value
	}
	types = slices.DeleteFunc(types, func(t string) bool { return t == "null" })
	if len(types) != 1 {
		return value
	}
	switch types[0] {
	case "string":
		return text
	case "number":
		return number
	case "integer":
		return integer
	case "boolean":
		return boolean
	}
	return value
}

// Asks describes a pending action on one line, without instructions for the answer.
func Asks(p shoal.PendingAction) string {
	switch p.Kind {
	case shoal.PendingPermission:
		return string(p.AgentID) + " asks for permission: " + Subject(p)
	case shoal.PendingQuestion:
		return string(p.AgentID) + " asks: " + Subject(p)
	}
	return string(p.AgentID) + " waits for the result of " + Subject(p)
}
