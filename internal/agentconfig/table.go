package agentconfig

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
)

const (
	maxTools     = 200
	maxServers   = 50
	maxAnswerers = 100
	maxPrompt    = 256 << 10
	day          = 24 * 60 * 60 * 1000 // milliseconds
)

var (
	toolName   = newPattern(`^[A-Za-z0-9_-]{1,64}$`, "1 to 64 characters from A-Z a-z 0-9 _ -")
	serverName = newPattern(`^[A-Za-z0-9_-]{1,32}$`, "1 to 32 characters from A-Z a-z 0-9 _ -")
	webURL     = newPattern(`^https?://[^/?#@\s{}\\]+([/?#]\S*)?$`, "an http or https URL without a user name in it")
	baseURL    = newPattern(`^(https?://[^/?#@\s]+(/[^?#\s]*)?)?$`, "an http or https URL without a user name, query or fragment in it")
	toolURL    = newPattern(`^(https?://[^/?#@\s{}\\]+|https?://[^/?#@\s{}\\]*\$\{env\.[A-Za-z_][A-Za-z0-9_]*\}[^/?#@\s{}\\]*|\$\{env\.[A-Za-z_][A-Za-z0-9_]*\})([/?#].*)?$`,
		"an http or https URL whose host has no {{variable}} and no user name")
	headerName = newPattern("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$", "a header")
	headerText = newPattern(`^[^\x00-\x08\x0a-\x1f\x7f]*$`, "one line without control characters")
	keyText    = newPattern(`^(\$\{env\.[A-Za-z_][A-Za-z0-9_]*\})?$`, "a reference such as ${env.IMAGE_KEY}, never the key itself")
	imageSize  = newPattern(`^([1-9][0-9]{1,4}x[1-9][0-9]{1,4}|auto|landscape|portrait|square)$`, "a size such as 1024x1024")

	entityID = shape{
		kind: text, most: shoal.MaxID,
		form: newPattern(`^[A-Za-z0-9_.-]{1,64}$`, "an entity's id: 1 to 64 characters from A-Z a-z 0-9 _ . -"),
	}
)

func words(doc string, choices ...string) shape {
	return shape{kind: text, doc: doc, choices: choices, most: 64}
}
func upTo(most float64, doc string) shape { return shape{kind: text, doc: doc, most: most} }
func nonEmpty(most float64, doc string) shape {
	return shape{kind: text, doc: doc, least: 1, most: most}
}

func withPattern(p *pattern, doc string) shape {
	return shape{kind: text, doc: doc, form: p, most: 4096}
}
func yesNo(doc string) shape   { return shape{kind: flag, doc: doc} }
func dollars(doc string) shape { return shape{kind: number, doc: doc, most: 1e6} }
func milliseconds(most float64, doc string) shape {
	return shape{kind: whole, doc: doc + " in milliseconds", most: most}
}

func count(least, most float64, doc string) shape {
	return shape{kind: whole, doc: doc, least: least, most: most}
}

func (s shape) withEnv() shape {
	s.env = true
	return s
}

func n(v string) json.Number { return json.Number(v) }

// empty is the fallback of an object whose fields all have fallbacks.
var empty = map[string]any{}

