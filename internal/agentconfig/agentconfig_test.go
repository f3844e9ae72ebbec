package agentconfig_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
)

var options = agentconfig.Options{ID: "stem", Env: []string{"KB"}}

func good(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/good/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("the examples in testdata/good: %v, %v", names, err)
	}
	texts := map[string][]byte{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(name)] = text
	}
	return texts
}

func decode(t testing.TB, text string) *agentconfig.Config {
	t.Helper()
	config, err := agentconfig.Decode([]byte(text), options)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return config
}

func TestExamples(t *testing.T) {
	for name, text := range good(t) {
		config := decode(t, string(text))
		again, err := agentconfig.Load(config.Canonical())
		if err != nil {
			t.Fatalf("%s: its canonical form is rejected: %v", name, err)
		}
		if diff := cmp.Diff(config, again, cmp.AllowUnexported(agentconfig.Config{})); diff != "" {
			t.Errorf("%s: the canonical form decodes to something else: %s", name, diff)
		}
		// The canonical form is YAML as well.
		if fromYAML := decode(t, "# YAML\n"+string(config.Canonical())); fromYAML.Hash() != config.Hash() {
			t.Errorf("%s: canonical form decoded as YAML: got\n%s\nwant\n%s", name, fromYAML.Canonical(), config.Canonical())
		}
	}
}

func TestDefaults(t *testing.T) {
	config := decode(t, string(good(t)["least.yaml"]))
	want := &agentconfig.Config{
		Version: "1.0",
		Agent:   agentconfig.Agent{ID: "stem", System: "Answer in one sentence."},
		Model: agentconfig.Model{
			Provider: "script", Name: "shopping", API: "default", MaxOutputTokens: 1000,
			Reasoning: agentconfig.Reasoning{Effort: "medium"}, ProviderOptions: map[string]any{},
		},
		Loop: agentconfig.Loop{
			MaxSteps: 5, ToolChoice: "auto", RunTimeoutMs: 300000, ToolTimeoutMs: 30000, MaxConsecutiveErrors: 3,
			MaxIdenticalCalls: 5, MaxParallelTools: 8, ClosingAnswer: true, OnNewMessage: "parallel",
		},
		Context: agentconfig.Context{
			History: 50, Conversation: true, Reduction: agentconfig.Reduction{Strategy: "none", Target: 20, Threshold: 5},
		},
		Tools: []agentconfig.Tool{}, Access: agentconfig.Access{Read: "requester", Write: "agent"},
		MCP: agentconfig.MCP{Servers: []agentconfig.Server{}}, Reply: agentconfig.ReplyAuto,
	}
	ignore := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".canonical" }, cmp.Ignore())
	if diff := cmp.Diff(want, config, cmp.AllowUnexported(agentconfig.Config{}), ignore); diff != "" {
		t.Error(diff)
	}

	tool := decode(t, minimal+"tools: [{name: a}, {name: b, executionType: request, execution: {url: http://x.example, method: GET}}]\n").Tools
	if diff := cmp.Diff([]agentconfig.Tool{
		{
			Name: "a", ExecutionType: "basic", Answer: agentconfig.Answer{Quorum: 1},
			Execution: agentconfig.Execution{Basic: &agentconfig.Basic{Mode: "no-execution", Output: map[string]any{}}},
		},
		{
			Name: "b", ExecutionType: "request", Answer: agentconfig.Answer{Quorum: 1},
			Execution: agentconfig.Execution{Request: &agentconfig.Request{
				URL: "http://x.example", Method: "GET", Headers: map[string]string{}, QueryParams: map[string]any{}, Timeout: 30000,
			}},
		},
	}, tool); diff != "" {
		t.Error(diff)
	}
}

