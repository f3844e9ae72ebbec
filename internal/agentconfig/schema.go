package agentconfig

import (
	_ "embed" // the published schema
	"encoding/json"
	"maps"
	"slices"

	"github.com/shoal-dev/shoal"
)

//go:embed agent-config.schema.json
var publishedSchema []byte

// Schema returns the JSON Schema (2020-12) of a configuration. Everything that [Decode]
// accepts conforms to it. Rules that no schema can express are not part of it: unique names,
// the permitted references to the environment, and fields that exclude each other.
func Schema() []byte { return slices.Clone(publishedSchema) }

// generate returns the JSON Schema of the table.
func generate() ([]byte, error) {
	s := root.schema()
	s["$schema"] = draft2020
	s["title"] = "Shoal agent config"
	s["oneOf"] = executorRules()
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}

// executorRules requires exactly one of the fields that say who executes the runs.
func executorRules() []any {
	null := map[string]any{"type": "null"}
	model := map[string]any{
		"required": []string{"model"},
		"properties": map[string]any{
			"model": map[string]any{"type": "object"}, "remote": null,
			"agent": map[string]any{"required": []string{"system"}, "properties": map[string]any{"system": nonEmpty(maxPrompt, "").schema()}},
		},
	}
	remote := map[string]any{"required": []string{"remote"}, "properties": map[string]any{"remote": map[string]any{"type": "object"}, "model": null}}
	return []any{model, remote}
}

func (s shape) schema() map[string]any {
	out := map[string]any{}
	if s.doc != "" {
		out["description"] = s.doc
	}
	switch s.kind {
	case object:
		s.objectSchema(out)
	case table:
		out["type"] = "object"
		out["additionalProperties"] = s.items.schema()
		out["maxProperties"] = s.most
		if s.names != nil {
			out["propertyNames"] = map[string]any{"pattern": s.names.text}
		}
	case list:
		out["type"], out["items"], out["maxItems"] = "array", s.items.schema(), s.most
		if s.least > 0 {
			out["minItems"] = s.least
		}
		if s.unique {
			out["uniqueItems"] = true
		}
	case text:
		s.textSchema(out)
	case whole:
		out["type"], out["minimum"], out["maximum"] = "integer", s.least, s.most
	case number:
		out["type"], out["minimum"], out["maximum"] = "number", s.least, s.most
	case flag:
		out["type"] = "boolean"
	case schema:
		out["type"] = "object"
		out["anyOf"] = []any{map[string]any{"$ref": draft2020}, map[string]any{"$ref": draft7}}
		if s.arguments {
			out["properties"] = map[string]any{"type": map[string]any{"const": "object"}}
			out["required"] = []string{"type"}
		}
	case scalar:
		out["type"], out["maxLength"] = []any{"string", "number", "boolean"}, s.most
	case answerers:
		ids := shape{kind: list, items: &entityID, least: 1, most: maxAnswerers, unique: true}
		out["anyOf"] = []any{map[string]any{"enum": shoal.AnswererGroups}, ids.schema()}
	case inviters:
		ids := shape{kind: list, items: &entityID, least: 1, most: maxAnswerers, unique: true}
		out["anyOf"] = []any{map[string]any{"enum": inviterWords}, ids.schema()}
	case anything:
	}
	return out
}

func (s shape) textSchema(out map[string]any) {
	out["type"] = "string"
	if len(s.choices) > 0 {
		out["enum"] = s.choices
		return
	}
	out["maxLength"] = s.most
	if s.least > 0 {
		out["minLength"] = s.least
	}
	if s.form != nil {
		out["pattern"] = s.form.text
	}
}

func (s shape) objectSchema(out map[string]any) {
	out["type"] = "object"
	if s.byType != nil {
		return // typeRules adds the fields by executionType
	}
	out["additionalProperties"] = false
	properties, required, byType := map[string]any{}, []string{}, map[Type]shape(nil)
	for _, f := range s.fields {
		p := f.shape.schema()
		if f.fallback != nil {
			p["default"] = f.fallback
		}
		if f.required {
			required = append(required, f.name)
		} else {
			p = orNull(p)
		}
		if f.shape.byType != nil {
			byType = f.shape.byType
		}
		properties[f.name] = p
	}
	out["properties"] = properties
	if len(required) > 0 {
		out["required"] = required
	}
	if byType != nil {
		out["allOf"] = typeRules(byType)
	}
}

// orNull permits null for an optional field, with the same meaning as absent.
func orNull(p map[string]any) map[string]any {
	switch t := p["type"].(type) {
	case string:
		if forms, ok := p["anyOf"].([]any); ok {
			p["anyOf"] = append(forms, map[string]any{"type": "null"})
		}
		p["type"] = []any{t, "null"}
	case []any:
		p["type"] = append(t, "null")
	default:
		if p["anyOf"] == nil {
			return p // accepts every value
		}
		out := map[string]any{"anyOf": []any{p, map[string]any{"type": "null"}}}
		for _, word := range []string{"description", "default"} {
			if v, there := p[word]; there {
				out[word] = v
				delete(p, word)
			}
		}
		return out
	}
	if choices, ok := p["enum"].([]string); ok {
		all := make([]any, 0, len(choices)+1)
		for _, choice := range choices {
			all = append(all, choice)
		}
		p["enum"] = append(all, nil)
	}
	return p
}

// typeRules returns the rules for the content of execution, by executionType, and for the types that require it.
func typeRules(byType map[Type]shape) []any {
	rules := []any{}
	for _, kind := range slices.Sorted(maps.Keys(byType)) {
		s := byType[kind].schema()
		demanded := s["required"] != nil
		then := map[string]any{"properties": map[string]any{"execution": s}}
		if demanded {
			then["required"] = []string{"execution"}
		} else {
			then["properties"] = map[string]any{"execution": orNull(s)}
		}
		is := map[string]any{"properties": map[string]any{"executionType": map[string]any{"const": kind}}}
		if kind == BasicType {
			is["properties"] = map[string]any{"executionType": map[string]any{"enum": []any{kind, nil}}}
		} else {
			is["required"] = []string{"executionType"}
		}
		rules = append(rules, map[string]any{"if": is, "then": then})
	}
	fixed := map[string]any{"properties": map[string]any{"executionType": map[string]any{
		"enum": []any{AgentType, ImageType, BuiltInType},
	}}, "required": []string{"executionType"}}
	return append(rules,
		map[string]any{"if": fixed, "then": map[string]any{"properties": map[string]any{"inputSchema": map[string]any{"type": "null"}}}},
		map[string]any{
			"if": map[string]any{"properties": map[string]any{"targeted": map[string]any{"const": true}}, "required": []string{"targeted"}},
			"then": map[string]any{
				"properties": map[string]any{"displayTool": map[string]any{"const": true}}, "required": []string{"displayTool"},
			},
		},
	)
}
