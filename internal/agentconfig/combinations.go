package agentconfig

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
)

// BuiltIns are the tools that every hosted agent has. A configured tool must not have one of
// their names.
var BuiltIns = []string{
	"sendSpaceMessage", "readSpaceMessages", "getMyRuns", "delegateToAgent",
	"setGoals", "setMemories", "setPlans", "deleteGoals", "deleteMemories", "deletePlans", "getPreviousPlans",
}

// The fields that a display tool adds to the schema that the model sees.
const (
	TargetSpace  = "targetSpaceId"
	Mention      = "mention"
	TargetEntity = "targetEntityId" // of a targeted tool
)

// checkIdentity checks and completes the agent's id.
func (c *check) checkIdentity(config map[string]any, o Options) {
	agent, ok := config["agent"].(map[string]any)
	if !ok {
		return
	}
	id, named := agent["id"].(string)
	if !named && o.ID != "" {
		id = string(o.ID)
		agent["id"] = id
	}
	switch {
	case id == "":
		c.addProblem("agent.id", "is required: set it here or by the name of the file")
	case o.Fixed && id != string(o.ID):
		c.addProblem("agent.id", "is %s, but the config is for %s", quote(id), quote(string(o.ID)))
	case id == string(shoal.System) || id == "." || id == ".." || !entityID.form.re().MatchString(id):
		c.addProblem("agent.id", "must be %s, and not system", entityID.form.says)
	}
}

// checkCombinations checks rules that concern more than one field. Fields that are invalid by
// themselves were reported before and are missing or of the wrong type here.
func (c *check) checkCombinations(config map[string]any) {
	c.checkExecutor(config)
	if m, ok := config["model"].(map[string]any); ok {
		if api := m["api"]; m["provider"] != "openai" && m["provider"] != "azure" && (api == "responses" || api == "chat") {
			c.addProblem("model.api", "is for the providers openai and azure only")
		}
	}
	names := map[string]string{}
	tools, _ := config["tools"].([]any)
	for i, t := range tools {
		if t, ok := t.(map[string]any); ok {
			at := index("tools", i)
			c.checkUnique(names, t["name"], at)
			c.checkTool(t, at)
		}
	}
	servers := map[string]string{}
	mcp, _ := config["mcp"].(map[string]any)
	list, _ := mcp["servers"].([]any)
	for i, s := range list {
		if s, ok := s.(map[string]any); ok {
			at := index("mcp.servers", i)
			c.checkUnique(servers, s["name"], at)
			c.checkHeaders(s["headers"], at+".headers")
			c.checkURL(s["url"], at+".url")
		}
	}
}

// checkExecutor checks that the configuration says in one way who executes the runs.
func (c *check) checkExecutor(config map[string]any) {
	_, model := config["model"]
	_, remote := config["remote"]
	agent, _ := config["agent"].(map[string]any)
	if loop, _ := config["loop"].(map[string]any); loop["onNewMessage"] == "steer" && !remote {
		c.addProblem("loop.onNewMessage", "can be steer only for a remote agent: a model that the server calls reads no message in the middle of its turn. Use enqueue")
	}
	switch {
	case model && remote:
		c.addProblem("remote", "cannot be combined with model: either the server calls the model, or a program executes the runs. Leave one of them out")
	case remote:
		c.checkRemote(config)
	case !model && !c.reported("model"):
		c.addProblem("model", "is required, unless remote says that a program outside of the server executes the runs")
	case agent["system"] == "" && !c.reported("agent.system"):
		c.addProblem("agent.system", "is required")
	}
}

