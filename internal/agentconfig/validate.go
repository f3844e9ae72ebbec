package agentconfig

import (
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
)

// kind is the type of the values that a shape accepts.
type kind uint8

const (
	object kind = iota // fixed fields
	table              // fields with the author's names
	list
	text
	whole
	number
	flag
	anything
	schema    // a JSON Schema
	scalar    // a text, number or boolean
	answerers // null, an answerer word, or a list of answerer words and entity ids
	inviters  // anyone, admin, or a list of entity ids
)

// shape describes a value. The validation and the JSON Schema both use it.
type shape struct {
	kind      kind
	doc       string
	fields    []field  // of an object
	items     *shape   // of a list or a table
	names     *pattern // of a table's fields
	choices   []string // of a text
	form      *pattern // of a text
	least     float64  // of a number, of a text's characters, of a list's items
	most      float64
	env       bool // texts in it may refer to the environment
	unique    bool // the items of a list are unique
	arguments bool // the schema must describe an object
	// byType are the shapes of execution, chosen by executionType.
	byType map[Type]shape
}

// field is a field of an object. An optional field that is absent or null gets its fallback;
// without a fallback it stays absent.
type field struct {
	name     string
	shape    shape
	required bool
	fallback any
}

// pattern is a regular expression that JSON Schema and Go both support, with its description
// for people.
type pattern struct {
	text string
	says string
	// re compiles the expression on first use: most programs that link this package never
	// decode a config, and should not pay for it at start.
	re func() *regexp.Regexp
}

func newPattern(re, says string) *pattern {
	return &pattern{text: re, says: says, re: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(re) })}
}

// walk validates a value and returns it with its defaults.
func (c *check) walk(s shape, v any, path string) any {
	if s.kind != anything && s.kind != schema && !s.accepts(v) {
		c.addProblem(path, "must be %s, not %s", s.describe(), kindOf(v))
		return nil
	}
	switch s.kind {
	case object:
		return c.walkObject(s, v.(map[string]any), path)
	case table:
		return c.walkTable(s, v.(map[string]any), path)
	case list:
		return c.walkList(s, v.([]any), path)
	case text:
		c.checkText(s, v.(string), path)
	case whole, number:
		c.checkRange(s, v.(json.Number), path)
	case scalar:
		if word, ok := v.(string); ok {
			c.checkText(s, word, path)
		}
	case schema:
		c.checkReferences(s, v, path)
		c.checkSchema(v, path)
	case answerers:
		return c.checkAnswerers(v, path)
	case inviters:
		return c.checkInviters(v, path)
	default:
		c.checkReferences(s, v, path)
	}
	return v
}

// accepts reports whether a value is of the shape's kind.
func (s shape) accepts(v any) bool {
	switch s.kind {
	case object, table:
		_, ok := v.(map[string]any)
		return ok
	case list:
		_, ok := v.([]any)
		return ok
	case text:
		_, ok := v.(string)
		return ok
	case flag:
		_, ok := v.(bool)
		return ok
	case number:
		_, ok := v.(json.Number)
		return ok
	case whole:
		n, ok := v.(json.Number)
		f, err := n.Float64()
		return ok && err == nil && f == math.Trunc(f)
	case scalar:
		return slices.Contains([]string{"a text", "a number", "true or false"}, kindOf(v))
	}
	_, list := v.([]any)
	word, _ := v.(string)
	if s.kind == inviters {
		return list || slices.Contains(inviterWords, word)
	}
	return list || slices.Contains(shoal.AnswererGroups, shoal.EntityID(word))
}

func (s shape) describe() string {
	return map[kind]string{
		object: "an object", table: "an object", list: "a list", text: "a text", whole: "a whole number",
		number: "a number", flag: "true or false", scalar: "a text, a number or true or false",
		inviters:  "anyone, admin, or a list of entity ids",
		answerers: "null, one of the words humans, members, agents, services and admins, or a list of such words and entity ids",
	}[s.kind]
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "a text"
	case json.Number:
		return "a number"
	case []any:
		return "a list"
	}
	return "an object"
}

