package mcpapi_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
)

// toolNames are the contract's, in its order.
var toolNames = []string{
	"register_agent", "list_agents", "wait_for_agents", "create_thread", "list_threads", "add_participant", "remove_participant",
	"mute_thread", "close_thread", "send_message", "edit_message", "react", "delete_message", "wait_for_mentions", "wait_for_messages", "read_thread", "search_messages",
	"list_pending_actions", "answer_pending_action",
}

// remoteNames are the tools of remote agents only.
var remoteNames = []string{"begin_message", "append_text", "show_card", "ask", "finish_message"}

func TestToolsAreTheContracts(t *testing.T) {
	w := newWorld(t)
	if got, want := w.api.Tools(), slices.Concat(toolNames, remoteNames); !slices.Equal(got, want) {
		t.Errorf("Tools() = %q, want %q", got, want)
	}
	// name*: required, name=default.
	want := map[string]string{
		"register_agent":     "agentId agentName description",
		"list_agents":        "includeDetails=false cursor",
		"wait_for_agents":    "agentIds count timeoutMs=60000",
		"create_thread":      "threadName* participantIds=[] creatorId adminAgentId",
		"list_threads":       "includeClosed=false cursor",
		"add_participant":    "threadId* participantId*",
		"remove_participant": "threadId* participantId*",
		"mute_thread":        "threadId* unmute=false",
		"close_thread":       "threadId* summary*",
		"send_message":       "threadId* content* mentions=[] replyTo senderId idempotencyKey",
		"edit_message":       "content* mentions messageId*",
		"react":              "emoji* messageId* remove=false",
		"delete_message":     "messageId*",
		"wait_for_mentions":  "timeoutMs=30000 agentId threadId ack redeliver=false",
		"wait_for_messages":  "timeoutMs=30000 agentId threadId ack redeliver=false from=[]",
		"read_thread":        "threadId* limit=50 beforeSeq afterSeq",
		"search_messages":    "query* threadId limit=20 sort",

		"list_pending_actions":  "cursor",
		"answer_pending_action": "id* result error approved reason args ask args_hash answer",
	}
	ofRemotes := map[string]string{
		"begin_message":  "timeoutMs=30000 runId",
		"append_text":    "claim* text* threadId mention end=false idempotencyKey",
		"show_card":      "claim* card* args threadId mention wait=false callId timeoutMs=30000",
		"ask":            "claim* question* options tool args callId timeoutMs=30000",
		"finish_message": "claim* error",
	}
	w.host("clerk")
	for _, by := range transports {
		wantTools(t, by, w.join(by, "ann").tools(), want)
		all := maps.Clone(want)
		maps.Copy(all, ofRemotes)
		wantTools(t, by, w.join(by, "clerk").tools(), all)
	}
}

// wantTools checks the tools that an agent is offered.
func wantTools(t *testing.T, by transport, tools map[string]*mcp.Tool, want map[string]string) {
	t.Helper()
	if len(tools) != len(want) {
		t.Errorf("%s: %d tools, want %d", by.name, len(tools), len(want))
	}
	for name, inputs := range want {
		tool := tools[name]
		if tool == nil {
			t.Fatalf("%s: no tool %s", by.name, name)
		}
		if got := inputsOf(t, tool); !sameWords(got, inputs) {
			t.Errorf("%s: %s takes %s, want %s", by.name, name, got, inputs)
		}
		if len(tool.Description) < 40 || tool.OutputSchema == nil {
			t.Errorf("%s: %s lacks a description or an output schema", by.name, name)
		}
	}
}

// The instructions are short enough for every prompt.
func TestInstructionsAreShort(t *testing.T) {
	for _, by := range []transport{transports[0], transports[1]} {
		text := newWorld(t).join(by, "ann").InitializeResult().Instructions
		if n := len(strings.Fields(text)); n == 0 || n >= 200 {
			t.Errorf("%s: the instructions have %d words", by.name, n)
		}
		for _, tool := range []string{"register_agent", "list_threads", "create_thread", "send_message", "mentions", "wait_for_mentions", "ack", "call it again"} {
			if !strings.Contains(text, tool) {
				t.Errorf("the instructions do not speak of %s", tool)
			}
		}
	}
}

