package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	// maxViolations is how many faults one error reports.
	maxViolations = 8
	// maxCheckSteps limits the work of one check: nested alternatives multiply, and
	// neither schemas nor arguments are trusted.
	maxCheckSteps = 1_000_000
)

// Check checks a JSON text against the schema. The error is written for the model that
// wrote the text: a line for each of the first 8 faults, with its path, which begins
// with label, and what is expected there. It is also a fault if the text is not JSON,
// nests more than 100 levels deep, or contains a property twice.
//
// The work is limited: a check that takes too many steps, as with nested alternatives,
// fails with the error that the value is too large to be checked.
//
// The error for a value that does not conform is of type [Faults]. A nil Schema accepts
// any text.
func (s *Schema) Check(label, text string) error {
	if s == nil {
		return nil
	}
	value, err := parseJSON(label, text)
	if err != nil {
		return err
	}
	return s.judge(label, value)
}

func (s *Schema) judge(label string, value any) error {
	c := checker{s: s, limit: maxViolations}
	c.value(s.root, value, label)
	if c.steps > maxCheckSteps {
		return fmt.Errorf("%s: too large to be checked", label)
	}
	if len(c.found) > 0 {
		return c.found
	}
	return nil
}

// Fault is one violation of a schema.
type Fault struct {
	Path    string // such as arguments.items[0].name
	Message string // such as: must be string, not integer
}

func (f Fault) String() string { return f.Path + ": " + f.Message }

