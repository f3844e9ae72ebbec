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
	toolName   = matching(`^[A-Za-z0-9_-]{1,64}$`, "1 to 64 characters from A-Z a-z 0-9 _ -")
	serverName = matching(`^[A-Za-z0-9_-]{1,32}$`, "1 to 32 characters from A-Z a-z 0-9 _ -")
	webURL     = matching(`^https?://[^/?#@\s{}\\]+([/?#]\S*)?$`, "an http or https URL without a user name in it")
	baseURL    = matching(`^(https?://[^/?#@\s]+(/[^?#\s]*)?)?$`, "an http or https URL without a user name, query or fragment in it")
	toolURL    = matching(`^(https?://[^/?#@\s{}\\]+|https?://[^/?#@\s{}\\]*\$\{env\.[A-Za-z_][A-Za-z0-9_]*\}[^/?#@\s{}\\]*|\$\{env\.[A-Za-z_][A-Za-z0-9_]*\})([/?#].*)?$`,
		"an http or https URL whose host holds no {{variable}} and no user name")
	headerName = matching("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$", "a header")
	headerText = matching(`^[^\x00-\x08\x0a-\x1f\x7f]*$`, "one line without control characters")
	keyText    = matching(`^(\$\{env\.[A-Za-z_][A-Za-z0-9_]*\})?$`, "a reference such as ${env.IMAGE_KEY}, never the key itself")
	imageSize  = matching(`^([1-9][0-9]{1,4}x[1-9][0-9]{1,4}|auto|landscape|portrait|square)$`, "a size such as 1024x1024")

	entityID = shape{
		kind: text, most: shoal.MaxID,
		form: matching(`^[A-Za-z0-9_.-]{1,64}$`, "an entity's id: 1 to 64 characters from A-Z a-z 0-9 _ . -"),
	}
)

func words(doc string, choices ...string) shape {
	return shape{kind: text, doc: doc, choices: choices, most: 64}
}
func upTo(most float64, doc string) shape   { return shape{kind: text, doc: doc, most: most} }
func filled(most float64, doc string) shape { return shape{kind: text, doc: doc, least: 1, most: most} }

func formed(p *pattern, doc string) shape { return shape{kind: text, doc: doc, form: p, most: 4096} }
func yesNo(doc string) shape              { return shape{kind: flag, doc: doc} }
func dollars(doc string) shape            { return shape{kind: number, doc: doc, most: 1e6} }
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

// empty is the fallback of an object whose fields have fallbacks.
var empty = map[string]any{}