func sameWords(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

func (a *agent) tools() map[string]*mcp.Tool {
	a.t.Helper()
	list, err := a.ListTools(a.t.Context(), nil)
	if err != nil {
		a.t.Fatal(err)
	}
	out := map[string]*mcp.Tool{}
	for _, tool := range list.Tools {
		out[tool.Name] = tool
	}
	return out
}

// inputsOf writes an input schema in the words of the contract's table.
func inputsOf(t *testing.T, tool *mcp.Tool) string {
	var s struct {
		Type                 string
		AdditionalProperties *bool
		Required             []string
		Properties           map[string]struct {
			Type        string
			Description string
			Default     json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(compact(t, tool.InputSchema)), &s); err != nil {
		t.Fatal(err)
	}
	if s.Type != "object" || s.AdditionalProperties == nil || *s.AdditionalProperties {
		t.Errorf("%s: the input schema is not a closed object", tool.Name)
	}
	var words []string
	for name, p := range s.Properties {
		if (p.Type == "") != (name == "result" || name == "args") || p.Description == "" { // both are any JSON value
			t.Errorf("%s.%s has no type or no description", tool.Name, name)
		}
		switch {
		case slices.Contains(s.Required, name):
			name += "*"
		case p.Default != nil:
			name += "=" + string(p.Default)
		}
		words = append(words, name)
	}
	return strings.Join(words, " ")
}

// checker knows whether a structured result is what the tool's schema says.
type checker map[string]*jsonschema.Resolved

func newChecker(a *agent) checker {
	c := checker{}
	for name, tool := range a.tools() {
		var s jsonschema.Schema
		if err := json.Unmarshal([]byte(compact(a.t, tool.OutputSchema)), &s); err != nil {
			a.t.Fatal(err)
		}
		resolved, err := s.Resolve(nil)
		if err != nil {
			a.t.Fatal(err)
		}
		c[name] = resolved
	}
	return c
}

func (c checker) check(t testing.TB, tool string, a answer) {
	t.Helper()
	var v any
	a.into(t, &v)
	if err := c[tool].Validate(v); err != nil {
		t.Errorf("%s: the result does not fit the tool's output schema: %v\n%s", tool, err, a.Structured)
	}
}

// shop is a small world: a thread of ann and bob, a closed one, and one of cleo.
func shop(w *world) {
	w.space("shop", "ann", "bob")
	w.space("hers", "cleo")
	w.space("old", "ann", "bob")
	for _, text := range []string{"first <one>", "second one", "third"} {
		w.say("bob", "shop", text)
	}
	w.say("bob", "old", "long ago")
	if _, err := w.hub.Spaces.Close(w.t.Context(), adminWho, shoal.DefaultSession, "old", "it is over"); err != nil {
		w.t.Fatal(err)
	}
	w.say("cleo", "hers", "a secret one")
}

// toolCase is one call of ann's. An empty kind is a success.
type toolCase struct {
	tool string
	in   inputs
	kind shoal.Kind
	says []string // of the text
	has  []string // of the structured content
}

func toolCases() []toolCase {
	long := strings.Repeat("x", 65)
	return []toolCase{
		{tool: "register_agent", in: inputs{}, says: []string{"ID: ann"}, has: []string{`"id":"ann"`}},
		{tool: "register_agent", in: inputs{"agentId": "ann", "agentName": "Ann", "description": "buys\nthings"}, says: []string{"Name: Ann", "Description: buys things"}, has: []string{`"name":"Ann"`}},
		{tool: "register_agent", in: inputs{"agentName": nil}, has: []string{`"name":"Ann"`}},
		{tool: "register_agent", in: inputs{"agentId": "bob"}, kind: shoal.IdentityMismatch, says: []string{`"ann"`, `"bob"`}},
		{tool: "register_agent", in: inputs{"agentName": "a\nb"}, kind: shoal.InvalidArgument, says: []string{"agentName must not contain control characters"}},
		{tool: "register_agent", in: inputs{"agentName": 7, "description": []string{}}, kind: shoal.InvalidArgument, says: []string{"agentName must be a string; description must be a string"}},
		{tool: "register_agent", in: inputs{"name": "Ann"}, kind: shoal.InvalidArgument, says: []string{`"name" is not an input of register_agent, which takes agentId, agentName, description`}},

		{tool: "list_agents", in: inputs{}, says: []string{"ID: ann, Name: Ann, State: ", "ID: bob"}, has: []string{`"items":[{`, `"id":"cleo"`}},
		{tool: "list_agents", in: inputs{"includeDetails": true}, says: []string{"Kind: agent, Description: buys things"}},
		{tool: "list_agents", in: inputs{"includeDetails": "yes"}, kind: shoal.InvalidArgument, says: []string{"includeDetails must be true or false"}},

		{tool: "wait_for_agents", in: inputs{"agentIds": []string{"bob"}, "timeoutMs": 0}, says: []string{"ID: bob"}, has: []string{`"timedOut":false`, `"missing":[]`}},
		{tool: "wait_for_agents", in: inputs{"agentIds": []string{"cleo"}, "timeoutMs": 1}, says: []string{"Missing: cleo", "Call again"}, has: []string{`"timedOut":true`, `"missing":["cleo"]`, `"timeoutMs":1`, `"items":[]`}},
		{tool: "wait_for_agents", in: inputs{"count": 99, "timeoutMs": 0}, says: []string{"The time is up"}, has: []string{`"timedOut":true`}},
		{tool: "wait_for_agents", in: inputs{"timeoutMs": 0}, kind: shoal.InvalidArgument, says: []string{"agentIds"}},
		{tool: "wait_for_agents", in: inputs{"count": 0}, kind: shoal.InvalidArgument, says: []string{"count must be at least 1"}},
		{tool: "wait_for_agents", in: inputs{"count": 1, "agentIds": []string{"bob"}}, kind: shoal.InvalidArgument, says: []string{"agentIds and count exclude each other"}},
		{tool: "wait_for_agents", in: inputs{"agentIds": []string{"nobody"}, "timeoutMs": 0}, says: []string{"Missing: nobody"}, has: []string{`"timedOut":true`, `"missing":["nobody"]`}},

		{tool: "create_thread", in: inputs{"threadName": "Plans", "participantIds": []string{"bob"}, "creatorId": "ann", "adminAgentId": "bob"}, says: []string{"Thread created successfully:", "Name: Plans", "Participants: ann, bob"}, has: []string{`"adminAgentId":"bob"`, `"unreadCount":0`}},
		{tool: "create_thread", in: inputs{"threadName": "Alone"}, says: []string{"Participants: ann"}},
		{tool: "create_thread", in: inputs{"threadName": "No", "creatorId": "bob"}, kind: shoal.IdentityMismatch},
		{tool: "create_thread", in: inputs{}, kind: shoal.InvalidArgument, says: []string{"threadName is missing"}},
		{tool: "create_thread", in: inputs{"threadName": ""}, kind: shoal.InvalidArgument, says: []string{"threadName is missing"}},
		{tool: "create_thread", in: inputs{"threadName": "No", "participantIds": []string{"nobody"}}, kind: shoal.InvalidArgument, says: []string{`participantIds names "nobody"`, "nothing was created"}},
		{tool: "create_thread", in: inputs{"threadName": "No", "participantIds": "bob"}, kind: shoal.InvalidArgument, says: []string{"participantIds must be a list of strings"}},
		{tool: "create_thread", in: inputs{"threadName": "No", "participantIds": []any{"bob", 1}}, kind: shoal.InvalidArgument, says: []string{"entry 1"}},
		{tool: "create_thread", in: inputs{"threadName": "No", "adminAgentId": "cleo"}, kind: shoal.InvalidArgument, says: []string{"adminAgentId must be"}},

		{tool: "list_threads", in: inputs{}, says: []string{"ID: shop, Name: shop, Status: open, Participants: ann, bob, Unread: 3, Mentions: 0"}, has: []string{`"unreadCount":3`}},
		{tool: "list_threads", in: inputs{"includeClosed": true}, says: []string{"ID: old, Name: old, Status: closed"}},

		{tool: "add_participant", in: inputs{"threadId": "shop", "participantId": "cleo"}, says: []string{"Participant added successfully:", "Participants: ann, bob, cleo"}, has: []string{`"entityId":"cleo"`}},
		{tool: "add_participant", in: inputs{"threadId": "shop", "participantId": "nobody"}, kind: shoal.NotFound},
		{tool: "add_participant", in: inputs{"threadId": "hers", "participantId": "ann"}, kind: shoal.NotFound},
		{tool: "add_participant", in: inputs{"threadId": "old", "participantId": "cleo"}, kind: shoal.SpaceClosed},
		{tool: "add_participant", in: inputs{}, kind: shoal.InvalidArgument, says: []string{"threadId is missing", "participantId is missing"}},
		{tool: "remove_participant", in: inputs{"threadId": "shop", "participantId": "cleo"}, says: []string{"Participant removed successfully:", "Participants: ann, bob"}},
		{tool: "remove_participant", in: inputs{"threadId": "shop", "participantId": "cleo"}, kind: shoal.NotFound},
		{tool: "mute_thread", in: inputs{"threadId": "shop"}, says: []string{"Thread muted successfully:", "ID: shop"}, has: []string{`"muted":true`}},
		{tool: "list_threads", in: inputs{}, says: []string{", Muted"}},
		{tool: "mute_thread", in: inputs{"threadId": "shop", "unmute": true}, says: []string{"Thread unmuted successfully:"}, has: []string{`"muted":false`}},
		{tool: "mute_thread", in: inputs{"threadId": "hers"}, kind: shoal.NotFound},

		{tool: "send_message", in: inputs{"threadId": "shop", "content": "hello \"you\" <there>", "mentions": []string{"bob", "bob", "cleo", "nobody"}}, says: []string{"Content: hello \"you\" <there>", "Mentions: bob\nDropped mentions: cleo, nobody"}, has: []string{`"mentions":["bob"]`, `"droppedMentions":["cleo","nobody"]`, `"seq":5`, `"runId":null`, `"status":"completed"`}},
		{tool: "send_message", in: inputs{"threadId": "shop", "content": "once", "idempotencyKey": "k1"}, has: []string{`"seq":6`}},
		{tool: "send_message", in: inputs{"threadId": "shop", "content": "once", "idempotencyKey": "k1"}, has: []string{`"seq":6`}},
		{tool: "send_message", in: inputs{"threadId": "shop", "content": "twice", "idempotencyKey": "k1"}, kind: shoal.IdempotencyMismatch},
		{tool: "send_message", in: inputs{"threadId": "shop", "content": ""}, kind: shoal.InvalidArgument, says: []string{"content is empty"}},
		{tool: "send_message", in: inputs{"threadId": "shop"}, kind: shoal.InvalidArgument, says: []string{"content is missing"}},
		{tool: "send_message", in: inputs{"threadId": "shop", "content": "a\x00b"}, kind: shoal.InvalidArgument, says: []string{"content must not contain the character U+0000"}},
		{tool: "send_message", in: inputs{"threadId": "shop", "content": strings.Repeat("x", shoal.MaxContent+1)}, kind: shoal.TooLarge},
		{tool: "send_message", in: inputs{"threadId": "shop", "content": "x", "mentions": []string{long}}, kind: shoal.InvalidArgument, says: []string{"mentions holds an id of 65 characters"}},
		{tool: "send_message", in: inputs{"threadId": "shop", "content": "x", "mentions": []string{"@bob"}}, kind: shoal.InvalidArgument, says: []string{"mentions[0] may contain only letters"}},
		{tool: "send_message", in: inputs{"threadId": "shop", "content": "x", "senderId": "bob"}, kind: shoal.IdentityMismatch},
		{tool: "send_message", in: inputs{"threadId": "hers", "content": "x"}, kind: shoal.NotFound},
		{tool: "send_message", in: inputs{"threadId": "nothing", "content": "x"}, kind: shoal.NotFound},
		{tool: "send_message", in: inputs{"threadId": "old", "content": "x"}, kind: shoal.SpaceClosed},
		{tool: "send_message", in: inputs{"threadId": "shop", "content": "x", "mentions": []string{"bob"}, "Content": "y"}, kind: shoal.InvalidArgument, says: []string{`"Content" is not an input`}},

		{tool: "edit_message", in: inputs{"content": "x"}, kind: shoal.InvalidArgument, says: []string{"messageId is missing"}},
		{tool: "edit_message", in: inputs{"messageId": "msg_none", "content": "x"}, kind: shoal.NotFound},
		{tool: "edit_message", in: inputs{"messageId": "msg_none", "content": ""}, kind: shoal.InvalidArgument, says: []string{"content"}},
		{tool: "react", in: inputs{"messageId": "msg_none"}, kind: shoal.InvalidArgument, says: []string{"emoji is missing"}},
		{tool: "react", in: inputs{"messageId": "msg_none", "emoji": "ok"}, kind: shoal.InvalidArgument, says: []string{"must be one emoji"}},
		{tool: "react", in: inputs{"messageId": "msg_none", "emoji": "👍"}, kind: shoal.NotFound},
		{tool: "delete_message", in: inputs{}, kind: shoal.InvalidArgument, says: []string{"messageId is missing"}},
		{tool: "delete_message", in: inputs{"messageId": "msg_none"}, kind: shoal.NotFound},

		{tool: "read_thread", in: inputs{"threadId": "shop"}, says: []string{"<content>first &lt;one&gt;</content>", `seq="6"`, `<participants count="`}, has: []string{`"text":"first \u003cone\u003e"`, `"members":[{`}},
		{tool: "read_thread", in: inputs{"threadId": "shop", "limit": 2}, says: []string{`seq="5"`, `seq="6"`}},
		{tool: "read_thread", in: inputs{"threadId": "shop", "limit": 1, "beforeSeq": 3}, says: []string{"second one"}},
		{tool: "read_thread", in: inputs{"threadId": "shop", "limit": 1, "afterSeq": 0}, says: []string{"first &lt;one&gt;"}},
		{tool: "read_thread", in: inputs{"threadId": "shop", "limit": 1, "afterSeq": 2}, says: []string{"third"}},
		{tool: "read_thread", in: inputs{"threadId": "shop", "limit": 100000, "afterSeq": 99}, has: []string{`"items":[]`}},
		{tool: "read_thread", in: inputs{"threadId": "shop", "limit": 0}, kind: shoal.InvalidArgument, says: []string{"limit must be at least 1"}},
		{tool: "read_thread", in: inputs{"threadId": "shop", "limit": 1.5}, kind: shoal.InvalidArgument, says: []string{"limit must be a whole number"}},
		{tool: "read_thread", in: inputs{"threadId": "shop", "beforeSeq": 1, "afterSeq": 1}, kind: shoal.InvalidArgument, says: []string{"beforeSeq and afterSeq exclude each other"}},
		{tool: "read_thread", in: inputs{"threadId": "shop", "beforeSeq": 0}, kind: shoal.InvalidArgument},
		{tool: "read_thread", in: inputs{"threadId": "hers"}, kind: shoal.NotFound},
		{tool: "read_thread", in: inputs{"threadId": "old"}, says: []string{"<status>closed</status>", "<summary>it is over</summary>", "long ago"}},

		{tool: "search_messages", in: inputs{"query": "one"}, says: []string{`<hit thread="shop" threadName="shop"`, "<highlight>first &lt;<match>one</match>&gt;</highlight>", `<sender id="bob" name="bob"/>`}, has: []string{`"matches":[[`, `"highlight":"second one"`}},
		{tool: "search_messages", in: inputs{"query": "secret"}, has: []string{`"items":[]`}},
		{tool: "search_messages", in: inputs{"query": "one", "limit": 1, "threadId": "shop"}, has: []string{"second one"}},
		{tool: "search_messages", in: inputs{"query": "one", "threadId": "hers"}, kind: shoal.NotFound},
		{tool: "search_messages", in: inputs{"query": "?!"}, kind: shoal.InvalidArgument, says: []string{"query has neither a word"}},
		{tool: "search_messages", in: inputs{}, kind: shoal.InvalidArgument, says: []string{"query is missing"}},

		{tool: "wait_for_mentions", in: inputs{"timeoutMs": 0, "threadId": "shop"}, says: []string{"No new messages received within the timeout period", "call again"}, has: []string{`"items":[]`, `"timedOut":true`, `"cursor":null`, `"timeoutMs":0`}},
		{tool: "wait_for_mentions", in: inputs{"timeoutMs": -5, "threadId": "shop"}, has: []string{`"timeoutMs":0`}},
		{tool: "wait_for_mentions", in: inputs{"timeoutMs": 1e300}, says: []string{"Thread closed: it is over"}, has: []string{`"timeoutMs":600000`, `"reason":"system"`, `"delivery":1`}},
		{tool: "wait_for_mentions", in: inputs{"timeoutMs": "soon"}, kind: shoal.InvalidArgument, says: []string{"timeoutMs must be a whole number"}},
		{tool: "wait_for_mentions", in: inputs{"agentId": "bob"}, kind: shoal.IdentityMismatch},
		{tool: "list_agents", in: inputs{"cursor": "not one!"}, kind: shoal.InvalidArgument, says: []string{"cursor must be the nextCursor"}},
		{tool: "list_threads", in: inputs{"cursor": "not one!"}, kind: shoal.InvalidArgument, says: []string{"cursor must be the nextCursor"}},
		{tool: "list_pending_actions", in: inputs{"cursor": "not one!"}, kind: shoal.InvalidArgument, says: []string{"cursor must be the nextCursor"}},
		{tool: "wait_for_mentions", in: inputs{"ack": "in:x"}, kind: shoal.InvalidArgument, says: []string{"ack must be the cursor"}},
		{tool: "wait_for_mentions", in: inputs{"threadId": "hers"}, kind: shoal.NotFound},
		{tool: "wait_for_mentions", in: inputs{"from": []string{"bob"}}, kind: shoal.InvalidArgument, says: []string{`"from" is not an input`}},
		{tool: "wait_for_messages", in: inputs{"from": []string{"bob"}, "threadId": "shop"}, says: []string{"first &lt;one&gt;", "third", "acknowledge them: pass ack: \"p:"}, has: []string{`"reason":"message"`, `"status":"open"`, `"timedOut":false`}},
		{tool: "wait_for_messages", in: inputs{"from": []string{"cleo"}, "threadId": "shop", "timeoutMs": 0}, has: []string{`"timedOut":true`}},
		{tool: "wait_for_messages", in: inputs{"from": []string{"b b"}}, kind: shoal.InvalidArgument, says: []string{"from may contain only"}},

		{tool: "close_thread", in: inputs{"threadId": "shop"}, kind: shoal.InvalidArgument, says: []string{"summary is missing"}},
		{tool: "close_thread", in: inputs{"threadId": "hers", "summary": "x"}, kind: shoal.NotFound},
		{tool: "close_thread", in: inputs{"threadId": "shop", "summary": "sold"}, says: []string{"Thread closed successfully:", "Summary: sold"}, has: []string{`"status":"closed"`, `"summary":"sold"`}},
		{tool: "close_thread", in: inputs{"threadId": "shop", "summary": "sold"}, kind: shoal.SpaceClosed},
	}
}

func TestTools(t *testing.T) {
	for _, by := range transports {
		t.Run(by.name, func(t *testing.T) {
			w := newWorld(t)
			shop(w)
			ann := w.join(by, "ann")
			w.hub.Entities.RecordCall(shoal.Principal{EntityID: "bob"}, shoal.DefaultSession)
			schemas := newChecker(ann)
			for _, c := range toolCases() {
				got := ann.call(c.tool, c.in)
				name := c.tool + " " + compact(t, c.in)
				if len(name) > 150 {
					name = name[:150]
				}
				if c.kind != "" {
					wantFailure(t, got, c.kind, c.says...)
				} else {
					if got.IsError {
						t.Errorf("%s: %s", name, got.Text)
						continue
					}
					schemas.check(t, c.tool, got)
					wantText(t, got, c.says...)
				}
				for _, s := range c.has {
					if !strings.Contains(string(got.Structured), s) {
						t.Errorf("%s: the structured content lacks %s:\n%s", name, s, got.Structured)
					}
				}
				if t.Failed() {
					t.Fatalf("at %s", name)
				}
			}
		})
	}
}
