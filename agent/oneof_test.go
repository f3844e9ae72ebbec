package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type shape interface{ area() float64 }

type circle struct {
	Radius float64 `json:"radius" jsonschema:"In metres."`
}

type square struct {
	Side  float64 `json:"side"`
	Color *string `json:"color"`
}

func (c circle) area() float64  { return 3 * c.Radius * c.Radius }
func (s *square) area() float64 { return s.Side * s.Side }

// expression is a tree of a union.
type expression interface{ value() float64 }

type number struct {
	N float64 `json:"n"`
}

type sum struct {
	Parts []OneOf[expression] `json:"parts"`
}

func (n number) value() float64 { return n.N }

func (s sum) value() float64 {
	total := 0.0
	for _, p := range s.Parts {
		total += p.Value.value()
	}
	return total
}

func init() {
	RegisterOneOf(map[string]shape{"circle": circle{}, "square": &square{}})
	RegisterOneOf(map[string]expression{"number": number{}, "sum": sum{}})
}

type folder struct {
	Name    string            `json:"name"`
	Folders []folder          `json:"folders" jsonschema:"What is in it."`
	Parent  *folder           `json:"parent"`
	Links   map[string]folder `json:"links,omitempty"`
}

type tree []tree

// schemaText derives the schema of a type, and compiles it as an agent does.
func schemaText[T any](t *testing.T) (text string, compiled *argumentSchema) {
	t.Helper()
	tool := Func("t", "", func(context.Context, T) (string, error) { return "", nil })
	compiled, err := compileSchema("t", tool.Spec().Schema)
	if err != nil {
		t.Fatal(err)
	}
	return string(tool.Spec().Schema), compiled
}

func TestSchemasOfTypesThatContainThemselves(t *testing.T) {
	type in struct {
		Root  folder `json:"root"`
		Trees tree   `json:"trees"`
	}
	text, s := schemaText[in](t)
	const ref = `{"$ref":"#/$defs/folder"}`
	want := `{"$defs":{"folder":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},` +
		`"folders":{"type":"array","description":"What is in it.","items":` + ref + `},` +
		`"parent":{"anyOf":[` + ref + `,{"type":"null"}]},` +
		`"links":{"type":"object","additionalProperties":` + ref + `}},"additionalProperties":false},` +
		`"tree":{"type":"array","items":{"$ref":"#/$defs/tree"}}},` +
		`"type":"object","required":["root","trees"],"properties":{"root":` + ref + `,"trees":{"$ref":"#/$defs/tree"}},"additionalProperties":false}`
	sameJSON(t, want, text)
	for arguments, want := range map[string]string{
		`{"trees":[[],[[]]],"root":{"name":"a","folders":[{"name":"b","parent":null},{"name":"c","links":{"x":{"name":"d"}}}]}}`: "",
		`{"trees":[],"root":{"name":"a","folders":[{"name":"b"},{"name":3,"size":1}]}}`: "arguments.root.folders[1].name: must be string, not integer\n" +
			"arguments.root.folders[1].size: is not a known property; known are: folders, links, name, parent",
		`{"trees":[],"root":{"name":"a","parent":{"name":1}}}`: "arguments.root.parent.name: must be string, not integer",
	} {
		if err := s.check(arguments); fmt.Sprint(err) != want && (err != nil || want != "") {
			t.Errorf("%s:\n%v\nwant\n%s", arguments, err, want)
		}
	}
	root, _ := schemaText[folder](t)
	if !strings.Contains(root, `"$defs":{"folder":`) || !strings.Contains(root, `"type":"object"`) {
		t.Errorf("a root that contains itself: %s", root)
	}
}

