package agent

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type place struct {
	City string `json:"city" jsonschema:"Name of the city."`
	Zip  *int   `json:"zip"`
}

type everything struct {
	Name    string          `json:"name" jsonschema:"Whose it is."`
	Count   int8            `json:"count,omitempty"`
	Price   float64         `json:"price"`
	Sure    bool            `json:"sure"`
	Place   place           `json:"place"`
	Other   *place          `json:"other"`
	Tags    []string        `json:"tags"`
	Labels  map[string]int  `json:"labels,omitzero"`
	When    time.Time       `json:"when"`
	Until   *time.Time      `json:"until"`
	Address netip.Addr      `json:"address,omitzero"`
	Raw     json.RawMessage `json:"raw"`
	Maybe   *json.RawMessage
	Any     any    `json:"any,omitempty"`
	Data    []byte `json:"data,omitempty"`
	Hidden  string `json:"-"`
	private string
}

func TestFuncDerivesTheSchemaFromTheStruct(t *testing.T) {
	tool := Func("all", "Takes everything.", func(_ context.Context, in everything) (string, error) { return in.private, nil })
	var got, want any
	if err := json.Unmarshal(tool.Spec().Schema, &got); err != nil {
		t.Fatal(err)
	}
	const placeSchema = `"type":%,"properties":{"city":{"type":"string","description":"Name of the city."},"zip":{"type":["integer","null"]}},
		"required":["city"],"additionalProperties":false`
	expected := `{"type":"object","additionalProperties":false,"properties":{
		"name":{"type":"string","description":"Whose it is."},
		"count":{"type":"integer","minimum":-128,"maximum":127},
		"price":{"type":"number"}, "sure":{"type":"boolean"},
		"place":{` + strings.Replace(placeSchema, "%", `"object"`, 1) + `},
		"other":{` + strings.Replace(placeSchema, "%", `["object","null"]`, 1) + `},
		"tags":{"type":"array","items":{"type":"string"}},
		"labels":{"type":"object","additionalProperties":{"type":"integer"}},
		"when":{"type":"string","format":"date-time"},
		"until":{"type":["string","null"],"format":"date-time"},
		"address":{"type":"string"}, "raw":true, "Maybe":true, "any":true,
		"data":{"type":"string","contentEncoding":"base64"}},
		"required":["name","price","sure","place","tags","when","raw"]}`
	if err := json.Unmarshal([]byte(expected), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	if schema, err := compileSchema("all", tool.Spec().Schema); err != nil {
		t.Error(err)
	} else if err := schema.check(`{"name":"n","price":1,"sure":true,"place":{"city":"Kiel","zip":null},"tags":[],
		"when":"2026-01-02T03:04:05Z","until":null,"Maybe":7,"raw":{"x":[]},"address":"::1","data":"AAA="}`); err != nil {
		t.Error(err)
	}
}

func TestFuncWithoutArgumentsIsAnEmptyObject(t *testing.T) {
	tool := Func("now", "Returns the time.", func(context.Context, struct{}) (string, error) { return "noon", nil })
	if got := string(tool.Spec().Schema); got != `{"type":"object","properties":{},"additionalProperties":false}` {
		t.Errorf("schema = %s", got)
	}
	for _, none := range []string{"", " \n", "{}"} {
		if out, err := tool.Call(t.Context(), ToolCall{Arguments: none}); err != nil || out.Text != "noon" {
			t.Errorf("Call(%q) = %+v, %v", none, out, err)
		}
	}
}

func TestFuncPanicsWhenTheArgumentsHaveNoSchema(t *testing.T) {
	for name, make := range map[string]func(){
		"string is not an object in JSON": func() { Func("t", "", func(context.Context, string) (string, error) { return "", nil }) },
		"time.Time is not an object":      func() { Func("t", "", func(context.Context, time.Time) (string, error) { return "", nil }) },
		"chan int":                        func() { Func("t", "", func(context.Context, struct{ C chan int }) (string, error) { return "", nil }) },
		`agent.Func("t"): the function`:   func() { Func[struct{}, string]("t", "", nil) },
		`agent.Dynamic("d"): the funct`:   func() { Dynamic(ToolSpec{Name: "d"}, nil) },
		"bool is not an object":           func() { schemaFor[bool]() },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, name) || !strings.Contains(text, "agent") {
					t.Errorf("panic %q, want one with %q", text, name)
				}
			}()
			make()
		}()
	}
}