// Faults are the violations of a schema, in the order of the value's parts. The text of
// the error has one line for each.
type Faults []Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, one := range f {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// checker checks one value against a schema.
type checker struct {
	s     *Schema
	found Faults
	limit int
	steps int
}

func (c *checker) full() bool { return len(c.found) >= c.limit || c.steps > maxCheckSteps }

func (c *checker) add(path, format string, args ...any) {
	if !c.full() {
		c.found = append(c.found, Fault{Path: path, Message: fmt.Sprintf(format, args...)})
	}
}

// fits checks a value separately and returns the first violation, "" if it conforms.
func (c *checker) fits(schema *jsonschema.Schema, v any, path string) string {
	side := checker{s: c.s, limit: 1, steps: c.steps}
	side.value(schema, v, path)
	c.steps = side.steps
	return side.found.Error()
}

func (c *checker) value(schema *jsonschema.Schema, v any, path string) {
	c.steps += 1 + len(schema.Enum) + len(path)/32 // what a step costs
	if c.full() {
		return
	}
	if types := typesOf(schema); len(types) > 0 && !slices.Contains(types, typeOf(v)) &&
		(typeOf(v) != "integer" || !slices.Contains(types, "number")) {
		c.add(path, "must be %s, not %s", strings.Join(types, " or "), typeOf(v))
		return
	}
	if schema.Enum != nil && !slices.ContainsFunc(schema.Enum, func(e any) bool { return reflect.DeepEqual(e, v) }) {
		c.add(path, "must be one of %s", quoteList(schema.Enum))
	}
	if schema.Const != nil && !reflect.DeepEqual(*schema.Const, v) {
		c.add(path, "must be %s", quote(*schema.Const))
	}
	switch v := v.(type) {
	case float64:
		c.number(schema, v, path)
	case string:
		c.text(schema, v, path)
	case []any:
		c.array(schema, v, path)
	case map[string]any:
		c.object(schema, v, path)
	}
	if schema.Ref != "" {
		c.value(c.s.refs[schema.Ref], v, path)
	}
	c.combined(schema, v, path)
}

// combined checks v against the keywords that combine schemas.
func (c *checker) combined(schema *jsonschema.Schema, v any, path string) {
	for _, part := range schema.AllOf {
		c.value(part, v, path)
	}
	if schema.AnyOf != nil && !c.named(schema.AnyOf, v, path) {
		if fitting, why := c.alternatives(schema.AnyOf, v, path, 1); fitting == 0 {
			c.add(path, "fits none of %d forms: %s", len(schema.AnyOf), why)
		}
	}
	if schema.OneOf != nil {
		switch fitting, why := c.alternatives(schema.OneOf, v, path, 2); fitting {
		case 0:
			c.add(path, "fits none of %d forms: %s", len(schema.OneOf), why)
		case 2:
			c.add(path, "fits several of %d forms and must fit exactly one", len(schema.OneOf))
		}
	}
	if schema.Not != nil {
		if reflect.ValueOf(*schema.Not).IsZero() {
			c.add(path, "is not allowed")
		} else if c.fits(schema.Not, v, path) == "" {
			c.add(path, "has a form that is not allowed")
		}
	}
	if schema.If != nil {
		branch := schema.Then
		if c.fits(schema.If, v, path) != "" {
			branch = schema.Else
		}
		if branch != nil {
			c.value(branch, v, path)
		}
	}
}

// alternatives counts the alternatives that v conforms to, up to enough, and returns why
// it does not conform to the first ones.
func (c *checker) alternatives(forms []*jsonschema.Schema, v any, path string, enough int) (fitting int, why string) {
	var reasons []string
	for i, form := range forms {
		violation := c.fits(form, v, path)
		if violation == "" {
			if fitting++; fitting == enough {
				return fitting, ""
			}
		} else if i < 4 {
			reasons = append(reasons, violation)
		}
	}
	return fitting, strings.Join(reasons, " | ")
}

func (c *checker) number(schema *jsonschema.Schema, n float64, path string) {
	if m := schema.Minimum; m != nil && n < *m {
		c.add(path, "must be at least %v", *m)
	}
	if m := schema.Maximum; m != nil && n > *m {
		c.add(path, "must be at most %v", *m)
	}
	if m := schema.ExclusiveMinimum; m != nil && n <= *m {
		c.add(path, "must be more than %v", *m)
	}
	if m := schema.ExclusiveMaximum; m != nil && n >= *m {
		c.add(path, "must be less than %v", *m)
	}
	if m := schema.MultipleOf; m != nil && *m > 0 {
		// 0.3 is a multiple of 0.1, whatever binary fractions say.
		if q := n / *m; math.Abs(q-math.Round(q)) > 1e-9*math.Max(1, math.Abs(q)) {
			c.add(path, "must be a multiple of %v", *m)
		}
	}
}

func (c *checker) text(schema *jsonschema.Schema, text, path string) {
	if least, most := schema.MinLength, schema.MaxLength; least != nil || most != nil {
		n := utf8.RuneCountInString(text)
		if least != nil && n < *least {
			c.add(path, "must have at least %d characters, not %d", *least, n)
		}
		if most != nil && n > *most {
			c.add(path, "must have at most %d characters, not %d", *most, n)
		}
	}
	if p := c.s.patterns[schema.Pattern]; p != nil && !p.MatchString(text) {
		c.add(path, "must match the pattern %s", schema.Pattern)
	}
}

func (c *checker) array(schema *jsonschema.Schema, items []any, path string) {
	if m := schema.MinItems; m != nil && len(items) < *m {
		c.add(path, "must have at least %d items, not %d", *m, len(items))
	}
	if m := schema.MaxItems; m != nil && len(items) > *m {
		c.add(path, "must have at most %d items, not %d", *m, len(items))
	}
	if schema.UniqueItems {
		first := map[string]int{}
		for i, item := range items {
			key, _ := json.Marshal(item)
			if j, twice := first[string(key)]; twice {
				c.add(path, "must not hold the same twice, as items %d and %d", j, i)
				break
			}
			first[string(key)] = i
		}
	}
	// Draft 7 calls items and additionalItems what are now prefixItems and items.
	leading, rest := schema.PrefixItems, schema.Items
	if schema.ItemsArray != nil {
		leading, rest = schema.ItemsArray, schema.AdditionalItems
	}
	contained := 0
	for i, item := range items {
		at := path + "[" + strconv.Itoa(i) + "]"
		switch {
		case c.full():
			return
		case i < len(leading):
			c.value(leading[i], item, at)
		case rest != nil:
			c.value(rest, item, at)
		}
		if schema.Contains != nil && c.fits(schema.Contains, item, at) == "" {
			contained++
		}
	}
	if schema.Contains != nil {
		least := 1
		if schema.MinContains != nil {
			least = *schema.MinContains
		}
		if contained < least || (schema.MaxContains != nil && contained > *schema.MaxContains) {
			c.add(path, "has the wrong number (%d) of items of a demanded form", contained)
		}
	}
}

func (c *checker) object(schema *jsonschema.Schema, object map[string]any, path string) {
	c.demanded(schema.Required, object, path)
	if m := schema.MinProperties; m != nil && len(object) < *m {
		c.add(path, "must have at least %d properties, not %d", *m, len(object))
	}
	if m := schema.MaxProperties; m != nil && len(object) > *m {
		c.add(path, "must have at most %d properties, not %d", *m, len(object))
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if c.full() {
			return
		}
		at := propertyPath(path, name)
		own, judged := schema.Properties[name]
		if judged {
			c.value(own, object[name], at)
		}
		for pattern, part := range schema.PatternProperties {
			c.steps++
			if p := c.s.patterns[pattern]; p == nil || p.MatchString(name) {
				judged = true
				if p != nil {
					c.value(part, object[name], at)
				}
			}
		}
		if rest := schema.AdditionalProperties; rest != nil && !judged {
			if rest.Not != nil && reflect.ValueOf(*rest.Not).IsZero() {
				c.add(at, "is not a known property; known are: %s", knownNames(schema.Properties))
			} else {
				c.value(rest, object[name], at)
			}
		}
		if schema.PropertyNames != nil {
			c.value(schema.PropertyNames, name, at)
		}
		c.demanded(schema.DependentRequired[name], object, path)
		c.demanded(schema.DependencyStrings[name], object, path)
		for _, parts := range []map[string]*jsonschema.Schema{schema.DependentSchemas, schema.DependencySchemas} {
			if part := parts[name]; part != nil {
				c.value(part, object, path)
			}
		}
	}
}

func (c *checker) demanded(demanded []string, object map[string]any, path string) {
	for _, name := range demanded {
		if _, there := object[name]; !there {
			c.add(propertyPath(path, name), "is missing")
		}
	}
}

// typeOf names the JSON type of v, integer where a number is one.
func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// quoteList renders values for an error, the first ones of many.
func quoteList(values []any) string {
	var b strings.Builder
	for i, v := range values {
		if i == 20 {
			return b.String() + ", …"
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(v))
	}
	return b.String()
}

// knownNames lists properties for an error, the first ones of many.
func knownNames(properties map[string]*jsonschema.Schema) string {
	known := slices.Sorted(maps.Keys(properties))
	if len(known) == 0 {
		return "none"
	}
	if len(known) > 20 {
		known = append(known[:20], "…")
	}
	return strings.Join(known, ", ")
}