// An unchanged config has the same hash, however it is written.
func TestEqualConfigsHaveEqualHashes(t *testing.T) {
	examples := good(t)
	long, short := decode(t, string(examples["contract.yaml"])), decode(t, string(examples["contract-short.json"]))
	if long.Hash() != short.Hash() {
		t.Errorf("the example of the contract has another hash without its defaults:\n%s\n%s", long.Canonical(), short.Canonical())
	}
	if h := long.Hash(); len(h) != 64 || strings.Trim(h, "0123456789abcdef") != "" {
		t.Errorf("got the hash %q", h)
	}
	for _, c := range []struct{ name, a, b string }{
		{"numbers", "budget: {maxCostPerDay: 10}\n", "budget: {maxCostPerDay: 1.0e1}\n"},
		{"hexadecimal", "loop: {maxSteps: 16}\n", "loop: {maxSteps: 0x10}\n"},
		{"whole floats", "loop: {maxSteps: 7}\n", "loop: {maxSteps: 7.0}\n"},
		{"null", "loop: null\nbudget:\n", ""},
		{"order of answerers", "tools: [{name: a, answer: {by: [x, y]}}]\n", "tools: [{name: a, answer: {by: [y, x]}}]\n"},
		{"aliases", "tools: [{name: a, inputSchema: &s {type: object}}, {name: b, inputSchema: *s}]\n", "tools: [{name: a, inputSchema: {type: object}}, {name: b, inputSchema: {type: object}}]\n"},
		{"deep numbers", "model: {provider: script, name: m, providerOptions: {a: [1.50, 1e2, -0.0]}}\n", "model: {provider: script, name: m, providerOptions: {a: [1.5, 100, 0]}}\n"},
	} {
		base := minimal
		if strings.HasPrefix(c.a, "model") {
			base = "version: '1.0'\nagent: {system: s}\n"
		}
		if a, b := decode(t, base+c.a), decode(t, base+c.b); a.Hash() != b.Hash() {
			t.Errorf("%s:\n%s\n%s", c.name, a.Canonical(), b.Canonical())
		}
	}
	const inJSON = `{"version":"1.0","agent":{"system":"s"},"model":{"provider":"script","name":"m","providerOptions":{"a":[%s]}}}`
	if a, b := decode(t, fmt.Sprintf(inJSON, "-0.0, 1E3, 1.10")), decode(t, fmt.Sprintf(inJSON, "0, 1000, 1.1")); a.Hash() != b.Hash() {
		t.Errorf("numbers in JSON:\n%s\n%s", a.Canonical(), b.Canonical())
	}
	a := decode(t, minimal)
	for _, other := range []string{"loop: {maxSteps: 6}\n", "tools: [{name: a}]\n", "model: {provider: script, name: m, temperature: 0}\n"} {
		text := minimal + other
		if strings.HasPrefix(other, "model") {
			text = "version: '1.0'\nagent: {system: s}\n" + other
		}
		if decode(t, text).Hash() == a.Hash() {
			t.Errorf("%q changes nothing", other)
		}
	}
}

func TestIdentity(t *testing.T) {
	named := strings.Replace(minimal, "{system: s}", "{id: me, system: s}", 1)
	for _, c := range []struct {
		text    string
		options agentconfig.Options
		want    shoal.EntityID // empty: rejected
	}{
		{minimal, agentconfig.Options{ID: "stem"}, "stem"},
		{named, agentconfig.Options{ID: "stem"}, "me"},
		{named, agentconfig.Options{ID: "me", Fixed: true}, "me"},
		{minimal, agentconfig.Options{ID: "me", Fixed: true}, "me"},
		{named, agentconfig.Options{ID: "you", Fixed: true}, ""},
		{minimal, agentconfig.Options{}, ""},
		{minimal, agentconfig.Options{ID: "system"}, ""},
		{minimal, agentconfig.Options{ID: ".."}, ""},
		{minimal, agentconfig.Options{ID: "a b"}, ""},
	} {
		config, err := agentconfig.Decode([]byte(c.text), c.options)
		switch {
		case c.want == "" && !slices.Equal(paths(err), []string{"agent.id"}):
			t.Errorf("%+v: %v", c.options, err)
		case c.want != "" && (err != nil || config.Agent.ID != c.want):
			t.Errorf("%+v: %+v, %v", c.options, config, err)
		}
	}
}

func TestEnvironment(t *testing.T) {
	request := func(execution string) string {
		return minimal + "tools: [{name: a, executionType: request, execution: {method: GET, " + execution + "}}]\n"
	}
	const at = "tools[0].execution."
	for _, c := range []struct {
		text, path, says string
	}{
		{request(`url: "https://x.example", headers: {A: "${env.OTHER}"}`), at + "headers.A", "OTHER"},
		{request(`url: "https://${env.OTHER}/"`), at + "url", "OTHER"},
		{request(`url: "https://x.example", body: [{a: "${env.OPENAI_API_KEY}"}]`), at + "body[0].a", "the server itself"},
		{request(`url: "https://x.example", queryParams: {k: "${env.SHOAL_KEY}"}`), at + "queryParams.k", "the server itself"},
		{request(`url: "https://x.example", queryParams: {k: "${env.}"}`), at + "queryParams.k", "${env.NAME}"},
		{request(`url: "https://x.example", body: {"${env.KB}": 1}`), at + `body["${env.KB}"]`, "only the execution"},
		{strings.Replace(minimal, "system: s", `system: "${env.KB}"`, 1), "agent.system", "only the execution"},
		{minimal + `mcp: {servers: [{name: a, url: "https://${env.KB}"}]}`, "mcp.servers[0].url", ""},
		{minimal + `tools: [{name: a, execution: {mode: static, output: {a: ["${env.KB}"]}}}]`, at + "output.a[0]", "only the execution"},
		{minimal + `tools: [{name: a, inputSchema: {type: object, description: "${env.KB}"}}]`, "tools[0].inputSchema.description", "only the execution"},
	} {
		_, err := agentconfig.Decode([]byte(c.text), agentconfig.Options{ID: "a", Env: []string{"KB", "OPENAI_API_KEY", "SHOAL_KEY"}})
		if !slices.Contains(paths(err), c.path) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s\nwant %s %q; got %v", c.text, c.path, c.says, err)
		}
	}
	// Values of the environment appear nowhere, because it is never read.
	t.Setenv("KB", "the secret itself")
	config := decode(t, string(good(t)["kinds.yaml"]))
	if bytes.Contains(config.Canonical(), []byte("the secret itself")) || config.Tools[3].Execution.Request.Headers["X-Token"] != "${env.KB}" {
		t.Errorf("the reference was resolved: %s", config.Canonical())
	}
	// A stored config stays readable when the operator permits fewer names.
	if _, err := agentconfig.Load(config.Canonical()); err != nil {
		t.Error(err)
	}
}

