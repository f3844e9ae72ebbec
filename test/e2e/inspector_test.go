package e2e_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

// inspectorCLI is the command line of MCP Inspector, with which people debug
// servers.
const inspectorCLI = "test/conformance/node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js"

// Exit codes of the Inspector.
const (
	inspectorFine     = 0
	inspectorNoKey    = 3
	inspectorToolFail = 5
)

// inspector calls a server one way: over a transport, in an era.
type inspector struct {
	t      *testing.T
	way    []string // options
	target []string // the program of a stdio transport
	env    []string
}

// ways are all on which the Inspector can reach a server. The older HTTP+SSE
// transport has the older era only.
var ways = []struct{ name, era, transport string }{
	{"http-modern", "modern", "/mcp"},
	{"stdio-legacy", "legacy", "stdio"},
	{"http-legacy", "legacy", "/mcp"},
	{"sse-legacy", "legacy", "/sse"},
	{"stdio-modern", "modern", "stdio"},
}

func inspect(t *testing.T, s *server, era, transport, key string) inspector {
	t.Helper()
	i := inspector{t: t, way: []string{"--protocol-era", era}, env: cleanEnviron("HOME=" + t.TempDir())}
	if transport == "stdio" {
		i.way = append(i.way, "-e", "SHOAL_URL="+s.url, "-e", "SHOAL_KEY="+key)
		i.target = []string{shoalBinary.Path(), "mcp"}
	} else {
		i.way = append(i.way, "--server-url", s.url+transport, "--header", "Authorization: Bearer "+key)
	}
	return i
}

// ask runs a method and decodes its result into out.
func (i inspector) ask(exit int, out any, words ...string) {
	i.t.Helper()
	args := slices.Concat([]string{program.Installed(i.t, inspectorCLI), "--format", "json"}, i.way, words, i.target)
	cmd := exec.CommandContext(bounded(i.t), program.Node(i.t), args...)
	cmd.Env = i.env
	var said strings.Builder
	cmd.Stderr = &said
	text, err := cmd.Output()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) || cmd.ProcessState.ExitCode() != exit {
		i.t.Fatalf("%q ends with %v, want %d\n%s%s", words, err, exit, text, said.String())
	}
	answer := struct{ Result any }{out}
	if out == nil {
		return
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		i.t.Fatalf("%q: %v in %s", words, err, text)
	}
}

// called is the result of a call of a tool.
type called[T any] struct {
	Content           []struct{ Text string }
	StructuredContent *T
	IsError           bool
}

// call calls a tool with arguments in JSON.
func (i inspector) call(exit int, out any, name string, arguments args) {
	i.t.Helper()
	i.ask(exit, out, "--method", "tools/call", "--tool-name", name, "--tool-args-json", jsonOf(i.t, arguments))
}

// MCP Inspector shows what the contract says, on every transport and in both eras.
func TestInspector(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	writer := bearer(s.key(t, shoal.DefaultSession, "writer"))
	for _, way := range ways[:setting.Repeats(len(ways), 2)] {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			who, id := shoal.EntityID(way.name), shoal.SpaceID("seen-over-"+way.name)
			i := inspect(t, s, way.era, way.transport, s.key(t, shoal.DefaultSession, who))
			s.restAs(t, writer, http.MethodPost, lab+"/spaces", shoal.NewSpace{ID: id, Name: way.name, Members: []shoal.EntityID{who}}, nil)
			i.seesTools()
			i.talks(s, writer, id, who)
			i.readsThread(id)
			if way.transport == "/mcp" { // does not depend on the transport
				i.callsMore(id)
				i.listsResources()
			}
		})
	}
	t.Run("no key", func(t *testing.T) {
		t.Parallel()
		inspect(t, s, "modern", "/mcp", "unknown").ask(inspectorNoKey, nil, "--stored-auth-only", "--method", "tools/list")
	})
}

// seesTools lists them, with the Inspector's own judgement of their schemas.
func (i inspector) seesTools() {
	i.t.Helper()
	var list struct {
		Tools []struct {
			Name        string
			InputSchema struct{ Type string }
		}
	}
	i.ask(inspectorFine, &list, "--method", "tools/list", "--strict")
	names := map[string]bool{}
	for _, tool := range list.Tools {
		names[tool.Name] = tool.InputSchema.Type == "object"
	}
	for _, want := range tools {
		if !names[want] {
			i.t.Errorf("tools/list lacks %s, or its schema", want)
		}
	}
}

