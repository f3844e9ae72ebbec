package agentconfig_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
)

const minimal = "version: '1.0'\nagent: {system: s}\nmodel: {provider: script, name: m}\n"

// wrongConfig is a config with the paths of its invalid fields. Beyond marks problems that no
// schema can express.
type wrongConfig struct {
	text   string
	paths  []string
	beyond bool
}

func tools(text string) string   { return minimal + "tools: [" + text + "]\n" }
func servers(text string) string { return minimal + "mcp: {servers: [" + text + "]}\n" }
func request(text string) string {
	return tools("{name: a, executionType: request, execution: {" + text + "}}")
}

func display(schema string) string {
	return tools("{name: a, displayTool: true, targeted: true, inputSchema: {type: object, " + schema + "}}")
}

var wrongConfigs = []wrongConfig{
	{text: "[]", paths: []string{"config"}},
	{text: "just text", paths: []string{"config"}},
	{text: "{}", paths: []string{"version", "agent", "model"}},
	{text: `{"agent": {}, "model": {}, "extra": 1}`, paths: []string{"version", "agent.system", "model.provider", "model.name", "extra"}},
	{text: minimal + "remote: {}", paths: []string{"remote"}},
	{text: "version: '1.0'\nagent: {}\nremote: {concurrency: -1, expiresInMs: 1.5, lease: 3}", paths: []string{"remote.concurrency", "remote.expiresInMs", "remote.lease"}},
	{text: "version: '1.0'\nagent: {}\nremote: null", paths: []string{"model"}},
	{text: "version: '1.0'\nagent: {}\nmodel: {provider: script, name: m}", paths: []string{"agent.system"}},
	{
		text:  "version: '1.0'\nagent: {}\nremote: {}\nmcp: {servers: [{name: kb, url: 'https://kb.example/mcp'}]}\ntools: [{name: card, displayTool: true}, {name: a}, {name: b, displayTool: true, execution: {mode: static}}]",
		paths: []string{"mcp.servers", "tools[1].displayTool", "tools[2].executionType"}, beyond: true,
	},
	{text: "version: 1.0\nagent: {system: s}\nmodel: {provider: script, name: m}", paths: []string{"version"}},
	{text: "version: '2.0'\nagent: {system: ''}\nmodel: {provider: pigeon, name: ''}", paths: []string{"version", "agent.system", "model.provider", "model.name"}},
	{text: "version: '1.0'\nagent: {system: s, id: 'a b', name: \"a\\nb\", title: x}\nmodel: {provider: script, name: m}", paths: []string{"agent.id", "agent.name", "agent.title"}},
	{text: "version: '1.0'\nagent: {system: s, id: system}\nmodel: {provider: script, name: m}", paths: []string{"agent.id"}, beyond: true},
	{
		text:  "version: '1.0'\nagent: {system: s}\nmodel: {provider: openai, name: m, baseURL: 'ftp://x', api: grpc, temperature: 2.1, maxOutputTokens: -1, reasoning: {effort: huge, summary: long}}",
		paths: []string{"model.baseURL", "model.api", "model.temperature", "model.maxOutputTokens", "model.reasoning.effort", "model.reasoning.summary"},
	},
	{text: "version: '1.0'\nagent: {system: s}\nmodel: {provider: openai, name: m, baseURL: 'https://user:pw@x/v1'}", paths: []string{"model.baseURL"}},
	{text: "version: '1.0'\nagent: {system: s}\nmodel: {provider: google, name: m, api: responses}", paths: []string{"model.api"}, beyond: true},
	{text: minimal + "loop: {maxSteps: 0, toolChoice: search, runTimeoutMs: 1.5, onNewMessage: drop, maxParallelTools: '8'}", paths: []string{"loop.maxSteps", "loop.toolChoice", "loop.runTimeoutMs", "loop.onNewMessage", "loop.maxParallelTools"}},
	{text: minimal + "loop: {onNewMessage: steer}", paths: []string{"loop.onNewMessage"}, beyond: true},
	{text: minimal + "context: {history: 501, conversation: 1, reduction: {strategy: forget, target: 0, threshold: -1}}", paths: []string{"context.history", "context.conversation", "context.reduction.strategy", "context.reduction.target", "context.reduction.threshold"}},
	{text: minimal + "budget: {maxTokensPerRun: .inf, maxCostPerDay: -0.1}", paths: []string{"budget.maxTokensPerRun", "budget.maxCostPerDay"}},
	{text: minimal + "loop: 5\ncontext: []\ntools: {}\nmcp: x\nbudget: true", paths: []string{"loop", "context", "tools", "mcp", "budget"}},
	{text: minimal + "loop: {maxSteps: 1, maxSteps: 2}", paths: []string{"loop.maxSteps"}, beyond: true},
	{text: `{"version":"1.0","version":"1.0","agent":{"system":"s"},"model":{"provider":"script","name":"m"}}`, paths: []string{"version"}, beyond: true},
	{text: minimal + "base: &b {maxSteps: 3}\nloop: {<<: *b}", paths: []string{"base", "loop"}},
	{text: minimal + "loop: {[a]: 1}", paths: []string{"loop"}, beyond: true},
	{text: minimal + "loop: {maxSteps: !!binary aGk=}", paths: []string{"loop.maxSteps"}, beyond: true},

	{text: tools("{}, {name: 'a b'}, {name: " + strings.Repeat("x", 65) + "}, 7"), paths: []string{"tools[0].name", "tools[1].name", "tools[2].name", "tools[3]"}},
	{text: tools("{name: a}, {name: b}, {name: a}"), paths: []string{"tools[2].name"}, beyond: true},
	{text: tools("{name: a, answer: {choose: two}}"), paths: []string{"tools[0].answer.choose"}},
	{text: tools("{name: a, answer: {choose: one}}"), paths: []string{"tools[0].answer.choose"}, beyond: true},
	{text: tools("{name: a, answer: {choose: one, quorum: 2}, outputSchema: {type: boolean}}"), paths: []string{"tools[0].answer.choose"}, beyond: true},
	{text: tools("{name: a, answer: {choose: one}, execution: {mode: pass-through}, outputSchema: {type: boolean}}"), paths: []string{"tools[0].answer.choose"}, beyond: true},
	{text: tools("{name: a, answer: {choose: one}, outputSchema: {type: object, required: [x], properties: {x: {type: string}}}}"), paths: []string{"tools[0].answer.choose"}, beyond: true},
	{text: tools("{name: a, answer: {choose: one}, outputSchema: {type: object, required: [x], properties: {x: {type: boolean}, y: {type: string}}}}"), paths: []string{"tools[0].answer.choose"}, beyond: true},
	{text: tools("{name: sendSpaceMessage}"), paths: []string{"tools[0].name"}, beyond: true},
	{text: tools("{name: a, executionType: shell, execution: {command: ls}}"), paths: []string{"tools[0].executionType"}},
	{text: tools("{name: a, execution: {mode: sometimes, url: http://x}}"), paths: []string{"tools[0].execution.mode", "tools[0].execution.url"}},
	{text: tools("{name: a, execution: {output: {a: 1}, template: true}}"), paths: []string{"tools[0].execution.output", "tools[0].execution.template"}, beyond: true},
	{text: tools("{name: a, executionType: request}"), paths: []string{"tools[0].execution.url", "tools[0].execution.method"}},
	{text: request("url: x.example, method: get, timeout: 0, mode: static"), paths: []string{"tools[0].execution.url", "tools[0].execution.method", "tools[0].execution.timeout", "tools[0].execution.mode"}},
	{text: request("url: 'https://{{host}}/x', method: GET"), paths: []string{"tools[0].execution.url"}},
	{text: request("url: '{{url}}', method: GET"), paths: []string{"tools[0].execution.url"}},
	{text: request("url: 'https://api.example@evil.example/', method: GET"), paths: []string{"tools[0].execution.url"}},
	{text: request(`url: 'https://api.example\@evil.example/', method: GET`), paths: []string{"tools[0].execution.url"}},
	{text: request("url: 'file:///etc/passwd', method: GET"), paths: []string{"tools[0].execution.url"}},
	{text: request("url: 'gopher://x/', method: GET"), paths: []string{"tools[0].execution.url"}},
	{text: request("url: 'https://:80/', method: GET"), paths: []string{"tools[0].execution.url"}, beyond: true},
	{text: request(`url: 'https://x/', method: GET, headers: {'a b': c, X: "a\nb", Y: 7}`), paths: []string{`tools[0].execution.headers["a b"]`, "tools[0].execution.headers.X", "tools[0].execution.headers.Y"}},
	{text: request("url: 'https://x/', method: GET, headers: {Host: evil.example, transfer-encoding: chunked}"), paths: []string{"tools[0].execution.headers.Host", "tools[0].execution.headers.transfer-encoding"}, beyond: true},
	{text: request("url: 'https://x/', method: GET, headers: {X-A: a, x-a: b}"), paths: []string{"tools[0].execution.headers.x-a"}, beyond: true},
	{text: request("url: 'https://x/', method: GET, queryParams: {a: [1], b: {}}"), paths: []string{"tools[0].execution.queryParams.a", "tools[0].execution.queryParams.b"}},
	{text: tools("{name: a, executionType: ai-agent, inputSchema: {type: object}, execution: {agentConfig: ''}}"), paths: []string{"tools[0].inputSchema", "tools[0].execution.agentConfig"}},
	{text: tools("{name: a, executionType: image-generator, execution: {provider: openai, apiKey: sk-123, size: big, quality: best, timeout: 0}}"), paths: []string{"tools[0].execution.apiKey", "tools[0].execution.size", "tools[0].execution.quality", "tools[0].execution.timeout"}},
	{text: tools("{name: a, executionType: image-generator, execution: {provider: stability}}"), paths: []string{"tools[0].execution.provider"}},
	{text: tools("{name: a, executionType: waiting, execution: {duration: -1, until: tomorrow}}"), paths: []string{"tools[0].execution.duration", "tools[0].execution.until"}},
	{text: tools("{name: a, executionType: compute, execution: {expression: ''}}"), paths: []string{"tools[0].execution.operation", "tools[0].execution.expression"}},
	{text: tools("{name: a, executionType: prebuilt}"), paths: []string{"tools[0].execution.action"}},
	{text: tools("{name: a, targeted: true}"), paths: []string{"tools[0].targeted"}},
	{text: tools("{name: a, display: {mode: loud, showInput: 1, customUI: '', theme: dark}}"), paths: []string{"tools[0].display.mode", "tools[0].display.showInput", "tools[0].display.customUI", "tools[0].display.theme"}},
	{text: tools("{name: a, answer: {by: everybody, quorum: 0, notRequester: maybe}, expiresInMs: -5}"), paths: []string{"tools[0].answer.by", "tools[0].answer.quorum", "tools[0].answer.notRequester", "tools[0].expiresInMs"}},
	{text: tools("{name: a, answer: {by: []}}, {name: b, answer: {by: [x, x]}}, {name: c, answer: {by: ['@x']}}"), paths: []string{"tools[0].answer.by", "tools[1].answer.by[1]", "tools[2].answer.by[0]"}},
	{text: tools("{name: a, answer: {by: [x, y], quorum: 3}}"), paths: []string{"tools[0].answer.quorum"}, beyond: true},
	{text: tools("{name: a, inputSchema: [], outputSchema: text}"), paths: []string{"tools[0].inputSchema", "tools[0].outputSchema"}},
	{text: tools("{name: a, inputSchema: {properties: {}}}, {name: b, inputSchema: {type: array}}"), paths: []string{"tools[0].inputSchema.type", "tools[1].inputSchema.type"}},
	{text: tools("{name: a, inputSchema: {type: object, properties: {p: {type: text}}, required: p}}"), paths: []string{"tools[0].inputSchema.properties.p.type", "tools[0].inputSchema.required"}},
	{text: tools("{name: a, inputSchema: {type: object, properties: {p: {$ref: 'https://evil.example/s'}}}}"), paths: []string{"tools[0].inputSchema.properties.p"}, beyond: true},
	{text: tools("{name: a, inputSchema: {type: object, properties: {p: {$ref: '#/$defs/gone'}}}}"), paths: []string{"tools[0].inputSchema.properties.p"}, beyond: true},
	{text: tools("{name: a, outputSchema: {anyOf: [{}, {pattern: '['}]}}"), paths: []string{"tools[0].outputSchema.anyOf[1]"}, beyond: true},
	{text: tools("{name: a, outputSchema: {$ref: '#/$defs/x', $defs: {x: {not: {$ref: '#'}}}}}"), paths: []string{"tools[0].outputSchema"}, beyond: true},
	{text: tools("{name: a, inputSchema: {$schema: 'https://evil.example/s', type: object}}"), paths: []string{"tools[0].inputSchema.$schema"}, beyond: true},
	{text: display("properties: {targetSpaceId: {}, mention: {}, targetEntityId: {}}"), paths: []string{"tools[0].inputSchema.properties.targetSpaceId", "tools[0].inputSchema.properties.mention", "tools[0].inputSchema.properties.targetEntityId"}, beyond: true},
	{text: display("oneOf: [{additionalProperties: false}], maxProperties: 3"), paths: []string{"tools[0].inputSchema.maxProperties", "tools[0].inputSchema.oneOf[0].additionalProperties"}, beyond: true},

	{text: display("patternProperties: {'^m': {type: number}, '^x': {}}"), paths: []string{`tools[0].inputSchema.patternProperties["^m"]`}, beyond: true},

	{text: servers("{name: a}, {name: 'a/b', url: 'stdio:x', transport: stdio, allowedTools: [x, x], headers: {'': x}}"), paths: []string{"mcp.servers[0].url", "mcp.servers[1].name", "mcp.servers[1].url", "mcp.servers[1].transport", "mcp.servers[1].allowedTools[1]", `mcp.servers[1].headers[""]`}},
	{text: servers("{name: a, url: 'https://x'}, {name: a, url: 'https://y'}"), paths: []string{"mcp.servers[1].name"}, beyond: true},
}

func TestEveryInvalidFieldIsReported(t *testing.T) {
	for _, c := range wrongConfigs {
		config, err := agentconfig.Decode([]byte(c.text), options)
		if !errors.Is(err, shoal.InvalidArgument) || config != nil {
			t.Errorf("%s\ngot %v, want an InvalidArgument error", c.text, err)
			continue
		}
		got, want := paths(err), slices.Sorted(slices.Values(c.paths))
		slices.Sort(got)
		if !slices.Equal(slices.Compact(got), want) {
			t.Errorf("%s\ngot  %q\nwant %q\n%v", c.text, got, want, err)
		}
	}
}

func TestManyInvalidFieldsAreCounted(t *testing.T) {
	var b strings.Builder
	for range 250 {
		b.WriteString("{name: '?'},")
	}
	_, err := agentconfig.Decode([]byte(tools(b.String())), options)
	if len(paths(err)) != 100 || !strings.Contains(err.Error(), "and 400 more") {
		t.Errorf("%d fields: %.300s", len(paths(err)), err)
	}
}