func TestSplit(t *testing.T) {
	for text, want := range map[string][]agentconfig.Piece{
		"":                       nil,
		"plain":                  {{Text: "plain"}},
		"${env.A}":               {{Env: "A"}},
		"a${env.A_1}b${env._b}":  {{Text: "a"}, {Env: "A_1"}, {Text: "b"}, {Env: "_b"}},
		"${env.1}${env.}${env.A": {{Text: "${env.1}${env.}${env.A"}},
		"${env.${env.A}}":        {{Text: "${env."}, {Env: "A"}, {Text: "}"}},
		"{{${env.A}}}":           {{Text: "{{"}, {Env: "A"}, {Text: "}}"}},
	} {
		if diff := cmp.Diff(want, agentconfig.Split(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestUnreadable(t *testing.T) {
	for name, text := range map[string]string{
		"empty":              "",
		"only a comment":     "# nothing\n",
		"broken JSON":        `{"version": "1.0",`,
		"broken YAML":        "a: [1\nb: 2",
		"two documents":      "a: 1\n---\nb: 2\n",
		"not UTF-8":          "version: \"\xff\"",
		"deep JSON":          strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70),
		"deep YAML":          strings.Repeat(`{a: `, 70) + "1" + strings.Repeat("}", 70),
		"very deep":          strings.Repeat("[", 100_000),
		"an alias of itself": "a: &a [*a]\n",
		"billion laughs": "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n" +
			"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n",
	} {
		_, err := agentconfig.Decode([]byte(text), options)
		if !errors.Is(err, shoal.InvalidJSON) || len(paths(err)) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := agentconfig.Decode(make([]byte, agentconfig.MaxSize+1), options); !errors.Is(err, shoal.TooLarge) {
		t.Errorf("too large: %v", err)
	}
	// The error does not repeat content of a broken text.
	if _, err := agentconfig.Decode([]byte("a: [\n  sk-secret: {]"), options); err == nil || strings.Contains(err.Error(), "sk-secret") {
		t.Errorf("a broken text: %v", err)
	}
}

// A schema that points at a file would let a config read the server's disk.
func TestSchemasReadNoFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := minimal + "tools: [{name: a, inputSchema: {type: object, properties: {p: {$ref: 'file://" + filepath.ToSlash(name) + "'}}}}]\n"
	_, err := agentconfig.Decode([]byte(text), options)
	if !slices.Equal(paths(err), []string{"tools[0].inputSchema.properties.p"}) || !strings.Contains(err.Error(), "names nothing") {
		t.Error(err)
	}
}

func paths(err error) []string {
	var e *shoal.Error
	if !errors.As(err, &e) {
		return nil
	}
	var all []string
	for _, f := range e.Fields {
		all = append(all, f.Location)
	}
	return all
}

// The Go types and the validation table describe the same format: every field of the
// canonical form has a field in a type, and the reverse.
func TestTypesMatchTable(t *testing.T) {
	for name, text := range good(t) {
		config := decode(t, string(text))
		type plain agentconfig.Config // without MarshalJSON
		again, err := json.Marshal((*plain)(config))
		if err != nil {
			t.Fatal(err)
		}
		var want, got any
		if err := errors.Join(json.Unmarshal(config.Canonical(), &want), json.Unmarshal(again, &got)); err != nil {
			t.Fatal(err)
		}
		for i, tool := range config.Tools {
			x := reflect.ValueOf(tool.Execution)
			for f := range x.NumField() {
				if field := x.Field(f); !field.IsNil() {
					raw, _ := json.Marshal(field.Interface())
					var execution any
					_ = json.Unmarshal(raw, &execution)
					got.(map[string]any)["tools"].([]any)[i].(map[string]any)["execution"] = execution
				}
			}
		}
		if diff := cmp.Diff(withoutNull(want), withoutNull(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func withoutNull(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if inner == nil {
				delete(v, name)
			} else {
				v[name] = withoutNull(inner)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutNull(v[i])
		}
	}
	return v
}
