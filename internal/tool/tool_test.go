package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/tool"
)

func TestBasicTools(t *testing.T) {
	for _, c := range []struct{ name, entry, input, want string }{
		{"static", "{name: a, execution: {mode: static, output: {open: 9, note: '{{x}} & co'}}}", `{"x": 1}`, `{"note":"{{x}} & co","open":9,"success":true}`},
		{"static says otherwise", "{name: a, execution: {mode: static, output: {success: false}}}", "", `{"success":false}`},
		{"static with a template", "{name: a, execution: {mode: static, template: true, output: {t: 'to {{x}}', v: ['{{x}}', '{{o.k}}', '{{gone}}']}}}", `{"x": 12345678901234567890, "o": {"k": [true]}}`, `{"success":true,"t":"to 12345678901234567890","v":[12345678901234567890,[true],"{{gone}}"]}`},
		{"pass-through", "{name: a, execution: {mode: pass-through}}", `{"b": 1.0, "a": "<x>"}`, `{"a":"<x>","b":1.0,"success":true}`},
	} {
		tl := singleTool(t, tool.Options{}, "  - "+c.entry+"\n")
		if out, _ := run(t, tl, c.input); out.Failed || out.Text != c.want {
			t.Errorf("%s: %s, want %s", c.name, out.Text, c.want)
		}
		if tl.Kind() != tool.Here || tl.Spec().External {
			t.Errorf("%s: kind %v, %+v", c.name, tl.Kind(), tl.Spec())
		}
	}
	for name, entry := range map[string]string{
		"mode": "{name: a, execution: {mode: no-execution}}", "null": "{name: a, execution: null}", "nothing": "{name: a}",
	} {
		tl := singleTool(t, tool.Options{}, "  - "+entry+"\n")
		if _, err := tl.Call(t.Context(), agent.ToolCall{Name: "a"}); tl.Kind() != tool.Client || !tl.Spec().External || shoal.KindOf(err) != shoal.Internal {
			t.Errorf("%s: kind %v, %+v, %v", name, tl.Kind(), tl.Spec(), err)
		}
	}
}

func TestFlags(t *testing.T) {
	tl := singleTool(t, tool.Options{}, "  - {name: pay, description: Pays., idempotent: true, requiresPermission: true}\n")
	want := agent.ToolSpec{Name: "pay", Description: "Pays.", Idempotent: true, RequiresPermission: true, External: true}
	if diff := cmp.Diff(want, tl.Spec()); diff != "" {
		t.Error(diff)
	}
}

func TestAllNamesInvalidTools(t *testing.T) {
	c := config(t, `  - {name: a, executionType: compute, execution: {operation: x, expression: 'system("ls")'}}
  - {name: b, executionType: request, execution: {method: GET, url: 'https://x.example', headers: {A: '${env.MISSING}'}}}
  - {name: sendSpaceMessage, executionType: prebuilt, execution: {action: sendSpaceMessage}}
  - {name: d}
  - {name: e, executionType: ai-agent, execution: {agentConfig: x}}
  - {name: f, executionType: image-generator, execution: {provider: openai}}
`)
	_, err := tool.All(c, options(t))
	want := []string{"tools[0].execution.expression", "tools[1].execution.headers.A", "tools[4].executionType", "tools[5].executionType"}
	if diff := cmp.Diff(want, locations(err)); diff != "" {
		t.Errorf("%s\n%v", diff, err)
	}
	c.Tools = c.Tools[2:4]
	if tools, err := tool.All(c, options(t)); err != nil || len(tools) != 1 || tools[0].Spec().Name != "d" {
		t.Errorf("%v, %v", tools, err)
	}
	if _, err := tool.All(config(t, request("https://x.example", "")), tool.Options{}); len(locations(err)) != 1 {
		t.Errorf("a request without a network: %v", err)
	}
}