// root is the whole configuration.
var root = shape{kind: object, doc: "The configuration of a hosted agent.", fields: []field{
	{name: "version", required: true, shape: words("The version of this format, as a text.", Version)},
	{name: "agent", required: true, shape: shape{kind: object, doc: "Who the agent is.", fields: []field{
		{name: "id", shape: shape{kind: text, doc: "Its entity id. Default: the file's stem, or the path of the PUT.", form: entityID.form, most: shoal.MaxID}},
		{name: "name", fallback: "", shape: shape{kind: text, doc: "What people read. Empty is the id.", most: shoal.MaxName, form: matching(`^[^\x00-\x1f\x7f]*$`, "one line")}},
		{name: "description", fallback: "", shape: upTo(shoal.MaxDescription, "What it is for, for other members.")},
		{name: "system", required: true, shape: filled(maxPrompt, "Its system prompt.")},
		{name: "instructions", fallback: "", shape: upTo(maxPrompt, "More of the prompt, after the system text.")},
	}}},
	{name: "model", required: true, shape: model},
	{name: "loop", fallback: empty, shape: loop},
	{name: "context", fallback: empty, shape: shape{kind: object, doc: "What the model sees of the past.", fields: []field{
		{name: "history", fallback: n("50"), shape: count(0, 500, "How many messages of the timeline it sees that it has not seen yet.")},
		{name: "conversation", fallback: true, shape: yesNo("Whether it sees its own earlier runs.")},
		{name: "reduction", fallback: empty, shape: shape{kind: object, doc: "How a long conversation is made shorter.", fields: []field{
			{name: "strategy", fallback: "none", shape: words("none, the last messages (count), or a summary and the last ones.", "none", "count", "summary")},
			{name: "target", fallback: n("20"), shape: count(1, 10_000, "How many messages stay.")},
			{name: "threshold", fallback: n("5"), shape: count(0, 10_000, "How many more than the target it takes.")},
		}}},
	}}},
	{name: "tools", fallback: []any{}, shape: shape{kind: list, doc: "Its tools, beside those that every agent has.", most: maxTools, items: &tool}},
	{name: "mcp", fallback: empty, shape: shape{kind: object, doc: "Tools from MCP servers.", fields: []field{
		{name: "servers", fallback: []any{}, shape: shape{kind: list, most: maxServers, items: &server}},
	}}},
	{name: "reply", fallback: ReplyAuto, shape: words("What becomes of its plain text. auto: if a run that a message started ends without having shown anything, its last plain text is posted where the message is. stream: plain text streams to there while the model writes it. tool: nobody sees it; only sendSpaceMessage posts.", ReplyAuto, ReplyStream, ReplyTool)},
	{name: "access", fallback: empty, shape: shape{kind: object, doc: "Whose rights bound what it reads and writes, beside its own.", fields: []field{
		{name: "read", fallback: "requester", shape: words("requester: it reads a space other than that of the message that started its run only if everybody it acts for may read it. agent: it reads every space that it is in, for anybody.", "requester", "agent")},
		{name: "write", fallback: "agent", shape: words("agent: it writes into every space that it is in. requester: only into those that everybody it acts for may read.", "requester", "agent")},
	}}},
	{name: "invite", shape: shape{kind: inviters, doc: "Who may add it to spaces: anyone (the default), admin (admins, and the owners of the session and of the agent), or besides those a list of entity ids."}},
	{name: "budget", fallback: empty, shape: shape{kind: object, doc: "What it may use; 0 is no limit.", fields: []field{
		{name: "maxTokensPerRun", fallback: n("0"), shape: count(0, 1<<53-1, "")},
		{name: "maxCostPerDay", fallback: n("0"), shape: shape{kind: number, doc: "In US dollars. Needs a model with a list price, or model.price.", most: 1e9}},
	}}},
}}

var model = shape{kind: object, doc: "Which model it asks.", fields: []field{
	{name: "provider", required: true, shape: words("openai also serves every server that speaks its protocol, through baseURL.", "openai", "anthropic", "google", "ollama", "script")},
	{name: "name", required: true, shape: filled(shoal.MaxName, "The model's name at its vendor.")},
	{name: "baseURL", fallback: "", shape: formed(baseURL, "Empty is the vendor's. openai: up to and including /v1; anthropic and google: the host.")},
	{name: "api", fallback: "default", shape: words("Which API of openai; the default is chat.", "default", "chat", "responses")},
	{name: "temperature", shape: shape{kind: number, doc: "Unset by default.", most: 2}},
	{name: "maxOutputTokens", fallback: n("1000"), shape: count(0, 10_000_000, "0 is no limit.")},
	{name: "reasoning", fallback: empty, shape: shape{kind: object, doc: "Whether it thinks first.", fields: []field{
		{name: "enabled", fallback: false, shape: yesNo("")},
		{name: "effort", fallback: "medium", shape: words("", "none", "minimal", "low", "medium", "high", "xhigh")},
		{name: "budgetTokens", fallback: n("0"), shape: count(0, 10_000_000, "0 leaves it to the vendor.")},
		{name: "includeThoughts", fallback: false, shape: yesNo("Asks for the thoughts where they must be asked for.")},
		{name: "summary", fallback: "", shape: words("", "", "auto", "detailed")},
	}}},
	{name: "price", shape: shape{kind: object, doc: "What the model costs, in US dollars for a million tokens. Unset: its list price, if there is one.", fields: []field{
		{name: "input", required: true, shape: dollars("")},
		{name: "output", required: true, shape: dollars("Thoughts included.")},
		{name: "cachedInput", shape: dollars("Input read from the vendor's prompt cache. Unset: as input.")},
		{name: "cacheWrite", shape: dollars("Input written into it. Unset: as input.")},
	}}},
	{name: "providerOptions", fallback: empty, shape: shape{kind: table, doc: "Sent to the vendor as they are.", most: 100, items: &shape{kind: anything}}},
}}