// root is the complete configuration.
var root = shape{kind: object, doc: "The configuration of a hosted agent.", fields: []field{
	{name: "version", required: true, shape: words("The version of this format, as a text.", Version)},
	{name: "agent", required: true, shape: shape{kind: object, doc: "Identity and prompt.", fields: []field{
		{name: "id", shape: shape{kind: text, doc: "The agent's entity id. Default: the stem of the file name, or the id in the path of the PUT.", form: entityID.form, most: shoal.MaxID}},
		{name: "name", fallback: "", shape: shape{kind: text, doc: "The display name. Empty: the id.", most: shoal.MaxName, form: newPattern(`^[^\x00-\x1f\x7f]*$`, "one line")}},
		{name: "description", fallback: "", shape: upTo(shoal.MaxDescription, "The agent's purpose, for other members.")},
		{name: "system", fallback: "", shape: upTo(maxPrompt, "The system prompt. Required for an agent with a model.")},
		{name: "instructions", fallback: "", shape: upTo(maxPrompt, "Further instructions, appended to the system prompt.")},
	}}},
	{name: "model", shape: model},
	{name: "remote", shape: remote},
	{name: "loop", fallback: empty, shape: loop},
	{name: "context", fallback: empty, shape: shape{kind: object, doc: "The history that the model sees.", fields: []field{
		{name: "history", fallback: n("50"), shape: count(0, 500, "The number of new messages of the timeline that the model sees.")},
		{name: "conversation", fallback: true, shape: yesNo("Whether the model sees the agent's earlier runs.")},
		{name: "reduction", fallback: empty, shape: shape{kind: object, doc: "How a long conversation is shortened.", fields: []field{
			{name: "strategy", fallback: "none", shape: words("none; count: keep the last messages; summary: a summary and the last messages.", "none", "count", "summary")},
			{name: "target", fallback: n("20"), shape: count(1, 10_000, "The number of messages to keep.")},
			{name: "threshold", fallback: n("5"), shape: count(0, 10_000, "The number of messages above the target that triggers a reduction.")},
		}}},
	}}},
	{name: "tools", fallback: []any{}, shape: shape{kind: list, doc: "The agent's tools, besides the built-in ones.", most: maxTools, items: &tool}},
	{name: "mcp", fallback: empty, shape: shape{kind: object, doc: "Tools from MCP servers.", fields: []field{
		{name: "servers", fallback: []any{}, shape: shape{kind: list, most: maxServers, items: &server}},
	}}},
	{name: "reply", fallback: ReplyAuto, shape: words("How plain text is shown. auto: when a run that a message started has shown nothing, its last plain text is posted in the space of that message. stream: plain text is streamed to that space while the model writes it. tool: plain text is not shown; only sendSpaceMessage posts.", ReplyAuto, ReplyStream, ReplyTool)},
	{name: "access", fallback: empty, shape: shape{kind: object, doc: "Whose rights limit the agent's reads and writes, besides its own.", fields: []field{
		{name: "read", fallback: "requester", shape: words("requester: besides the space of the message that started its run, the agent reads only spaces that all its requesters may read. agent: it reads every space that it is a member of.", "requester", "agent")},
		{name: "write", fallback: "agent", shape: words("agent: the agent writes into every space that it is a member of. requester: only into spaces that all its requesters may read.", "requester", "agent")},
	}}},
	{name: "invite", shape: shape{kind: inviters, doc: "Who may add the agent to spaces: anyone (the default); admin: only admins and the owners of the session and of the agent; or those and a list of entity ids."}},
	{name: "budget", fallback: empty, shape: shape{kind: object, doc: "Usage limits; 0 means no limit.", fields: []field{
		{name: "maxTokensPerRun", fallback: n("0"), shape: count(0, 1<<53-1, "")},
		{name: "maxCostPerDay", fallback: n("0"), shape: shape{kind: number, doc: "In US dollars. Needs a model with a list price, or model.price.", most: 1e9}},
	}}},
}}

var model = shape{kind: object, doc: "The model.", fields: []field{
	{name: "provider", required: true, shape: words("Use openai with baseURL for every server with a compatible API. azure, vertex and bedrock are the models of clouds.", "openai", "anthropic", "google", "azure", "vertex", "bedrock", "ollama", "script")},
	{name: "name", required: true, shape: nonEmpty(shoal.MaxName, "The model's name at its vendor. azure: the name of the deployment; bedrock: the id of the model or of an inference profile.")},
	{name: "baseURL", fallback: "", shape: withPattern(baseURL, "Empty: the vendor's. openai: up to and including /v1; anthropic, google, azure, vertex and bedrock: the host.")},
	{name: "api", fallback: "default", shape: words("The API of openai and azure; the default is chat.", "default", "chat", "responses")},
	{name: "temperature", shape: shape{kind: number, doc: "Unset by default.", most: 2}},
	{name: "maxOutputTokens", fallback: n("1000"), shape: count(0, 10_000_000, "0 means no limit.")},
	{name: "reasoning", fallback: empty, shape: shape{kind: object, doc: "Reasoning before the answer.", fields: []field{
		{name: "enabled", fallback: false, shape: yesNo("")},
		{name: "effort", fallback: "medium", shape: words("", "none", "minimal", "low", "medium", "high", "xhigh")},
		{name: "budgetTokens", fallback: n("0"), shape: count(0, 10_000_000, "0 means the vendor's default.")},
		{name: "includeThoughts", fallback: false, shape: yesNo("Requests the thoughts from vendors that return them only on request.")},
		{name: "summary", fallback: "", shape: words("", "", "auto", "detailed")},
	}}},
	{name: "price", shape: shape{kind: object, doc: "The price of the model in US dollars per million tokens. Unset: its list price, if known.", fields: []field{
		{name: "input", required: true, shape: dollars("")},
		{name: "output", required: true, shape: dollars("Includes thoughts.")},
		{name: "cachedInput", shape: dollars("Input read from the vendor's prompt cache. Unset: the price of input.")},
		{name: "cacheWrite", shape: dollars("Input written into the prompt cache. Unset: the price of input.")},
	}}},
	{name: "providerOptions", fallback: empty, shape: shape{kind: table, doc: "Sent to the vendor unchanged.", most: 100, items: &shape{kind: anything}}},
}}