func (c *check) walkObject(s shape, in map[string]any, path string) any {
	out := map[string]any{}
	known := make([]string, 0, len(s.fields))
	for _, f := range s.fields {
		known = append(known, f.name)
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if !slices.Contains(known, name) {
			c.addProblem(join(path, name), "is not a known field; known are: %s", strings.Join(known, ", "))
		}
	}
	for _, f := range s.fields {
		at, v := join(path, f.name), in[f.name]
		if v == nil && f.required {
			c.addProblem(at, "is required")
			continue
		}
		if v == nil && f.shape.kind == answerers {
			out[f.name] = nil // null is written, because no other value means the default
			continue
		}
		if v == nil {
			if v = f.fallback; v == nil {
				continue
			}
		}
		if f.shape.byType != nil {
			kind, _ := out["executionType"].(string)
			chosen, ok := f.shape.byType[Type(kind)]
			if !ok {
				continue // the problem is reported for the type itself
			}
			f.shape = chosen
		}
		if v = c.walk(f.shape, v, at); v != nil || f.shape.kind == answerers {
			out[f.name] = v
		}
	}
	return out
}

func (c *check) walkTable(s shape, in map[string]any, path string) any {
	out := map[string]any{}
	if len(in) > int(s.most) {
		c.addProblem(path, "has %d fields; at most %v are allowed", len(in), s.most)
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		at := join(path, name)
		if s.names != nil && !s.names.re().MatchString(name) {
			c.addProblem(at, "is not a name for %s", s.names.says)
		}
		if v := c.walk(*s.items, in[name], at); v != nil {
			out[name] = v
		}
	}
	return out
}

func (c *check) walkList(s shape, in []any, path string) any {
	out := make([]any, 0, len(in))
	if n := float64(len(in)); n < s.least || n > s.most {
		c.addProblem(path, "has %d items; it must have %v to %v", len(in), s.least, s.most)
	}
	for i, item := range in {
		if s.unique && slices.Contains(out, item) { // only texts compare as equal
			c.addProblem(index(path, i), "occurs twice")
		}
		out = append(out, c.walk(*s.items, item, index(path, i)))
	}
	return out
}

func (c *check) checkText(s shape, v, path string) {
	switch n := utf8.RuneCountInString(v); {
	case len(s.choices) > 0:
		if !slices.Contains(s.choices, v) {
			c.addProblem(path, "must be one of %s", strings.Join(s.choices, ", "))
		}
	case float64(n) < s.least && s.least == 1:
		c.addProblem(path, "must not be empty")
	case float64(n) > s.most:
		c.addProblem(path, "has %d characters; at most %v are allowed", n, s.most)
	case s.form != nil && !s.form.re().MatchString(v):
		c.addProblem(path, "must be %s", s.form.says)
	}
	c.checkReferences(s, v, path)
}

func (c *check) checkRange(s shape, n json.Number, path string) {
	if f, err := n.Float64(); err != nil || f < s.least || f > s.most {
		c.addProblem(path, "must be from %s to %s", quote(s.least), quote(s.most))
	}
}

// checkReferences checks every text in a value for references to the environment.
func (c *check) checkReferences(s shape, v any, path string) {
	switch v := v.(type) {
	case string:
		if s.env {
			c.checkEnv(v, path)
		} else if strings.Contains(v, envBegin) {
			c.addProblem(path, "must not refer to the environment: only the execution of request tools and the headers of MCP servers may")
		}
	case []any:
		for i, item := range v {
			c.checkReferences(s, item, index(path, i))
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			c.checkReferences(shape{}, name, join(path, name)) // references in names are never resolved
			c.checkReferences(s, v[name], join(path, name))
		}
	}
}

// checkAnswerers validates the possible answerers. The order of ids has no meaning and is not
// kept. A bare "members" was the default of the first edition, which wrote it out. It still
// means the default; [members] means all members.
func (c *check) checkAnswerers(v any, path string) any {
	ids, ok := v.([]any)
	if !ok && v == string(shoal.AnswerMembers) {
		return nil
	}
	if !ok {
		return []any{v}
	}
	ids = c.walk(shape{kind: list, items: &entityID, least: 1, most: maxAnswerers, unique: true}, ids, path).([]any)
	slices.SortFunc(ids, func(a, b any) int {
		x, _ := a.(string)
		y, _ := b.(string)
		return strings.Compare(x, y)
	})
	return ids
}

// inviterWords are the values of invite that are not lists.
var inviterWords = []string{"anyone", InviteAdmin}

// checkInviters returns the list of entities that may add the agent, nil for anyone.
func (c *check) checkInviters(v any, path string) any {
	switch v {
	case "anyone":
		return nil
	case InviteAdmin:
		return []any{v}
	}
	return c.checkAnswerers(v, path)
}