func TestExpand(t *testing.T) {
	env := options(t).Env
	for text, want := range map[string]string{
		"Bearer ${env.KB}": "Bearer s3cr3t/value&more", "{{x}} ${env.} ${env.BASE}.": "{{x}} ${env.} .", "": "",
	} {
		if got, err := tool.Expand(text, env); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"${env.MISSING}", "${env.KB} ${env.SHOAL_ADDR}"} {
		if got, err := tool.Expand(text, env); shoal.KindOf(err) != shoal.InvalidArgument || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestOutputSchema(t *testing.T) {
	const entry = "  - {name: a, execution: {mode: pass-through}, outputSchema: {type: object, required: [n], properties: {n: {type: integer}}}}\n"
	tl := singleTool(t, tool.Options{}, entry)
	if out, _ := run(t, tl, `{"n": 3}`); out.Failed {
		t.Error(out.Text)
	}
	out, _ := run(t, tl, `{"n": "x"}`)
	if !out.Failed || !strings.Contains(out.Text, "was executed") || !strings.Contains(out.Text, "result.n:") {
		t.Error(out.Text)
	}
	client := singleTool(t, tool.Options{}, "  - {name: a, outputSchema: {type: string, minLength: 2}}\n")
	if err := client.CheckResult("chosen"); err != nil {
		t.Errorf("a result that is not JSON counts as a string: %v", err)
	}
	for text, want := range map[string]string{
		`{"a": 1}`: "result: must be string, not object",
		`{`:        "result: must have at least 2 characters, not 1",
	} {
		if err := client.CheckResult(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	free := singleTool(t, tool.Options{}, "  - {name: a}\n")
	if err := free.CheckResult(`{"a": 1, "a": 2}`); err != nil {
		t.Errorf("without an outputSchema every result is valid: %v", err)
	}
}

func TestInvalidSchemas(t *testing.T) {
	for field, c := range map[string]agentconfig.Tool{
		"inputSchema.properties.n": {InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"$ref":"#gone"}}}`)},
		"outputSchema.items.type":  {OutputSchema: json.RawMessage(`{"items":{"type":7}}`)},
	} {
		c.Name, c.Execution.Basic = "a", &agentconfig.Basic{}
		_, err := tool.New(c, tool.Options{})
		if wrong, ok := errors.AsType[*shoal.Error](err); !ok || wrong.Kind != shoal.InvalidArgument || wrong.Fields[0].Location != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestWaiting(t *testing.T) {
	tl := singleTool(t, tool.Options{}, "  - {name: sleep, executionType: waiting, displayTool: true, execution: {duration: 1500, reason: tea}}\n")
	if spec := tl.Spec(); tl.Kind() != tool.Clock || !spec.External || !strings.Contains(string(spec.Schema), `"seconds"`) {
		t.Errorf("kind %v, %+v", tl.Kind(), spec)
	}
	for arguments, want := range map[string]tool.Wait{
		"":                                   {Duration: 1500 * time.Millisecond, Reason: "tea"},
		`{"seconds": 2}`:                     {Duration: 2 * time.Second, Reason: "tea"},
		`{"seconds": 2, "duration": 10}`:     {Duration: 10 * time.Millisecond, Reason: "tea"},
		`{"duration": 0.5, "reason": "egg"}`: {Duration: 500 * time.Microsecond, Reason: "egg"},
		`{"duration": 1e300}`:                {Duration: 31 * 24 * time.Hour, Reason: "tea"},
		`{"targetSpaceId": "s"}`:             {Duration: 1500 * time.Millisecond, Reason: "tea"},
	} {
		if got, err := tl.Wait(arguments); err != nil || got != want {
			t.Errorf("%s: %+v, %v", arguments, got, err)
		}
	}
	for _, arguments := range []string{`{"duration": -1}`, `{"seconds": "x"}`, `[]`, `{"duration":`} {
		if w, err := tl.Wait(arguments); err == nil {
			t.Errorf("%s waits %+v", arguments, w)
		}
	}
	at := time.Date(2026, 11, 20, 12, 0, 0, 7e6, time.FixedZone("", 3600))
	if got := (tool.Wait{Duration: 2 * time.Second, Reason: "tea"}).Result(at); got != `{"reason":"tea","success":true,"timestamp":"2026-11-20T11:00:00.007Z","waited":2000}` {
		t.Error(got)
	}
}

const cardEntry = `  - name: card
    displayTool: true
    targeted: TARGETED
    execution: {mode: pass-through}
    inputSchema: {type: object, additionalProperties: false, minProperties: 1, required: [name], properties: {name: {type: string}, price: {type: number}}, $defs: {x: {type: string}}}
`

// The model sees the routing fields, before the author's; nothing else ever sees them.
func TestDisplayTools(t *testing.T) {
	tl := singleTool(t, tool.Options{}, strings.ReplaceAll(cardEntry, "TARGETED", "true"))
	spec := string(tl.Spec().Schema)
	places := make([]int, 0, 6)
	for _, name := range []string{`"properties":{`, `"targetSpaceId":`, `"mention":`, `"targetEntityId":`, `"name":`, `"price":`} {
		places = append(places, strings.Index(spec, name))
	}
	for i := range places {
		if places[i] < 0 || i > 0 && places[i] < places[i-1] {
			t.Errorf("the order of %s", spec)
		}
	}
	var shown struct {
		Type                 string
		Required             []string
		AdditionalProperties *bool
		Defs                 map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(tl.Spec().Schema, &shown); err != nil || shown.Type != "object" || cmp.Diff(shown.Required, []string{"name"}) != "" || shown.AdditionalProperties == nil || len(shown.Defs) != 1 {
		t.Errorf("%+v, %v", shown, err)
	}
	if strings.Contains(string(tl.Config().InputSchema), "targetSpaceId") {
		t.Error("the author's own schema was changed")
	}

	routing, rest, err := tl.Strip(`{ "price" : 1.50, "mention":"bob", "name":"ä\u0041 x", "targetSpaceId" :"shop", "targetEntityId": "ann"}`)
	if err != nil || rest != `{"price":1.50,"name":"ä\u0041 x"}` || routing != (tool.Routing{TargetSpaceID: "shop", Mention: "bob", TargetEntityID: "ann"}) {
		t.Errorf("%+v, %s, %v", routing, rest, err)
	}
	out, _ := run(t, tl, `{"targetSpaceId": "shop", "name": "x"}`)
	if out.Text != `{"name":"x","success":true}` {
		t.Errorf("the execution received %s", out.Text)
	}
	// Routing does not count as an argument.
	if out, _ := run(t, tl, `{"targetSpaceId": "shop"}`); !out.Failed || !strings.Contains(out.Text, "name") {
		t.Error(out.Text)
	}
	for arguments, want := range map[string]tool.Routing{
		`{"targetSpaceId": null, "mention": ""}`: {},
		"":                                       {},
	} {
		if routing, rest, err := tl.Strip(arguments); err != nil || routing != want || rest != "{}" {
			t.Errorf("%q: %+v, %s, %v", arguments, routing, rest, err)
		}
	}
	for _, arguments := range []string{
		`{"targetSpaceId": 7}`, `{"targetSpaceId": "a/b"}`, `{"mention": ["bob"]}`, `{"name":1,"name":2}`, `{"mention":"a","mention":"b"}`, `[]`, `{"a":1} x`, `{"a"`, `"x"`, `null`,
	} {
		if _, rest, err := tl.Strip(arguments); err == nil {
			t.Errorf("%s is stripped to %s", arguments, rest)
		}
	}
}

// A field of that name that the tool does not have is an argument like any other.
func TestOnlyDisplayToolsHaveRouting(t *testing.T) {
	plain := singleTool(t, tool.Options{}, "  - {name: a, execution: {mode: pass-through}}\n")
	if routing, rest, err := plain.Strip(`{"targetSpaceId":"x"}`); err != nil || rest != `{"targetSpaceId":"x"}` || routing != (tool.Routing{}) {
		t.Errorf("%+v, %s, %v", routing, rest, err)
	}
	untargeted := singleTool(t, tool.Options{}, strings.ReplaceAll(cardEntry, "TARGETED", "false"))
	if strings.Contains(string(untargeted.Spec().Schema), "targetEntityId") {
		t.Errorf("%s", untargeted.Spec().Schema)
	}
	if out, _ := run(t, untargeted, `{"name":"x","targetEntityId":"ann"}`); !out.Failed || !strings.Contains(out.Text, "targetEntityId") {
		t.Error(out.Text)
	}
	without := singleTool(t, tool.Options{}, "  - {name: a, displayTool: true}\n")
	if got := string(without.Spec().Schema); !strings.HasPrefix(got, `{"type":"object","properties":{"targetSpaceId":`) || !json.Valid([]byte(got)) {
		t.Error(got)
	}
}

// runScript runs an agent whose model plays a script, and returns the conversation and the
// result.
func runScript(t *testing.T, tools []*tool.Tool, store agent.Store, answers ...script.Answer) (*agent.Conversation, *agent.Result) {
	t.Helper()
	var all []agent.Tool
	for _, tl := range tools {
		all = append(all, tl)
	}
	a, err := agent.New(script.PerTurn(answers...), agent.Options{Name: "boss", Tools: all})
	if err != nil {
		t.Fatal(err)
	}
	c := agent.OpenConversation(store, "c")
	result, err := a.Run(t.Context(), c, agent.Say("go"))
	if err != nil {
		t.Fatal(err)
	}
	return c, result
}

func calling(name, arguments string) script.Answer {
	return script.Answer{Calls: []agent.ToolCall{{ID: "c1", Name: name, Arguments: arguments}}}
}

// Tools of a config run in the real loop.
func TestToolsInATurn(t *testing.T) {
	server := serve(t, "127.0.0.1:0", ok)
	all, err := tool.All(config(t, "  - name: call\n    executionType: request\n    execution: {url: '"+server.URL+"/{{id}}', method: POST}\n"+
		"    displayTool: true\n    inputSchema: {type: object, properties: {id: {type: integer}}, required: [id], additionalProperties: false}\n"), options(t))
	if err != nil {
		t.Fatal(err)
	}
	c, result := runScript(t, all, agent.NewMemory(), calling("call", `{"targetSpaceId":"shop","id":7,"mention":"bob"}`), script.Answer{Text: "Done."})
	if result.Text() != "Done." {
		t.Errorf("%+v", result)
	}
	messages, err := c.Messages(t.Context())
	if err != nil || len(messages) != 4 {
		t.Fatalf("%+v, %v", messages, err)
	}
	if seen := server.effects(); len(seen) != 1 || seen[0].path != "/7" || seen[0].body != `{"id":7}` {
		t.Errorf("the tool server saw %+v", seen)
	} else if key := seen[0].header.Get("Idempotency-Key"); !strings.HasPrefix(key, "trn_") || !strings.HasSuffix(key, "/0/c1") {
		t.Errorf("got the idempotency key %q", key)
	}
}

// A call carries an idempotency key, unless it has no effect or the author sets the header.
func TestIdempotencyKeys(t *testing.T) {
	server := serve(t, "127.0.0.1:0", ok)
	for more, want := range map[string]string{
		"method: GET": "",
		"method: DELETE, headers: {idempotency-key: '{{id}}'}": "7",
	} {
		all, err := tool.All(config(t, request(server.URL, more)), options(t))
		if err != nil {
			t.Fatal(err)
		}
		runScript(t, all, agent.NewMemory(), calling("call", `{"id":7}`), script.Answer{Text: "Done."})
		if seen := server.effects(); len(seen) != 1 || seen[0].header.Get("Idempotency-Key") != want {
			t.Errorf("%s: the tool server saw %+v", more, seen)
		}
	}
}

func TestAgentTool(t *testing.T) {
	var asked []string
	clerk, err := agent.New(script.Func(func(req *agent.Request) script.Answer {
		var said []string
		for _, m := range req.Messages {
			said = append(said, m.Text())
		}
		asked = append(asked, strings.Join(said, "|"))
		return script.Answer{Text: "It costs 7."}
	}), agent.Options{Name: "clerk"})
	if err != nil {
		t.Fatal(err)
	}
	o := tool.Options{Agent: func(_ context.Context, id shoal.EntityID) (*agent.Agent, error) {
		if id != "clerk" {
			return nil, shoal.E("test", shoal.NotFound, "no such agent")
		}
		return clerk, nil
	}}
	entry := func(more string) string {
		return "  - {name: ask, executionType: ai-agent, displayTool: true, execution: {" + more + "}}\n"
	}
	for _, c := range []struct{ entry, asked, result string }{
		{entry("agentConfig: clerk"), "how much?", "It costs 7."},
		{entry("agentConfig: nobody"), "", "Error: agent nobody not found."},
	} {
		asked = nil
		tl := singleTool(t, o, c.entry)
		if spec := tl.Spec(); spec.Timeout != 30*time.Second || !spec.Idempotent || !strings.Contains(string(spec.Schema), `"prompt"`) {
			t.Errorf("%+v", spec)
		}
		conversation, _ := runScript(t, []*tool.Tool{tl}, agent.NewMemory(), calling("ask", `{"targetSpaceId":"shop","prompt":"how much?"}`), script.Answer{Text: "Done."})
		messages, err := conversation.Messages(t.Context())
		if err != nil || len(messages) != 4 {
			t.Fatalf("%+v, %v", messages, err)
		}
		if got := messages[2].Results()[0].Text; got != c.result || strings.Join(asked, ";") != c.asked {
			t.Errorf("asked %q, result %q", asked, got)
		}
	}
}

// An agent that waits for a person makes its caller wait, and both continue.
func TestAgentToolWaits(t *testing.T) {
	clerk, err := agent.New(script.PerTurn(calling("ask_user", `{"question":"Which one?"}`), script.Answer{Text: "The red one."}),
		agent.Options{Name: "clerk", Tools: []agent.Tool{agent.AskUser()}})
	if err != nil {
		t.Fatal(err)
	}
	o := tool.Options{Agent: func(context.Context, shoal.EntityID) (*agent.Agent, error) { return clerk, nil }}
	tl := singleTool(t, o, "  - {name: ask, executionType: ai-agent, execution: {agentConfig: clerk}}\n")
	answers := []script.Answer{calling("ask", `{"prompt":"choose"}`), {Text: "Done."}}
	c, result := runScript(t, []*tool.Tool{tl}, agent.NewMemory(), answers...)
	if result.Outcome != agent.Waiting || len(result.Pending) != 1 || result.Pending[0].Question != "Which one?" {
		t.Fatalf("%+v", result)
	}
	if err := c.Answer(t.Context(), agent.Answer{PendingID: result.Pending[0].ID, Text: "the red one"}); err != nil {
		t.Fatal(err)
	}
	boss, err := agent.New(script.PerTurn(answers...), agent.Options{Name: "boss", Tools: []agent.Tool{tl}})
	if err != nil {
		t.Fatal(err)
	}
	end, err := boss.Run(t.Context(), c)
	if err != nil || end.Text() != "Done." {
		t.Errorf("%+v, %v", end, err)
	}
}