var remote = shape{kind: object, doc: "Instead of model: a program outside of the server executes the runs.", fields: []field{
	{name: "concurrency", fallback: n("0"), shape: count(0, 10_000, "The maximum number of runs that programs hold at the same time; 0 means no limit.")},
	{name: "expiresInMs", fallback: n("86400000"), shape: milliseconds(366*day, "When a permission or a question of a run counts as denied; 0 means never;")},
}}

var loop = shape{kind: object, doc: "The limits of a run; 0 means no limit.", fields: []field{
	{name: "maxSteps", fallback: n("5"), shape: count(1, 10_000, "The maximum number of model calls.")},
	{name: "toolChoice", fallback: "auto", shape: words("", "auto", "required", "none")},
	{name: "runTimeoutMs", fallback: n("300000"), shape: milliseconds(7*day, "The maximum running time of a run, without waits,")},
	{name: "toolTimeoutMs", fallback: n("30000"), shape: milliseconds(day, "The maximum time of a tool call,")},
	{name: "maxConsecutiveErrors", fallback: n("3"), shape: count(0, 10_000, "")},
	{name: "maxIdenticalCalls", fallback: n("5"), shape: count(0, 10_000, "")},
	{name: "maxParallelTools", fallback: n("8"), shape: count(0, 256, "")},
	{name: "continuation", fallback: n("0"), shape: count(0, 10_000, "The number of further steps that a person can approve when maxSteps is reached; 0 asks nobody.")},
	{name: "closingAnswer", fallback: true, shape: yesNo("At maxSteps and maxConsecutiveErrors the model answers with what it knows, in one call without tools, and the run completes; false fails the run. With reply: tool it always fails.")},
	{name: "onNewMessage", fallback: "parallel", shape: words("The effect of a message that arrives during a run. steer is for remote agents: the program of the run gets the message at once, and a run for it starts only if it does not take it.", "parallel", "enqueue", "interrupt", "reject", "steer")},
	{name: "settleMs", fallback: n("0"), shape: milliseconds(10*60*1000, "How long the agent waits for more messages before a run starts,")},
}}

var tool = shape{kind: object, fields: []field{
	{name: "name", required: true, shape: withPattern(toolName, "Unique in the config.")},
	{name: "description", fallback: "", shape: upTo(16<<10, "What the tool does, for the model.")},
	{name: "executionType", fallback: string(BasicType), shape: words("", string(BasicType), string(RequestType), string(AgentType), string(ImageType), string(WaitingType), string(ComputeType), string(BuiltInType))},
	{name: "execution", fallback: empty, shape: shape{kind: object, doc: "Settings for the executionType.", byType: executions}},
	{name: "displayTool", fallback: false, shape: yesNo("Lets the model show the call in a space.")},
	{name: "display", shape: shape{kind: object, doc: "How clients show the calls.", fields: []field{
		{name: "mode", shape: words("", "full", "minimal", "hidden")},
		{name: "showInput", shape: yesNo("")},
		{name: "showOutput", shape: yesNo("")},
		{name: "customUI", shape: nonEmpty(shoal.MaxName, "The name of the client's component.")},
	}}},
	{name: "targeted", fallback: false, shape: yesNo("Lets the model show the call to a single member; requires displayTool.")},
	{name: "answer", fallback: empty, shape: shape{kind: object, doc: "Who may answer a call that waits for people.", fields: []field{
		{name: "by", shape: shape{kind: answerers, doc: "The words humans, members, agents, services and admins, and ids of entities. Null means, for a permission, the humans of the space that the call targets, or without such a space the requesters and the owner of the agent; for every other request all members."}},
		{name: "quorum", fallback: n("1"), shape: count(1, maxAnswerers, "The number of equal answers that are required.")},
		{name: "notRequester", fallback: false, shape: yesNo("Excludes the run's requesters.")},
		{name: "choose", shape: words("The calls of one step are alternatives: choosing one settles the others as not chosen. Requires a tool without execution whose outputSchema is a boolean, or an object that requires one boolean and nothing else.", shoal.ChooseOne)},
	}}},
	{name: "expiresInMs", fallback: n("0"), shape: milliseconds(366*day, "When a waiting call counts as denied; 0 means never;")},
	{name: "idempotent", fallback: false, shape: yesNo("A call that a crash interrupted may be repeated.")},
	{name: "requiresPermission", fallback: false, shape: yesNo("Every call requires a person's approval.")},
	{name: "inputSchema", shape: shape{kind: schema, doc: "The JSON Schema of the arguments, which are an object.", arguments: true}},
	{name: "outputSchema", shape: shape{kind: schema, doc: "The JSON Schema of the result."}},
}}

