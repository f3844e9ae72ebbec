package google

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

const defsPrefix = "#/$defs/"

// acyclic returns a schema as the API accepts it: a reference from a definition back to
// itself may be used only in properties that are not required. The arguments are checked
// against the schema as it was.
func acyclic(schema json.RawMessage) json.RawMessage {
	if !bytes.Contains(schema, []byte(`"$ref"`)) {
		return schema
	}
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil {
		return schema
	}
	defs, _ := root["$defs"].(map[string]any)
	changed := false
	for name, def := range defs {
		changed = loosen(def, func(property any) bool { return leads(property, name, defs, map[string]bool{}) }) || changed
	}
	if !changed {
		return schema
	}
	out, err := json.Marshal(root)
	if err != nil {
		return schema
	}
	return out
}

// loosen takes properties out of the lists of what is required, in a schema and all of its
// parts, and reports whether there were any.
func loosen(schema any, optional func(property any) bool) (changed bool) {
	switch part := schema.(type) {
	case []any:
		for _, p := range part {
			changed = loosen(p, optional) || changed
		}
	case map[string]any:
		for _, p := range part {
			changed = loosen(p, optional) || changed
		}
		properties, _ := part["properties"].(map[string]any)
		required, _ := part["required"].([]any)
		left := slices.DeleteFunc(slices.Clone(required), func(name any) bool {
			text, _ := name.(string)
			return properties[text] != nil && optional(properties[text])
		})
		if len(left) < len(required) {
			part["required"], changed = left, true
		}
	}
	return changed
}

// leads reports whether a schema has a reference that leads to a definition.
func leads(schema any, to string, defs map[string]any, seen map[string]bool) bool {
	switch part := schema.(type) {
	case []any:
		return slices.ContainsFunc(part, func(p any) bool { return leads(p, to, defs, seen) })
	case map[string]any:
		if ref, ok := part["$ref"].(string); ok {
			name, local := strings.CutPrefix(ref, defsPrefix)
			if name == to || !local || seen[name] {
				return name == to
			}
			seen[name] = true
			return leads(defs[name], to, defs, seen)
		}
		for _, p := range part {
			if leads(p, to, defs, seen) {
				return true
			}
		}
	}
	return false
}
