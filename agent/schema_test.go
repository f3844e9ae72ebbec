package agent

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

const orderSchema = `{"type":"object","required":["name","price"],"additionalProperties":false,"properties":{
	"name":{"type":"string","minLength":2,"maxLength":5,"pattern":"^[a-z]+$"},
	"price":{"type":"number","minimum":0,"exclusiveMaximum":100,"multipleOf":0.1},
	"size":{"enum":["S","M",3,null]},
	"kind":{"const":"order"},
	"tags":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":2,"uniqueItems":true},
	"pair":{"prefixItems":[{"type":"integer"}],"items":{"type":"boolean"}},
	"note":{"anyOf":[{"type":"string"},{"type":"null"}]},
	"one":{"oneOf":[{"type":"integer"},{"type":"number","minimum":5}]},
	"not":{"not":{"type":"string"}},
	"never":false,
	"tree":{"$ref":"#/$defs/tree"},
	"map":{"type":"object","additionalProperties":{"type":"integer"},"propertyNames":{"maxLength":3},"minProperties":1},
	"if":{"if":{"type":"string"},"then":{"minLength":3},"else":{"type":"integer"}},
	"dep":{"dependentRequired":{"a":["b"]},"patternProperties":{"^x":{"type":"null"}}},
	"has":{"contains":{"type":"integer"},"maxContains":1},
	"perl":{"type":"string","pattern":"^(?!no)"}},
	"$defs":{"tree":{"type":"object","properties":{"left":{"$ref":"#/$defs/tree"},"value":{"type":"integer"}}}}}`

// The model reads the path of each violation, and what is expected there.
func TestArgumentsAreCheckedAgainstTheSchema(t *testing.T) {
	schema, err := compileSchema("order", json.RawMessage(orderSchema))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ more, want string }{
		{``, ``},
		{`"price":"3"`, `arguments.price: must be number, not string`},
		{`"price":-1`, `arguments.price: must be at least 0`},
		{`"price":100`, `arguments.price: must be less than 100`},
		{`"price":0.3`, ``},
		{`"price":0.35`, `arguments.price: must be a multiple of 0.1`},
		{`"name":"A1"`, `arguments.name: must match the pattern ^[a-z]+$`},
		{`"name":"ä"`, "arguments.name: must have at least 2 characters, not 1\narguments.name: must match the pattern ^[a-z]+$"},
		{`"name":"abcdef"`, `arguments.name: must have at most 5 characters, not 6`},
		{`"size":3`, ``},
		{`"size":null`, ``},
		{`"size":"XL"`, `arguments.size: must be one of "S", "M", 3, null`},
		{`"kind":1`, `arguments.kind: must be "order"`},
		{`"tags":[]`, `arguments.tags: must have at least 1 items, not 0`},
		{`"tags":["a",{"b":1}]`, `arguments.tags[1]: must be string, not object`},
		{`"tags":["a","a","a"]`, "arguments.tags: must have at most 2 items, not 3\narguments.tags: must not hold the same twice, as items 0 and 1"},
		{`"pair":[1,true,1.5]`, `arguments.pair[2]: must be boolean, not number`},
		{`"pair":[1.0]`, ``},
		{`"pair":[1.5]`, `arguments.pair[0]: must be integer, not number`},
		{`"note":null`, ``},
		{`"note":1`, `arguments.note: fits none of 2 forms: arguments.note: must be string, not integer | arguments.note: must be null, not integer`},
		{`"one":3`, ``},
		{`"one":5.5`, ``},
		{`"one":6`, `arguments.one: fits several of 2 forms and must fit exactly one`},
		{`"not":"x"`, `arguments.not: has a form that is not allowed`},
		{`"never":1`, `arguments.never: is not allowed`},
		{`"tree":{"left":{"left":{"value":"x"}}}`, `arguments.tree.left.left.value: must be integer, not string`},
		{`"map":{"a":1,"b c":2.5}`, `arguments.map["b c"]: must be integer, not number`},
		{`"map":{"abcd":1}`, `arguments.map.abcd: must have at most 3 characters, not 4`},
		{`"map":{}`, `arguments.map: must have at least 1 properties, not 0`},
		{`"if":"ab"`, `arguments.if: must have at least 3 characters, not 2`},
		{`"if":true`, `arguments.if: must be integer, not boolean`},
		{`"dep":{"a":1,"xy":0}`, "arguments.dep.b: is missing\narguments.dep.xy: must be null, not integer"},
		{`"has":[1]`, ``},
		{`"has":["a"]`, `arguments.has: has the wrong number (0) of items of a demanded form`},
		{`"perl":"no"`, ``}, // a pattern that Go does not have is not checked
		{`"prise":1`, `arguments.prise: is not a known property; known are: dep, has, if, kind, map, name, never, not, note, one, pair, perl, price, size, tags, tree`},
	} {
		arguments := map[string]json.RawMessage{"name": json.RawMessage(`"abc"`), "price": json.RawMessage(`1`)}
		if err := json.Unmarshal([]byte("{"+c.more+"}"), &arguments); err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(arguments)
		if got := said(schema.check(string(text))); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.more, got, c.want)
		}
	}
	if got := said(schema.check("")); got != "arguments.name: is missing\narguments.price: is missing" {
		t.Errorf("no arguments: %s", got)
	}
}