func TestFuncReportsTheFieldThatDoesNotDecode(t *testing.T) {
	type in struct {
		Count int       `json:"count"`
		When  time.Time `json:"when"`
		Place place     `json:"place"`
	}
	tool := Func("t", "", func(context.Context, in) (string, error) { return "ran", nil })
	for arguments, want := range map[string]string{
		`{"count":1.5}`:               "arguments.count: number 1.5 does not fit int",
		`{"place":{"city":7}}`:        "arguments.place.city: number does not fit string",
		`{"count":1,"when":"sunday"}`: `arguments.when: parsing time "sunday"`,
		`[1]`:                         "arguments: json: cannot unmarshal array",
		`{`:                           "arguments: unexpected end of JSON input",
	} {
		out, err := tool.Call(t.Context(), ToolCall{Arguments: arguments})
		if err != nil || !out.Failed || !strings.HasPrefix(out.Text, want) {
			t.Errorf("Call(%s) = %+v, %v; want a failed output with %q", arguments, out, err, want)
		}
	}
}

func TestFuncResults(t *testing.T) {
	call := func(tool Tool) Output {
		t.Helper()
		out, err := tool.Call(t.Context(), ToolCall{Arguments: "{}"})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	type none = struct{}
	file := Output{Text: "seen", Files: []File{{MediaType: "image/png", Data: []byte{1}}}, Failed: true}
	for _, c := range []struct {
		tool Tool
		want Output
	}{
		{Func("t", "", func(context.Context, none) (string, error) { return "as <is>\n", nil }), Output{Text: "as <is>\n"}},
		{Func("t", "", func(context.Context, none) (Output, error) { return file, nil }), file},
		{Func("t", "", func(context.Context, none) (any, error) { return file, nil }), file},
		{Func("t", "", func(context.Context, none) (any, error) { return nil, nil }), Output{Text: "null"}},
		{Func("t", "", func(context.Context, none) ([]string, error) { return []string{"<a>"}, nil }), Output{Text: `["<a>"]`}},
		{Func("t", "", func(context.Context, none) (place, error) { return place{City: "Kiel"}, nil }), Output{Text: `{"city":"Kiel","zip":null}`}},
	} {
		if diff := cmp.Diff(c.want, call(c.tool)); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
	}

	broken := errors.New("broken")
	_, err := Func("t", "", func(context.Context, none) (string, error) { return "lost", broken }).Call(t.Context(), ToolCall{})
	if !errors.Is(err, broken) {
		t.Errorf("err = %v", err)
	}
	if _, err = Func("t", "", func(context.Context, none) (any, error) { return func() {}, nil }).Call(t.Context(), ToolCall{}); err == nil {
		t.Error("a result that is not JSON made no error")
	}
}

func TestConfigureDynamicAndExternal(t *testing.T) {
	echo := Dynamic(ToolSpec{Name: "echo", Schema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, call ToolCall) (Output, error) {
			return Output{Text: call.Name + call.Arguments}, nil
		})
	changed := Configure(echo, func(s *ToolSpec) { s.RequiresPermission, s.Timeout = true, time.Second })
	spec := changed.Spec()
	if !spec.RequiresPermission || spec.Timeout != time.Second || spec.Name != "echo" || echo.Spec().RequiresPermission {
		t.Errorf("configured %+v, original %+v", spec, echo.Spec())
	}
	if out, err := changed.Call(t.Context(), ToolCall{Name: "echo"}); err != nil || out.Text != "echo{}" {
		t.Errorf("Call = %+v, %v", out, err)
	}
	ask := External(ToolSpec{Name: "ask"})
	if _, err := ask.Call(t.Context(), ToolCall{}); !ask.Spec().External || KindOf(err) != ErrInternal {
		t.Errorf("External: %+v, %v", ask.Spec(), err)
	}
}