var loop = shape{kind: object, doc: "The bounds of a run; 0 is no limit.", fields: []field{
	{name: "maxSteps", fallback: n("5"), shape: count(1, 10_000, "How often the model is called.")},
	{name: "toolChoice", fallback: "auto", shape: words("", "auto", "required", "none")},
	{name: "runTimeoutMs", fallback: n("300000"), shape: milliseconds(7*day, "How long a run may run, waiting aside,")},
	{name: "toolTimeoutMs", fallback: n("30000"), shape: milliseconds(day, "How long a tool may take,")},
	{name: "maxConsecutiveErrors", fallback: n("3"), shape: count(0, 10_000, "")},
	{name: "maxIdenticalCalls", fallback: n("5"), shape: count(0, 10_000, "")},
	{name: "maxParallelTools", fallback: n("8"), shape: count(0, 256, "")},
	{name: "continuation", fallback: n("0"), shape: count(0, 10_000, "How many more steps a person is asked for at maxSteps; 0 fails there.")},
	{name: "onNewMessage", fallback: "parallel", shape: words("What a message does that comes while the agent runs.", "parallel", "enqueue", "interrupt", "reject")},
	{name: "settleMs", fallback: n("0"), shape: milliseconds(10*60*1000, "How long it waits for more messages before it starts,")},
}}

var tool = shape{kind: object, fields: []field{
	{name: "name", required: true, shape: formed(toolName, "Unique in the config.")},
	{name: "description", fallback: "", shape: upTo(16<<10, "What it does, for the model.")},
	{name: "executionType", fallback: string(BasicType), shape: words("", string(BasicType), string(RequestType), string(AgentType), string(ImageType), string(WaitingType), string(ComputeType), string(BuiltInType))},
	{name: "execution", fallback: empty, shape: shape{kind: object, doc: "Settings of the kind that executionType names.", byType: executions}},
	{name: "displayTool", fallback: false, shape: yesNo("Lets the model show the call in a space.")},
	{name: "display", shape: shape{kind: object, doc: "Hints for clients.", fields: []field{
		{name: "mode", shape: words("", "full", "minimal", "hidden")},
		{name: "showInput", shape: yesNo("")},
		{name: "showOutput", shape: yesNo("")},
		{name: "customUI", shape: filled(shoal.MaxName, "The name of the client's component.")},
	}}},
	{name: "targeted", fallback: false, shape: yesNo("Lets the model show the call to one member alone; needs displayTool.")},
	{name: "answer", fallback: empty, shape: shape{kind: object, doc: "Who may answer a call that waits for people.", fields: []field{
		{name: "by", shape: shape{kind: someBody, doc: "Who may: the words humans, members, agents, services and admins, and ids of entities. Null is, for a permission, the humans of the space that the call targets, without one the requesters and the owner of the agent; for everything else all members."}},
		{name: "quorum", fallback: n("1"), shape: count(1, maxAnswerers, "How many of them have to give an equal answer.")},
		{name: "notRequester", fallback: false, shape: yesNo("Excludes every human behind the run.")},
	}}},
	{name: "expiresInMs", fallback: n("0"), shape: milliseconds(366*day, "When a waiting call counts as denied; 0 is never;")},
	{name: "idempotent", fallback: false, shape: yesNo("A call that a crash cut off may be made again.")},
	{name: "requiresPermission", fallback: false, shape: yesNo("A person is asked before every call.")},
	{name: "inputSchema", shape: shape{kind: schema, doc: "The JSON Schema of the arguments, of an object.", arguments: true}},
	{name: "outputSchema", shape: shape{kind: schema, doc: "The JSON Schema of the result."}},
}}

