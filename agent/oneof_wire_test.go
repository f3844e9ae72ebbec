package agent_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/google"
	"github.com/shoal-dev/shoal/agent/provider/openai"
)

type figure interface{ figure() }

type dot struct {
	X float64 `json:"x"`
}

type group struct {
	Figures []agent.OneOf[figure] `json:"figures"`
}

type drawing struct {
	Figure agent.OneOf[figure] `json:"figure"`
}

func (dot) figure()   {}
func (group) figure() {}

func init() { agent.RegisterOneOf(map[string]figure{"dot": dot{}, "group": group{}}) }

// What the wires of three vendors send of a union that contains itself. OpenAI's strict mode
// accepts it; Google refuses a required property that leads back, so that it is optional
// there, and the agent checks it.
func TestOneOfOnTheWires(t *testing.T) {
	draw := agent.Func("draw", "Draws.", func(context.Context, drawing) (string, error) { return "", nil })
	schema := func(required ...string) any {
		form := func(name, property string, value any, required ...string) any {
			return map[string]any{
				"type": "object", "required": required, "additionalProperties": false,
				"properties": map[string]any{"type": map[string]any{"type": "string", "enum": []any{name}}, property: value},
			}
		}
		ref := map[string]any{"$ref": "#/$defs/figure"}
		return map[string]any{
			"type": "object", "required": []any{"figure"}, "additionalProperties": false,
			"properties": map[string]any{"figure": ref},
			"$defs": map[string]any{"figure": map[string]any{"anyOf": []any{
				form("dot", "x", map[string]any{"type": "number"}, "type", "x"),
				form("group", "figures", map[string]any{"type": "array", "items": ref}, required...),
			}}},
		}
	}
	for name, test := range map[string]struct {
		model                func(url string, client *http.Client) agent.Model
		tool, output         func(body map[string]any) any // as they are on the wire
		wantTool, wantOutput any
	}{
		"chat": {
			func(url string, client *http.Client) agent.Model {
				return openai.Chat("m", openai.Options{BaseURL: url, APIKey: "k", HTTPClient: client})
			},
			func(body map[string]any) any { return at(body, "tools", 0, "function") },
			func(body map[string]any) any { return at(body, "response_format", "json_schema") },
			map[string]any{"name": "draw", "description": "Draws.", "parameters": schema("type", "figures")},
			map[string]any{"name": "drawing", "strict": true, "schema": schema("type", "figures")},
		},
		"responses": {
			func(url string, client *http.Client) agent.Model {
				return openai.Responses("m", openai.Options{BaseURL: url, APIKey: "k", HTTPClient: client})
			},
			func(body map[string]any) any { return at(body, "tools", 0) },
			func(body map[string]any) any { return at(body, "text", "format") },
			map[string]any{"type": "function", "name": "draw", "description": "Draws.", "strict": false, "parameters": schema("type", "figures")},
			map[string]any{"type": "json_schema", "name": "drawing", "strict": true, "schema": schema("type", "figures")},
		},
		"anthropic": {
			func(url string, client *http.Client) agent.Model {
				return anthropic.New("m", anthropic.Options{BaseURL: url, APIKey: "k", HTTPClient: client})
			},
			func(body map[string]any) any { return at(body, "tools", 0, "input_schema") },
			func(body map[string]any) any { return at(body, "output_config", "format", "schema") },
			schema("type", "figures"), schema("type", "figures"),
		},
		"google": {
			func(url string, client *http.Client) agent.Model {
				return google.New("m", google.Options{BaseURL: url, APIKey: "k", HTTPClient: client})
			},
			func(body map[string]any) any {
				return at(body, "tools", 0, "functionDeclarations", 0, "parametersJsonSchema")
			},
			func(body map[string]any) any { return at(body, "generationConfig", "responseJsonSchema") },
			schema("type"), schema("type"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, refuses(http.StatusBadRequest, `{"error":{"message":"enough"}}`))
			a, err := agent.New(test.model(w.url, w.client), agent.Options{Tools: []agent.Tool{draw}, Output: &agent.Structured{
				Mode: agent.OutputNative, Types: []agent.OutputSchema{agent.OutputOf[drawing]("drawing", "")},
			}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.Ask(t.Context(), "draw"); err == nil {
				t.Error("the answer is not refused")
			}
			var body map[string]any
			if err := json.Unmarshal([]byte(w.bodies[0]), &body); err != nil {
				t.Fatal(err)
			}
			got, want := []any{test.tool(body), test.output(body)}, []any{}
			text, err := json.Marshal([]any{test.wantTool, test.wantOutput})
			if err == nil {
				err = json.Unmarshal(text, &want)
			}
			if d := cmp.Diff(want, got); d != "" || err != nil {
				t.Errorf("(-want +got)\n%s%v", d, err)
			}
		})
	}
}

// at returns what is at a path of keys and indices, nil if nothing is.
func at(v any, path ...any) any {
	for _, step := range path {
		switch key := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[key]
		case int:
			l, _ := v.([]any)
			if key >= len(l) {
				return nil
			}
			v = l[key]
		}
	}
	return v
}