var executions = map[Type]shape{
	BasicType: {kind: object, fields: []field{
		{name: "mode", fallback: NoExecution, shape: words("", NoExecution, Static, PassThrough)},
		{name: "output", fallback: empty, shape: shape{kind: table, doc: "The result of a static tool.", most: 1000, items: &shape{kind: anything}}},
		{name: "template", fallback: false, shape: yesNo("Replaces {{name}} in output with values of the input.")},
	}},
	RequestType: {kind: object, fields: []field{
		{name: "url", required: true, shape: withPattern(toolURL, "May contain {{name}} after the host, and ${env.NAME}.").withEnv()},
		{name: "method", required: true, shape: words("", "GET", "POST", "PUT", "DELETE", "PATCH")},
		{name: "headers", fallback: empty, shape: shape{kind: table, most: 100, names: headerName, items: &shape{kind: text, form: headerText, most: 8192, env: true}}},
		{name: "queryParams", fallback: empty, shape: shape{kind: table, most: 100, items: &shape{kind: scalar, env: true, most: 4096}}},
		{name: "body", shape: shape{kind: anything, doc: "Absent: the input.", env: true}},
		{name: "timeout", fallback: n("30000"), shape: shape{kind: whole, doc: "In milliseconds.", least: 1, most: 600_000}},
	}},
	AgentType: {kind: object, fields: []field{
		{name: "agentConfig", required: true, shape: shape{kind: text, doc: "The id of another hosted agent.", form: entityID.form, most: shoal.MaxID}},
		{name: "includeContext", fallback: false, shape: yesNo("Passes a copy of the caller's history to the other agent.")},
		{name: "stream", fallback: false, shape: yesNo("Relays the other agent's events.")},
		{name: "timeout", fallback: n("30000"), shape: shape{kind: whole, doc: "In milliseconds.", least: 1, most: day}},
	}},
	ImageType: {kind: object, fields: []field{
		{name: "provider", required: true, shape: words("dall-e is another name for openai.", "openai", "dall-e", "google")},
		{name: "model", fallback: "", shape: upTo(shoal.MaxName, "")},
		{name: "apiKey", fallback: "", shape: withPattern(keyText, "Empty: the server's key of the provider.").withEnv()},
		{name: "baseURL", fallback: "", shape: withPattern(baseURL, "")},
		{name: "size", fallback: "1024x1024", shape: withPattern(imageSize, "")},
		{name: "quality", fallback: "standard", shape: words("", "standard", "hd")},
		{name: "style", fallback: "", shape: upTo(64, "")},
		{name: "includeContext", fallback: false, shape: yesNo("Adds the newest messages of the conversation before the prompt.")},
		{name: "timeout", fallback: n("120000"), shape: shape{kind: whole, doc: "In milliseconds.", least: 1, most: 600_000}},
	}},
	WaitingType: {kind: object, fields: []field{
		{name: "duration", fallback: n("0"), shape: milliseconds(31*day, "The default duration, which the model can override,")},
		{name: "reason", fallback: "", shape: upTo(1000, "")},
	}},
	ComputeType: {kind: object, fields: []field{
		{name: "operation", required: true, shape: nonEmpty(100, "A name for the result.")},
		{name: "expression", required: true, shape: nonEmpty(4096, "An expression over the fields of the input and of its data and parameters.")},
	}},
	BuiltInType: {kind: object, fields: []field{
		{name: "action", required: true, shape: nonEmpty(100, "The built-in tool.")},
	}},
}

var server = shape{kind: object, fields: []field{
	{name: "name", required: true, shape: withPattern(serverName, "Unique in the config.")},
	{name: "url", required: true, shape: withPattern(webURL, "")},
	{name: "transport", fallback: "http", shape: words("", "http", "sse")},
	{name: "headers", fallback: empty, shape: shape{kind: table, most: 100, names: headerName, items: &shape{kind: text, form: headerText, most: 8192, env: true}}},
	{name: "allowedTools", fallback: []any{}, shape: shape{kind: list, doc: "Empty: all tools.", most: 500, unique: true, items: &shape{kind: text, least: 1, most: 128}}},
	{name: "requiresPermission", fallback: true, shape: yesNo("Every call requires a person's approval.")},
}}