var executions = map[Type]shape{
	BasicType: {kind: object, fields: []field{
		{name: "mode", fallback: NoExecution, shape: words("", NoExecution, Static, PassThrough)},
		{name: "output", fallback: empty, shape: shape{kind: table, doc: "What a static tool answers.", most: 1000, items: &shape{kind: anything}}},
		{name: "template", fallback: false, shape: yesNo("Puts values of the input in place of {{name}} in output.")},
	}},
	RequestType: {kind: object, fields: []field{
		{name: "url", required: true, shape: formed(toolURL, "May hold {{name}} after the host, and ${env.NAME}.").withEnv()},
		{name: "method", required: true, shape: words("", "GET", "POST", "PUT", "DELETE", "PATCH")},
		{name: "headers", fallback: empty, shape: shape{kind: table, most: 100, names: headerName, items: &shape{kind: text, form: headerText, most: 8192, env: true}}},
		{name: "queryParams", fallback: empty, shape: shape{kind: table, most: 100, items: &shape{kind: alone, env: true, most: 4096}}},
		{name: "body", shape: shape{kind: anything, doc: "Absent: the input.", env: true}},
		{name: "timeout", fallback: n("30000"), shape: shape{kind: whole, doc: "In milliseconds.", least: 1, most: 600_000}},
	}},
	AgentType: {kind: object, fields: []field{
		{name: "agentConfig", required: true, shape: shape{kind: text, doc: "The id of another hosted agent.", form: entityID.form, most: shoal.MaxID}},
		{name: "includeContext", fallback: false, shape: yesNo("Gives it a copy of the caller's history.")},
		{name: "stream", fallback: false, shape: yesNo("Relays its events.")},
		{name: "timeout", fallback: n("30000"), shape: shape{kind: whole, doc: "In milliseconds.", least: 1, most: day}},
	}},
	ImageType: {kind: object, fields: []field{
		{name: "provider", required: true, shape: words("dall-e is another name of openai.", "openai", "dall-e", "google")},
		{name: "model", fallback: "", shape: upTo(shoal.MaxName, "")},
		{name: "apiKey", fallback: "", shape: formed(keyText, "Empty is the provider's key of the server.").withEnv()},
		{name: "baseURL", fallback: "", shape: formed(baseURL, "")},
		{name: "size", fallback: "1024x1024", shape: formed(imageSize, "")},
		{name: "quality", fallback: "standard", shape: words("", "standard", "hd")},
		{name: "style", fallback: "", shape: upTo(64, "")},
		{name: "includeContext", fallback: false, shape: yesNo("Puts the newest of the conversation before the prompt.")},
		{name: "timeout", fallback: n("120000"), shape: shape{kind: whole, doc: "In milliseconds.", least: 1, most: 600_000}},
	}},
	WaitingType: {kind: object, fields: []field{
		{name: "duration", fallback: n("0"), shape: milliseconds(31*day, "How long, unless the model says so,")},
		{name: "reason", fallback: "", shape: upTo(1000, "")},
	}},
	ComputeType: {kind: object, fields: []field{
		{name: "operation", required: true, shape: filled(100, "A name for it.")},
		{name: "expression", required: true, shape: filled(4096, "Over the fields of the input, and of its data and parameters.")},
	}},
	BuiltInType: {kind: object, fields: []field{
		{name: "action", required: true, shape: filled(100, "The tool that every agent has.")},
	}},
}

var server = shape{kind: object, fields: []field{
	{name: "name", required: true, shape: formed(serverName, "Unique in the config.")},
	{name: "url", required: true, shape: formed(webURL, "")},
	{name: "transport", fallback: "http", shape: words("", "http", "sse")},
	{name: "headers", fallback: empty, shape: shape{kind: table, most: 100, names: headerName, items: &shape{kind: text, form: headerText, most: 8192, env: true}}},
	{name: "allowedTools", fallback: []any{}, shape: shape{kind: list, doc: "Empty takes all.", most: 500, unique: true, items: &shape{kind: text, least: 1, most: 128}}},
	{name: "requiresPermission", fallback: true, shape: yesNo("A person is asked before every call.")},
}}