func TestInvalidArgumentTextIsExplained(t *testing.T) {
	schema, err := compileSchema("any", nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                               ``,
		" \n":                            ``,
		`{"a":1}`:                        ``,
		`{"a":{"b":[{"c":1,"c":2}]}}`:    `arguments.a.b[0].c: is given twice`,
		`{"a":1,}`:                       `arguments: not valid JSON at byte 8, after "{\"a\":1,}": invalid character '}' looking for beginning of object key string`,
		`{"a":1} x`:                      `arguments: not valid JSON at byte 9, after "{\"a\":1} x": invalid character 'x' after top-level value`,
		`{"a":`:                          `arguments: not valid JSON at byte 5, after "{\"a\":": unexpected end of JSON input`,
		`[]`:                             `arguments: must be object, not array`,
		`null`:                           `arguments: must be object, not null`,
		`"{}"`:                           `arguments: must be object, not string`,
		`{"a":1e999}`:                    `arguments.a: `,
		strings.Repeat(`{"a":`, 200_000): `arguments: not valid JSON at byte`,
		nested(maxJSONDepth):             ``,
		nested(maxJSONDepth + 1):         `arguments.a.a`,
		"{\"a\":\"\xff\"}":               ``,
		`{"` + strings.Repeat("k", 99999) + `":1,"` + strings.Repeat("k", 99999) + `":2}`: `arguments["kkkk`,
	} {
		got := said(schema.check(text))
		if (want == "") != (got == "") || !strings.HasPrefix(got, want) || len(got) > 700 {
			t.Errorf("%.40s\n got %s\nwant %s", text, got, want)
		}
	}
}

func nested(depth int) string {
	return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)
}