func TestSchemasOfOneOf(t *testing.T) {
	type in struct {
		Shapes []OneOf[shape] `json:"shapes" jsonschema:"All of them."`
		Border *OneOf[shape]  `json:"border" jsonschema:"Around them."`
		Size   OneOf[shape]   `json:"size" jsonschema:"As a shape."`
	}
	text, s := schemaText[in](t)
	const ref = `{"$ref":"#/$defs/shape"}`
	sameJSON(t, `{"$defs":{"shape":{"anyOf":[`+
		`{"type":"object","required":["type","radius"],"properties":{"type":{"type":"string","enum":["circle"]},"radius":{"type":"number","description":"In metres."}},"additionalProperties":false},`+
		`{"type":"object","required":["type","side"],"properties":{"type":{"type":"string","enum":["square"]},"side":{"type":"number"},"color":{"type":["string","null"]}},"additionalProperties":false}]}},`+
		`"type":"object","required":["shapes","size"],"properties":{"shapes":{"type":"array","description":"All of them.","items":`+ref+`},`+
		`"border":{"anyOf":[`+ref+`,{"type":"null"}],"description":"Around them."},"size":{"anyOf":[`+ref+`],"description":"As a shape."}},"additionalProperties":false}`, text)
	if !strings.Contains(text, `{"type":{"type":"string","enum":["circle"]},"radius"`) {
		t.Errorf("the name of the type is not the first property: %s", text)
	}
	for shapes, want := range map[string]string{
		`{"type":"circle","radius":1},{"type":"square","side":2}`: "",
		`{"type":"circle","side":1}`:                              "arguments.shapes[0].radius: is missing\narguments.shapes[0].side: is not a known property; known are: radius, type",
		`{"type":"oval"}`:                                         `arguments.shapes[0].type: must be one of "circle", "square"`,
		`{"radius":1}`:                                            `arguments.shapes[0].type: is missing; it must be one of "circle", "square"`,
	} {
		arguments := `{"size":{"type":"square","side":1},"border":{"type":"circle","radius":2},"shapes":[` + shapes + `]}`
		if err := s.check(arguments); fmt.Sprint(err) != want && (err != nil || want != "") {
			t.Errorf("%s:\n%v\nwant\n%s", shapes, err, want)
		}
		back, err := decodeArguments[in](arguments)
		if err != nil && want == "" || err == nil && back.Border.Value != shape(circle{2}) {
			t.Errorf("%+v, %v", back, err)
		}
	}
}

func TestTreesOfOneOf(t *testing.T) {
	type in struct {
		Expression OneOf[expression] `json:"expression"`
	}
	text, s := schemaText[in](t)
	if strings.Contains(text, `"sum":{`) || strings.Count(text, `"$ref":"#/$defs/expression"`) != 2 {
		t.Errorf("the schema is %s", text)
	}
	const arguments = `{"expression":{"type":"sum","parts":[{"type":"number","n":1},{"type":"sum","parts":[{"type":"number","n":2}]}]}}`
	if err := s.check(arguments); err != nil {
		t.Error(err)
	}
	back, err := decodeArguments[in](arguments)
	if err != nil || back.Expression.Value.value() != 3 {
		t.Errorf("%+v, %v", back, err)
	}
	again, err := json.Marshal(back)
	if err != nil || string(again) != arguments {
		t.Errorf("written as %s, %v", again, err)
	}
	if err := s.check(strings.Replace(arguments, `"n":2`, `"n":"2"`, 1)); err == nil ||
		err.Error() != "arguments.expression.parts[1].parts[0].n: must be number, not string" {
		t.Error(err)
	}
}

func TestOneOfAsJSON(t *testing.T) {
	var none OneOf[shape]
	if text, err := json.Marshal(none); err != nil || string(text) != "null" {
		t.Errorf("%s, %v", text, err)
	}
	got := OneOf[shape]{Value: circle{1}}
	if err := json.Unmarshal([]byte(`null`), &got); err != nil || got.Value != nil {
		t.Errorf("%v, %v", got, err)
	}
	if err := json.Unmarshal([]byte(`{"type":"oval"}`), &got); err == nil || !strings.Contains(err.Error(), `"oval" is not one of the types of agent.shape`) {
		t.Error(err)
	}
	if _, err := json.Marshal(OneOf[expression]{Value: stranger{}}); err == nil || !strings.Contains(err.Error(), "agent.stranger is not registered") {
		t.Error(err)
	}
}

type stranger struct{}

func (stranger) value() float64 { return 0 }

type unregistered interface{ nothing() }

type withType struct{ Type string }

func (withType) nothing() {}

func TestRegisterOneOfPanics(t *testing.T) {
	for want, call := range map[string]func(){
		"is registered already":         func() { RegisterOneOf(map[string]shape{"circle": circle{}}) },
		"needs an interface":            func() { RegisterOneOf(map[string]circle{"circle": {}}) },
		"and its types":                 func() { RegisterOneOf(map[string]unregistered{}) },
		`"x" is <nil>`:                  func() { RegisterOneOf(map[string]unregistered{"x": nil}) },
		`has a field "type"`:            func() { RegisterOneOf(map[string]unregistered{"x": withType{}}) },
		"unregistered has no types yet": func() { schemaFor[struct{ X OneOf[unregistered] }]() },
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, want) {
					t.Errorf("panic %q, want %q", said, want)
				}
			}()
			call()
		}()
	}
}

func sameJSON(t *testing.T, want, got string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(want), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(got), &b); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(a, b); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
