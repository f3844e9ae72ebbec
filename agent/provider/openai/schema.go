package openai

import "encoding/json"

// strictWords are the keywords that the vendor's strict mode knows, and whether
// their value holds schemas: one, a list, or a map of them.
var strictWords = map[string]string{
	"type": "", "description": "", "title": "", "enum": "", "const": "", "required": "",
	"pattern": "", "format": "", "minimum": "", "maximum": "", "exclusiveMinimum": "",
	"exclusiveMaximum": "", "multipleOf": "", "minItems": "", "maxItems": "",
	"$ref": "", "additionalProperties": "",
	"items": "one", "anyOf": "list", "properties": "map", "$defs": "map",
}

// strict reports whether the vendor's strict mode takes a schema as it is: the
// root is an object, every object names all its properties as required and
// forbids others, and no keyword is outside of the known ones. Everything else
// is sent without strict, which asks for the same and promises less.
func strict(schema json.RawMessage) bool {
	var root map[string]json.RawMessage
	if json.Unmarshal(schema, &root) != nil || string(root["type"]) != `"object"` || root["anyOf"] != nil {
		return false
	}
	return strictPart(schema)
}

func strictPart(raw json.RawMessage) bool {
	var part map[string]json.RawMessage
	if json.Unmarshal(raw, &part) != nil || len(part) == 0 {
		return false
	}
	if !strictObject(part) {
		return false
	}
	for word, value := range part {
		holds, known := strictWords[word]
		if !known || !strictParts(holds, value) {
			return false
		}
	}
	return true
}

func strictParts(holds string, value json.RawMessage) bool {
	var parts []json.RawMessage
	switch holds {
	case "one":
		parts = append(parts, value)
	case "list":
		if json.Unmarshal(value, &parts) != nil {
			return false
		}
	case "map":
		var named map[string]json.RawMessage
		if json.Unmarshal(value, &named) != nil {
			return false
		}
		for _, p := range named {
			parts = append(parts, p)
		}
	}
	for _, p := range parts {
		if !strictPart(p) {
			return false
		}
	}
	return true
}

// strictObject judges the rules of objects; anything else passes.
func strictObject(part map[string]json.RawMessage) bool {
	var kind any
	if json.Unmarshal(part["type"], &kind) != nil {
		return part["properties"] == nil // $ref and anyOf have no type
	}
	object := kind == "object"
	if kinds, ok := kind.([]any); ok {
		for _, k := range kinds {
			object = object || k == "object"
		}
	}
	if !object {
		return true
	}
	var properties map[string]json.RawMessage
	var required []string
	if json.Unmarshal(part["properties"], &properties) != nil ||
		json.Unmarshal(part["required"], &required) != nil ||
		string(part["additionalProperties"]) != "false" {
		return false
	}
	names := map[string]bool{}
	for _, name := range required {
		names[name] = true
	}
	for name := range properties {
		if !names[name] {
			return false
		}
	}
	return len(names) == len(properties)
}
