package tool_test

import (
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/tool"
)

func computing(expression string) agentconfig.Tool {
	return agentconfig.Tool{
		Name: "c", ExecutionType: agentconfig.ComputeType,
		Execution: agentconfig.Execution{Compute: &agentconfig.Compute{Operation: "op", Expression: expression}},
	}
}

func TestCompute(t *testing.T) {
	const input = `{"data": {"a": 7, "b": 2.5, "name": "Ann", "items": [3, 1, 2], "rows": [{"p": 2}], "big": 9007199254740993, "none": null, "yes": true}, "parameters": {"a": 8, "tax": 0.19}}`
	for expression, want := range map[string]string{
		"1 + 2 * 3":                              "7",
		"7 / 2":                                  "3.5",
		"a + tax":                                "8.19", // parameters win
		"data.a":                                 "7",
		"data['a'] + parameters['a']":            "15",
		"input.data.b":                           "2.5",
		"-a":                                     "-8",
		"a % 3":                                  "2",
		"-7 % 3 + 5.5 % 2":                       "0.5",
		"2 ^ 10 + 2 ** 3":                        "1032",
		"9223372036854775807 + 1":                "9223372036854776000",
		"a > 7 && b <= 2.5 || false":             "true",
		"a > 7 and not (b == 2.5)":               "false",
		"a == 8 ? 'eight' : 'other'":             `"eight"`,
		"yes ? 1 : 2":                            "1",
		"name + ' ' + text(a)":                   `"Ann 8"`,
		"upper(name) + lower('X') + trim(' y ')": `"ANNxy"`,
		"'nn' in ['nn'] and name contains 'n' and name startsWith 'A' and name endsWith 'n'": "true",
		"len(name) + len(items) + len({'x': 1})":                                             "7",
		"sum(items)":                                                                         "6",
		"sum([])":                                                                            "0",
		"avg(items) + min(items) + max(1, 9, 4)":                                             "12",
		"round(2.5) + round(-2.5) + round(1.005 * 100, 1)":                                   "100.5",
		"floor(1.9) + ceil(1.1) + abs(-1)":                                                   "4",
		"items[0] + items[-1]":                                                               "5",
		"rows[0].p * 2":                                                                      "4",
		"gone":                                                                               "null",
		"gone ?? 5":                                                                          "5",
		"gone?.deep":                                                                         "null",
		"none == nil":                                                                        "true",
		"[a, {'k': b}]":                                                                      `[8,{"k":2.5}]`,
		"big":                                                                                "9007199254740992",
	} {
		tl, err := tool.New(computing(expression), tool.Options{})
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		out, _ := run(t, tl, input)
		if text := `{"operation":"op","result":` + want + `,"success":true}`; out.Failed || out.Text != text {
			t.Errorf("%s is %s, want %s", expression, out.Text, want)
		}
	}
}

// A tool whose schema names its fields at the top computes with these names.
func TestComputeKnowsBareInputNames(t *testing.T) {
	const input = `{"price": 3, "count": 4, "data": {"count": 5}, "input": 6}`
	for expression, want := range map[string]string{
		"price * 2":           "6",
		"price * count":       "15", // a field of data is nearer
		"input.count + price": "7",
		"input.input":         "6",
	} {
		c := computing(expression)
		c.InputSchema = []byte(`{"type":"object","properties":{"price":{"type":"number"},"count":{"type":"number"}}}`)
		tl, err := tool.New(c, tool.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out, _ := run(t, tl, input)
		if text := `{"operation":"op","result":` + want + `,"success":true}`; out.Failed || out.Text != text {
			t.Errorf("%s is %s, want %s", expression, out.Text, want)
		}
	}
}

func TestComputeLimits(t *testing.T) {
	for _, expression := range []string{
		"", "1 +", "system('x')", "print(1)", "now()", "data.a()", "name.Foo()", "map(items, # * 2)", "filter(items, {# > 1})", "all(1..9, true)",
		"1..1000000", "let x = 1; x", "1; 2", "if true { 1 } else { 2 }", "'a' matches '(a+)+$'", "items[0:2]", "repeat('x', 9999999)", "reduce(items, #acc + #)",
		"toJSON(items)", "$env", "$env.data", "fromJSON('1')", "get(data, 'a')", "items | map(# + 1)", "items | sum() | system()", "sort(items)", "(1)(2)", "b'x'",
		strings.Repeat("1+", 300) + "1", strings.Repeat("(", 3000) + "1" + strings.Repeat(")", 3000), strings.Repeat("x", 5000),
	} {
		if _, err := tool.New(computing(expression), tool.Options{}); len(locations(err)) != 1 || locations(err)[0] != "execution.expression" {
			t.Errorf("%.60s: %v", expression, err)
		}
	}
}

func TestComputeErrors(t *testing.T) {
	for expression, want := range map[string]string{
		"1 / 0":          "divides by zero",
		"0 % 0":          "divides by zero",
		"1e308 * 10":     "too large",
		"data.a + 1":     "does not fit the input",
		"sum(data.list)": "takes numbers",
		"min([])":        "at least one number",
		"round('x')":     "takes one number",
		"round(1, 99)":   "digits",
		"data.list[9]":   "does not fit the input",
		"upper(1)":       "takes one text",
		"1 > 'x'":        "does not fit the input",
		"1 ? 2 : 3":      "",
		"[1 / 0]":        "cannot be written",
	} {
		tl, err := tool.New(computing(expression), tool.Options{})
		if err != nil {
			if want != "" && !strings.Contains(want, "fit") {
				t.Errorf("%s: %v", expression, err)
			}
			continue
		}
		out, v := run(t, tl, `{"data": {"a": "text", "list": ["x"]}}`)
		if said, _ := v["error"].(string); !out.Failed || v["success"] != false || !strings.Contains(said, want) {
			t.Errorf("%s: %s", expression, out.Text)
		}
	}
	tl, err := tool.New(computing("len(data)"), tool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if out, _ := run(t, tl, `{"data": "`+strings.Repeat("x", 100<<10)+`"}`); !out.Failed {
		t.Errorf("a large input: %.80s", out.Text)
	}
	// The worst that fits: every operand is the whole input.
	worst, err := tool.New(computing("data"+strings.Repeat("+data", 90)), tool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if out, _ := run(t, worst, `{"data": "`+strings.Repeat("x", 60<<10)+`"}`); !out.Failed || !strings.Contains(out.Text, "too large") {
		t.Errorf("a large result: %.80s", out.Text)
	}
}

func FuzzCompute(f *testing.F) {
	for _, expression := range []string{"1+2", "sum(data.x) > 3 ? 'a' : b", "[1, {'k': data['x'][0]}] == nil", "a?.b ?? -c % 2 ^ 3", "'x' in data and not (a contains 'y')"} {
		f.Add(expression, `{"data": {"x": [1, 2]}, "parameters": {"a": "y"}}`)
	}
	f.Fuzz(func(t *testing.T, expression, input string) {
		tl, err := tool.New(computing(expression), tool.Options{})
		if err != nil {
			return
		}
		run(t, tl, input)
	})
}
