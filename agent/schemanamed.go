package agent

import (
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// named checks v against the form that it names itself, and reports whether the forms
// differ in this way: all are objects with one property, in each of another constant
// text. The error then is about what the model meant, and not about all that it did not.
// Beside these forms there may be null. A single reference needs no name.
func (c *checker) named(forms []*jsonschema.Schema, v any, path string) bool {
	var objects []*jsonschema.Schema
	for _, form := range forms {
		if form.Type == "null" {
			if v == nil {
				return true
			}
			continue
		}
		objects = append(objects, form)
	}
	if len(objects) == 1 && objects[0].Ref != "" {
		c.value(objects[0], v, path)
		return true
	}
	object, ok := v.(map[string]any)
	if !ok {
		return false
	}
	property, byName := c.discriminator(objects)
	if property == "" {
		return false
	}
	name, there := object[property]
	text, _ := name.(string)
	switch form := byName[text]; {
	case form != nil:
		c.value(form, v, path)
	case !there:
		c.add(propertyPath(path, property), "is missing; it must be one of %s", quoteList(texts(byName)))
	default:
		c.add(propertyPath(path, property), "must be one of %s", quoteList(texts(byName)))
	}
	return true
}

func texts(byName map[string]*jsonschema.Schema) []any {
	var out []any
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, name)
	}
	return out
}

// discriminator returns the property that names the forms, and the forms by their names;
// "" if they have none.
func (c *checker) discriminator(forms []*jsonschema.Schema) (string, map[string]*jsonschema.Schema) {
	if len(forms) == 0 {
		return "", nil
	}
	for _, property := range slices.Sorted(maps.Keys(c.resolved(forms[0]).Properties)) {
		byName := map[string]*jsonschema.Schema{}
		for _, form := range forms {
			at := c.resolved(form)
			c.steps++
			if text, ok := constantOf(at.Properties[property]); ok && slices.Contains(at.Required, property) {
				byName[text] = form
			}
		}
		if len(byName) == len(forms) {
			return property, byName
		}
	}
	return "", nil
}

// resolved follows the reference of a schema that is nothing else.
func (c *checker) resolved(s *jsonschema.Schema) *jsonschema.Schema {
	if target := c.s.refs[s.Ref]; s.Ref != "" && target != nil {
		return target
	}
	return s
}

// constantOf returns the one text that a schema allows.
func constantOf(s *jsonschema.Schema) (text string, ok bool) {
	switch {
	case s == nil:
		return "", false
	case s.Const != nil:
		text, ok = (*s.Const).(string)
	case len(s.Enum) == 1:
		text, ok = s.Enum[0].(string)
	}
	return text, ok
}