// checkRemote reports what the server would execute for an agent whose runs it does not execute.
func (c *check) checkRemote(config map[string]any) {
	mcp, _ := config["mcp"].(map[string]any)
	if servers, _ := mcp["servers"].([]any); len(servers) > 0 {
		c.addProblem("mcp.servers", "is for agents with a model: the program of a remote agent connects to its servers itself")
	}
	tools, _ := config["tools"].([]any)
	for i, t := range tools {
		t, _ := t.(map[string]any)
		execution, _ := t["execution"].(map[string]any)
		if kind, _ := t["executionType"].(string); Type(kind) != BasicType || execution["mode"] != NoExecution {
			c.addProblem(index("tools", i)+".executionType", "must be basic with the mode no-execution: the program of a remote agent executes its tools itself. List here only the cards that it shows")
		}
		if t["displayTool"] != true {
			c.addProblem(index("tools", i)+".displayTool", "must be true: a remote agent lists only the cards that it shows")
		}
	}
}

// reported reports whether a field has a problem already, or one below it.
func (c *check) reported(path string) bool {
	return slices.ContainsFunc(c.problems, func(p shoal.FieldError) bool {
		return p.Location == path || strings.HasPrefix(p.Location, path+".")
	})
}

// checkUnique reports a name that occurs twice.
func (c *check) checkUnique(seen map[string]string, name any, at string) {
	text, ok := name.(string)
	if !ok {
		return
	}
	if first, twice := seen[text]; twice {
		c.addProblem(at+".name", "is %s, as is %s.name; names are unique", quote(text), first)
		return
	}
	seen[text] = at
}

func (c *check) checkTool(t map[string]any, at string) {
	kind, _ := t["executionType"].(string)
	name, _ := t["name"].(string)
	if slices.Contains(BuiltIns, name) && Type(kind) != BuiltInType {
		c.addProblem(at+".name", "is reserved: every agent has a tool of this name. Choose another name")
	}
	if t["targeted"] == true && t["displayTool"] != true {
		c.addProblem(at+".targeted", "needs displayTool: true")
	}
	input := t["inputSchema"]
	switch Type(kind) {
	case AgentType, ImageType, BuiltInType:
		if input != nil {
			c.addProblem(at+".inputSchema", "is fixed for the type %s: leave it out", kind)
		}
	}
	if s, ok := input.(map[string]any); ok {
		if s["type"] != "object" {
			c.addProblem(at+".inputSchema.type", `must be "object"`)
		}
		if t["displayTool"] == true {
			c.checkRoutable(s, t["targeted"] == true, at+".inputSchema")
		}
	}
	answer, _ := t["answer"].(map[string]any)
	if by, ok := answer["by"].([]any); ok {
		quorum, _ := answer["quorum"].(json.Number)
		words := slices.ContainsFunc(by, func(v any) bool {
			word, _ := v.(string)
			return slices.Contains(shoal.AnswererGroups, shoal.EntityID(word))
		})
		if n, err := quorum.Int64(); err == nil && !words && len(by) > 0 && n > int64(len(by)) {
			c.addProblem(at+".answer.quorum", "is %d, but only %d may answer", n, len(by))
		}
	}
	if answer["choose"] == shoal.ChooseOne {
		c.checkChoice(t, answer, at)
	}
	c.checkExecution(t, Type(kind), at+".execution")
}

// checkChoice checks that the calls of a tool can be alternatives: a person answers them,
// one answer settles them, and the result says whether a call was chosen.
func (c *check) checkChoice(t, answer map[string]any, at string) {
	execution, _ := t["execution"].(map[string]any)
	if Type(fmt.Sprint(t["executionType"])) != BasicType || execution["mode"] != NoExecution {
		c.addProblem(at+".answer.choose", "needs a tool without execution: executionType basic, mode no-execution")
	}
	if quorum, _ := answer["quorum"].(json.Number); quorum != "" && quorum != "1" {
		c.addProblem(at+".answer.choose", "cannot be combined with a quorum")
	}
	output, err := json.Marshal(t["outputSchema"])
	if _, ok := ChoiceField(output); err != nil || !ok {
		c.addProblem(at+".answer.choose", "needs an outputSchema that is a boolean, or an object with one boolean property, which is required")
	}
}