// talks posts, is answered, and gets the answer from a wait.
func (i inspector) talks(s *server, writer http.Header, id shoal.SpaceID, who shoal.EntityID) {
	i.t.Helper()
	var sent called[shoal.Message]
	i.call(inspectorFine, &sent, "send_message", args{"threadId": id, "content": "Is <this> right?", "mentions": []string{"writer"}})
	if m := sent.StructuredContent; m == nil || m.Seq != 1 || m.EntityID != who || m.Text() != "Is <this> right?" || !slices.Equal(m.Mentions, []shoal.EntityID{"writer"}) {
		i.t.Fatalf("send_message: %+v", sent)
	}
	s.restAs(i.t, writer, http.MethodPost, lab+"/spaces/"+string(id)+"/messages", args{"text": "It is.", "mentions": []shoal.EntityID{who}}, nil)
	var batch called[shoal.WaitResult]
	i.call(inspectorFine, &batch, "wait_for_mentions", args{"threadId": id, "timeoutMs": 20_000})
	b := batch.StructuredContent
	if b == nil || b.TimedOut || len(b.Items) != 1 || len(b.Items[0].Messages) != 1 || b.Items[0].Messages[0].Text() != "It is." {
		i.t.Fatalf("wait_for_mentions: %+v", batch)
	}
	if len(batch.Content) != 2 || !contains(batch.Content[0].Text, `<thread id="`+string(id)+`"`, `<sender id="writer"`, "<content>It is.</content>") {
		i.t.Errorf("wait_for_mentions shows a model %+v", batch.Content)
	}
}

// readsThread reads it as a resource.
func (i inspector) readsThread(id shoal.SpaceID) {
	i.t.Helper()
	var read struct {
		Contents []struct{ URI, MIMEType, Text string }
	}
	i.ask(inspectorFine, &read, "--method", "resources/read", "--uri", "shoal://threads/"+string(id))
	var thread struct {
		Space shoal.Space
		Items []shoal.Message
	}
	if len(read.Contents) != 1 || read.Contents[0].MIMEType != "application/json" || json.Unmarshal([]byte(read.Contents[0].Text), &thread) != nil ||
		thread.Space.ID != id || len(thread.Items) != 2 || thread.Items[1].Text() != "It is." {
		i.t.Errorf("resources/read: %+v", read)
	}
}

// callsMore reads with a tool, waits for what does not come, and makes a call
// that fails: a result for the model to read, not an error of the protocol.
func (i inspector) callsMore(id shoal.SpaceID) {
	i.t.Helper()
	var read called[struct{ Items []shoal.Message }]
	i.call(inspectorFine, &read, "read_thread", args{"threadId": id})
	if r := read.StructuredContent; r == nil || len(r.Items) != 2 || r.Items[0].Text() != "Is <this> right?" || r.Items[1].Text() != "It is." {
		i.t.Errorf("read_thread: %+v", read)
	}
	var vain called[shoal.WaitResult]
	i.call(inspectorFine, &vain, "wait_for_messages", args{"threadId": id, "timeoutMs": 50, "from": []string{"nobody"}})
	if v := vain.StructuredContent; v == nil || !v.TimedOut || len(v.Items) != 0 || v.TimeoutMs != 50 || vain.Content[0].Text != "No new messages received within the timeout period" {
		i.t.Errorf("wait_for_messages: %+v", vain)
	}
	var refused called[struct{}]
	i.call(inspectorToolFail, &refused, "read_thread", args{"threadId": "nowhere"})
	if !refused.IsError || refused.StructuredContent != nil || len(refused.Content) != 1 ||
		!contains(refused.Content[0].Text, "not_found: ", `Space "nowhere" not found`) {
		i.t.Errorf("read_thread: %+v", refused)
	}
}

func (i inspector) listsResources() {
	i.t.Helper()
	var has struct {
		Resources         []struct{ URI string }
		ResourceTemplates []struct{ URITemplate string }
	}
	i.ask(inspectorFine, &has, "--method", "resources/list")
	i.ask(inspectorFine, &has, "--method", "resources/templates/list")
	if jsonOf(i.t, has) != `{"Resources":[{"URI":"shoal://me"},{"URI":"shoal://threads"},`+skill+`],"ResourceTemplates":[{"URITemplate":"shoal://threads/{id}"}]}` {
		i.t.Errorf("resources: %+v", has)
	}
}

// skill are the files of the skill that every caller can read.
const skill = `{"URI":"skill://working-with-shoal/SKILL.md"},{"URI":"skill://working-with-shoal/references/decisions.md"},{"URI":"skill://working-with-shoal/references/failures.md"},{"URI":"skill://working-with-shoal/references/waiting.md"}`

// tools are those that the contract promises and that need no hosted agents.
var tools = []string{
	"register_agent", "list_agents", "wait_for_agents", "create_thread", "list_threads", "add_participant", "remove_participant",
	"mute_thread", "close_thread", "send_message", "edit_message", "react", "delete_message", "wait_for_mentions", "wait_for_messages", "read_thread", "search_messages",
}