func TestViolationListIsTruncated(t *testing.T) {
	schema, err := compileSchema("many", json.RawMessage(`{"additionalProperties":{"type":"string"}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := said(schema.check(`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1}`))
	if n := strings.Count(got, "must be string"); n != maxViolations {
		t.Errorf("got %d violations, want %d", n, maxViolations)
	}
}

// Alternatives within alternatives multiply; the check gives up instead of
// keeping a processor busy for days.
func TestTheWorkOfACheckIsBounded(t *testing.T) {
	schema, err := compileSchema("boom", json.RawMessage(`{"anyOf":[{"$ref":"#/$defs/x"},{"type":"string"}],"$defs":{"x":{"type":"object",
		"anyOf":[{"properties":{"a":{"$ref":"#/$defs/x"}}},{"properties":{"a":{"$ref":"#/$defs/x"}}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := said(schema.check(nested(40))); got != "arguments: too large to be checked" {
		t.Errorf("got %s", got)
	}
}

func TestUnusableSchemas(t *testing.T) {
	for schema, want := range map[string]string{
		`{`:                                      "not valid JSON",
		`{"a":1,"a":2}`:                          "given twice",
		`[]`:                                     "schema cannot be []",
		`null`:                                   "schema cannot be null",
		`{"type":"text"}`:                        `pay has a schema that cannot be used: schema has the unknown type "text"`,
		`{"properties":{"a":{"type":["x"]}}}`:    `schema.properties.a has the unknown type "x"`,
		`{"properties":{"a":null}}`:              "schema.properties.a is null",
		`{"properties":{"a":{"minLength":"x"}}}`: `schema.properties.a.minLength cannot be "x"`,
		`{"properties":{"title":{"type":"string"},"b":{"not":{"minItems":1,"required":["a",1]}}}}`: `schema.properties.b.not.required cannot be ["a",1]`,
		`{"allOf":[{"minLength":1},{"items":7}]}`:                                                  `schema.allOf[1].items cannot be 7`,
		`{"properties":{"a":{"$ref":"#/title"}},"title":"x"}`:                                      `schema.title cannot be "x"`,
		`{"properties":{"a":{"pattern":"["}}}`:                                                     "missing closing ]",
		`{"$ref":"#/$defs/no"}`:                                                                    `schema has the reference "#/$defs/no", which names nothing`,
		`{"$ref":"http://127.0.0.1/schema"}`:                                                       "names nothing",
		`{"$ref":"#anchor"}`:                                                                       "names nothing",
		`{"$dynamicRef":"#x"}`:                                                                     "$dynamicRef",
		`{"$ref":"#"}`:                                                                             "refers to itself without end",
		`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"not":{"$ref":"#/$defs/b"}}]},"b":{"if":{"$ref":"#/$defs/a"}}}}`: "without end",
		`{"properties":{"p":{"$ref":"#/$defs/b"}},"$ref":"#/$defs/b","$defs":{"b":{"anyOf":[{"$ref":"#"}]}}}`:         "without end",
		nested(maxJSONDepth + 1): "deep",
	} {
		_, err := compileSchema("pay", json.RawMessage(schema))
		if KindOf(err) != ErrInvalidArgument || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "pay") {
			t.Errorf("%.60s\n got %v\nwant %s", schema, err, want)
		}
	}
}

// Neither references that name one large part in thousands of ways nor the search
// for a mistake far within keep a processor busy.
func TestTheWorkOfCompilingIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"$defs":{"bbbbbbbbbbbb":{"enum":["` + strings.Repeat("x", 200_000) + `"]}},"allOf":[true`)
	for i := range 4096 {
		b.WriteString(`,{"$ref":"#/$defs/`)
		for bit := range 12 {
			b.WriteString([]string{"b", "%62"}[i>>bit&1])
		}
		b.WriteString(`"}`)
	}
	_, err := CompileSchema("big", json.RawMessage(b.String()+"]}"))
	if KindOf(err) != ErrInvalidArgument || !strings.Contains(said(err), "big.$defs.bbbbbbbbbbbb is too large") {
		t.Error(err)
	}
	deep := strings.Repeat(`{"not":`, 60) + `{"enum":["` + strings.Repeat("x", 200_000) + `"],"title":7}` + strings.Repeat("}", 60)
	_, err = CompileSchema("deep", json.RawMessage(deep))
	if KindOf(err) != ErrInvalidArgument || !strings.Contains(said(err), `.not.not.not.not cannot be {"not":`) || len(said(err)) > 300 {
		t.Errorf("%.500v", err)
	}
}

// A schema is good for any value, and its faults are found where its caller says
// that it is.
func TestSchemasOfAnyValue(t *testing.T) {
	for _, c := range []struct{ schema, text, want string }{
		{`{"type":"string","minLength":2}`, `"x"`, "result: must have at least 2 characters, not 1"},
		{`{"type":["array","null"],"items":{"type":"integer"}}`, `[1,"x"]`, "result[1]: must be integer, not string"},
		{`{"type":["array","null"]}`, `null`, ""},
		{`{"enum":[1,2]}`, `3`, "result: must be one of 1, 2"},
		{`{"format":"email","unevaluatedProperties":false}`, `{"a":1}`, ""},
		{`true`, ``, `result: not valid JSON at byte 0, after "": unexpected end of JSON input`},
	} {
		schema, err := CompileSchema("outputSchema", json.RawMessage(c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		if got := said(schema.Check("result", c.text)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.schema, got, c.want)
		}
	}
	for schema, want := range map[string]string{
		`{"properties":{"a b":{"type":"text"}}}`:                                            `tools[1].outputSchema.properties["a b"]`,
		`{"anyOf":[{},{"$ref":"#/$defs/x"}],"$defs":{"x":{"items":{"$ref":"other.json"}}}}`: "tools[1].outputSchema.$defs.x.items",
		`{"allOf":[{"minimum":"x"}]}`:                                                       "tools[1].outputSchema.allOf[0].minimum",
		`{"a":`:                                                                             "tools[1].outputSchema",
	} {
		_, err := CompileSchema("tools[1].outputSchema", json.RawMessage(schema))
		if wrong, ok := errors.AsType[*Error](err); !ok || len(wrong.Fields) != 1 || wrong.Fields[0].Location != want {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

func TestSchemasOfOtherDraftsAndGenerators(t *testing.T) {
	for _, c := range []struct{ schema, arguments, want string }{
		{
			`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"items":[{"type":"string"}],"additionalItems":false}}}`,
			`{"a":["x",1]}`, `arguments.a[1]: is not allowed`,
		},
		{`{"definitions":{"x/y":{"type":"string"}},"properties":{"a":{"$ref":"#/definitions/x~1y"}}}`, `{"a":1}`, `arguments.a: must be string, not integer`},
		{`{"dependencies":{"a":["b"],"b":{"required":["c"]}}}`, `{"a":1}`, `arguments.b: is missing`},
		{`{"dependencies":{"a":["b"],"b":{"required":["c"]}}}`, `{"b":1}`, `arguments.c: is missing`},
		{`{"properties":{"a":{"type":"string","format":"email","x-unknown":[1]}}}`, `{"a":"x"}`, ``},
		{`true`, `{"a":1}`, ``},
		{`false`, `{}`, `arguments: is not allowed`},
		{`{"properties":{"n":{"properties":{"m":{"$ref":"#"}}}}}`, `{"n":{"m":{"n":1}}}`, ``},
	} {
		schema, err := compileSchema("t", json.RawMessage(c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		if got := said(schema.check(c.arguments)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.schema, got, c.want)
		}
	}
}

func TestCheckSpec(t *testing.T) {
	for _, c := range []struct {
		spec ToolSpec
		want string
	}{
		{ToolSpec{Name: "a-B_9"}, ""},
		{ToolSpec{Name: "a", Schema: json.RawMessage(`{"type":"object"}`)}, ""},
		{ToolSpec{Name: "a", Schema: json.RawMessage(`{}`)}, ""},
		{ToolSpec{Name: strings.Repeat("a", 64)}, ""},
		{ToolSpec{Name: strings.Repeat("a", 65)}, "1 to 64 characters"},
		{ToolSpec{}, "1 to 64 characters"},
		{ToolSpec{Name: "a\n"}, "1 to 64 characters"},
		{ToolSpec{Name: "a.b"}, `"a.b"`},
		{ToolSpec{Name: "a", Schema: json.RawMessage(`{"type":"string"}`)}, "schema of an object"},
		{ToolSpec{Name: "a", Schema: json.RawMessage(`{"type":["object","null"]}`)}, "schema of an object"},
		{ToolSpec{Name: "a", Schema: json.RawMessage(`[`)}, "schema of an object"},
		{ToolSpec{Name: "a", Question: true}, "external"},
		{AskUser().Spec(), ""},
	} {
		got := checkSpec(c.spec)
		if (got == nil) != (c.want == "") || !strings.Contains(said(got), c.want) || (got != nil && KindOf(got) != ErrInvalidArgument) {
			t.Errorf("checkSpec(%+v) = %v, want %q", c.spec, got, c.want)
		}
	}
	if _, err := compileSchema("ask_user", AskUser().Spec().Schema); err != nil {
		t.Error(err)
	}
}

// The walk comes to the same verdict as the library on random schemas and
// values of the keywords that both check.
func TestSchemaWalkAgreesWithLibrary(t *testing.T) {
	agreed := map[bool]int{}
	for seed := range uint64(800) {
		r := rand.New(rand.NewPCG(seed, 7))
		schema := map[string]any{"type": "object", "$defs": map[string]any{"d": randomSchema(r, 2, false)}}
		schema["properties"] = map[string]any{"a": randomSchema(r, 3, true), "b": randomSchema(r, 3, true)}
		if r.IntN(3) == 0 {
			schema["additionalProperties"] = randomSchema(r, 1, true)
		}
		raw, _ := json.Marshal(schema)
		arguments, _ := json.Marshal(map[string]any{"a": randomValue(r, 3), "b": randomValue(r, 3), "c": randomValue(r, 1)})
		ours, err := compileSchema("random", raw)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		var theirs jsonschema.Schema
		if err := json.Unmarshal(raw, &theirs); err != nil {
			t.Fatal(err)
		}
		resolved, err := theirs.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		var value any
		if err := json.Unmarshal(arguments, &value); err != nil {
			t.Fatal(err)
		}
		got, want := ours.check(string(arguments)), resolved.Validate(value)
		if (got == nil) != (want == nil) {
			t.Fatalf("seed %d: schema %s\narguments %s\nwe say %v\nlibrary %v", seed, raw, arguments, got, want)
		}
		agreed[got == nil]++
	}
	if agreed[true] < 80 || agreed[false] < 80 {
		t.Errorf("one-sided: %v", agreed)
	}
}

func randomSchema(r *rand.Rand, depth int, refs bool) any {
	if r.IntN(12) == 0 {
		return r.IntN(2) == 0
	}
	s := map[string]any{}
	types := []string{"object", "array", "string", "number", "integer", "boolean", "null"}
	if r.IntN(3) == 0 {
		s["type"] = types[r.IntN(len(types))]
	} else if r.IntN(3) == 0 {
		s["type"] = []string{types[r.IntN(3)], types[3+r.IntN(4)]}
	}
	if refs && r.IntN(8) == 0 {
		s["$ref"] = "#/$defs/d"
	}
	sub := func() any { return randomSchema(r, depth-1, refs) }
	keywords := []func(){
		func() { s["enum"] = []any{randomValue(r, 1), randomValue(r, 1), 1, "a"} },
		func() { s["const"] = randomValue(r, 1) },
		func() { s["minimum"] = r.IntN(4) },
		func() { s["exclusiveMaximum"] = r.IntN(4) },
		func() { s["minLength"], s["maxLength"] = r.IntN(2), r.IntN(3) },
		func() { s["pattern"] = "^a" },
		func() { s["minItems"], s["uniqueItems"] = r.IntN(2), true },
		func() { s["maxProperties"] = r.IntN(3) },
		func() { s["required"] = []string{"a"} },
		func() { s["dependentRequired"] = map[string]any{"a": []string{"b"}} },
	}
	if depth > 0 {
		keywords = append(
			keywords,
			func() { s["items"] = sub() },
			func() { s["prefixItems"] = []any{sub(), sub()} },
			func() { s["contains"], s["minContains"] = sub(), r.IntN(3) },
			func() { s["properties"] = map[string]any{"a": sub(), "b": sub()} },
			func() { s["additionalProperties"] = sub() },
			func() { s["patternProperties"] = map[string]any{"^[ab]$": sub()} },
			func() { s["propertyNames"] = sub() },
			func() { s["dependentSchemas"] = map[string]any{"b": sub()} },
			func() { s["allOf"] = []any{sub(), sub()} },
			func() { s["anyOf"] = []any{sub(), sub()} },
			func() { s["oneOf"] = []any{sub(), sub(), sub()} },
			func() { s["not"] = sub() },
			func() { s["if"], s["then"], s["else"] = sub(), sub(), sub() },
		)
	}
	for range r.IntN(3) {
		keywords[r.IntN(len(keywords))]()
	}
	return s
}

func randomValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(8); {
	case n == 0:
		return nil
	case n == 1:
		return r.IntN(2) == 0
	case n == 2:
		return []string{"", "a", "ab", "b", "äöü"}[r.IntN(5)]
	case n == 3:
		return r.IntN(5)
	case n == 4:
		return []float64{0.5, 1.5, 2.0, -1}[r.IntN(4)]
	case n < 7 && depth > 0:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = randomValue(r, depth-1)
		}
		return list
	case depth > 0:
		object := map[string]any{}
		for _, name := range []string{"a", "b", "c"} {
			if r.IntN(2) == 0 {
				object[name] = randomValue(r, depth-1)
			}
		}
		return object
	}
	return "x"
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func FuzzCheck(f *testing.F) {
	f.Add("{}", `{"a":1}`)
	f.Add(orderSchema, `{"name":"abc","price":1,"tree":{"left":{}}}`)
	f.Add(`{"$ref":"#"}`, `{"a":[1,2,{}]}`)
	f.Add(`{"properties":{"a":{"$ref":"#/properties/a"}}}`, `{"a":1}`)
	anything, err := compileSchema("any", json.RawMessage(`{}`))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, schema, arguments string) {
		if s, err := compileSchema("fuzz", json.RawMessage(schema)); err == nil {
			_ = s.check(arguments)
		}
		got := said(anything.check(arguments))
		if !json.Valid([]byte(arguments)) && strings.TrimSpace(arguments) != "" && !strings.HasPrefix(got, "arguments: not valid JSON") {
			t.Errorf("%q is not JSON, but the error is %q", arguments, got)
		}
		var object map[string]any
		if json.Unmarshal([]byte(arguments), &object) != nil || object == nil {
			return
		}
		if got != "" && !strings.HasSuffix(got, "is given twice") && !strings.Contains(got, "nested more than") {
			t.Errorf("%q is refused: %s", arguments, got)
		}
	})
}