// ChoiceField returns the field of a result that says whether a call was chosen, empty if
// the result itself says it. It is false for a schema that permits anything else.
func ChoiceField(schema json.RawMessage) (name string, ok bool) {
	var s struct {
		Type       any
		Properties map[string]struct{ Type any }
		Required   []string
	}
	if json.Unmarshal(schema, &s) != nil {
		return "", false
	}
	if s.Type == "boolean" {
		return "", true
	}
	if s.Type != "object" || len(s.Properties) != 1 || len(s.Required) != 1 {
		return "", false
	}
	name = s.Required[0]
	return name, s.Properties[name].Type == "boolean"
}

func (c *check) checkExecution(t map[string]any, kind Type, at string) {
	x, _ := t["execution"].(map[string]any)
	switch kind {
	case BasicType:
		if x["mode"] == Static {
			return
		}
		if output, _ := x["output"].(map[string]any); len(output) > 0 {
			c.addProblem(at+".output", "is for the mode static only")
		}
		if x["template"] == true {
			c.addProblem(at+".template", "is for the mode static only")
		}
	case RequestType:
		c.checkHeaders(x["headers"], at+".headers")
		c.checkURL(x["url"], at+".url")
	}
}

// transportHeaders are the headers that the HTTP client sets itself, or that would select
// another host of the server than the URL's.
var transportHeaders = []string{
	"Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Upgrade", "Te", "Trailer",
	"Proxy-Authorization", "Proxy-Connection", "Accept-Encoding", "Expect",
}

func (c *check) checkHeaders(headers any, at string) {
	table, _ := headers.(map[string]any)
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		same := textproto.CanonicalMIMEHeaderKey(name)
		if slices.Contains(transportHeaders, same) {
			c.addProblem(join(at, name), "is set by the server itself")
		}
		if seen[same] {
			c.addProblem(join(at, name), "occurs twice, in another spelling")
		}
		seen[same] = true
	}
}

// checkURL checks a URL with harmless text in place of its references and variables.
func (c *check) checkURL(link any, at string) {
	text, ok := link.(string)
	if !ok || strings.HasPrefix(text, envBegin) {
		return
	}
	text = envReference.ReplaceAllString(text, "1")
	if u, err := url.Parse(text); err != nil || u.Hostname() == "" {
		c.addProblem(at, "is not a valid URL")
	}
}

// closingKeywords are keywords with which a part of a schema rejects fields that another part
// permits.
var closingKeywords = []string{"additionalProperties", "unevaluatedProperties", "propertyNames", "maxProperties", "patternProperties"}

// checkRoutable checks that the routing fields can be added to the schema of a display tool.
func (c *check) checkRoutable(s map[string]any, targeted bool, at string) {
	added := []string{TargetSpace, Mention}
	if targeted {
		added = append(added, TargetEntity)
	}
	properties, _ := s["properties"].(map[string]any)
	for _, name := range added {
		if _, taken := properties[name]; taken {
			c.addProblem(join(at+".properties", name), "is reserved: display tools add this field. Choose another name")
		}
	}
	for _, keyword := range []string{"propertyNames", "maxProperties", "$ref", "$dynamicRef", "not", "if", "const", "enum"} {
		if _, there := s[keyword]; there {
			c.addProblem(join(at, keyword), "is not supported at the top level of a display tool's schema, to which %s are added", strings.Join(added, ", "))
		}
	}
	patterns, _ := s["patternProperties"].(map[string]any)
	for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
		re, err := regexp.Compile(pattern)
		if err != nil || slices.ContainsFunc(added, re.MatchString) {
			c.addProblem(join(at+".patternProperties", pattern), "could match %s, which are added to a display tool's schema", strings.Join(added, ", "))
		}
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := s[keyword].([]any)
		for i, part := range parts {
			part, _ := part.(map[string]any)
			for _, word := range append(closingKeywords, "$ref", "not", "if") {
				if _, there := part[word]; there {
					c.addProblem(join(index(join(at, keyword), i), word), "is not supported here in a display tool's schema, to which %s are added", strings.Join(added, ", "))
				}
			}
		}
	}
}
