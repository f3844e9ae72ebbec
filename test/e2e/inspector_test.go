package e2e_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/shoal-dev/shoal"
)

// MCP Inspector's command line is what people debug servers with. Its package
// finds itself only from the folder that it is started in.
func TestInspectorListsAndCallsTools(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	key := s.key(t, shoal.DefaultSession, "inspector")
	inspect := func(out any, words ...string) {
		t.Helper()
		words = append([]string{"index.js", s.url + "/mcp", "--transport", "http", "--header", "Authorization: Bearer " + key}, words...)
		cmd := exec.CommandContext(bounded(t), "node", words...)
		cmd.Dir = filepath.Join(nodeDir, "node_modules", "@modelcontextprotocol", "inspector-cli", "build")
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, text)
		}
		if err := json.Unmarshal(text, out); err != nil {
			t.Fatalf("%v: %v in %s", cmd.Args, err, text)
		}
	}
	var list struct{ Tools []struct{ Name string } }
	inspect(&list, "--method", "tools/list")
	names := map[string]bool{}
	for _, tool := range list.Tools {
		names[tool.Name] = true
	}
	for _, want := range tools {
		if !names[want] {
			t.Errorf("tools/list lacks %s", want)
		}
	}
	var called struct{ StructuredContent shoal.Entity }
	inspect(&called, "--method", "tools/call", "--tool-name", "register_agent", "--tool-arg", "agentName=The Inspector")
	if got := called.StructuredContent; got.ID != "inspector" || got.Name != "The Inspector" {
		t.Errorf("register_agent returns %+v", got)
	}
}

// tools are those that the contract promises and that need no hosted agents.
var tools = []string{
	"register_agent", "list_agents", "wait_for_agents", "create_thread", "list_threads", "add_participant", "remove_participant",
	"close_thread", "send_message", "wait_for_mentions", "wait_for_messages", "read_thread", "search_messages",
}
