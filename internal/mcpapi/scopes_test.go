package mcpapi_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

// toolScopes says which scope a key with scopes needs for a tool: none for those that only keys without
// scopes may call.
var toolScopes = map[string]string{
	"register_agent": "post", "list_agents": "read", "wait_for_agents": "read", "list_threads": "read", "mute_thread": "read",
	"send_message": "post", "edit_message": "post", "react": "post", "delete_message": "post",
	"wait_for_mentions": "read", "wait_for_messages": "read", "read_thread": "read", "search_messages": "read",
	"list_pending_actions": "read", "answer_pending_action": "answer",
	"begin_message": "run", "append_text": "run", "show_card": "run", "ask": "run", "finish_message": "run",
}

// Every tool needs its scope: with another one it fails, and says what is missing. A key for some tools
// calls no other tool and reads no resource, and a key for one space nothing in another.
func TestScopesOfEveryTool(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob", "dan")
	w.space("hall", "ann", "bob")
	said := w.say("ann", "shop", "oops").ID
	key := func(scopes ...string) string {
		return w.mint(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "ann", Scopes: scopes})
	}
	words := map[string]string{"read": key("read"), "post": key("post"), "answer": key("answer"), "run": key("run")}
	one, other, elsewhere := key("tools:list_agents"), key("tools:begin_message,send_messages"), key("spaces:hall")
	for _, row := range rights {
		in := maps.Clone(row.in)
		if in["messageId"] == "HERE" {
			in["messageId"] = said
		}
		need := toolScopes[row.tool]
		names := `it needs the scope "` + need + `"`
		if need == "" {
			names = "takes a key without scopes"
		}
		for word, secret := range words {
			got := w.callRaw(secret, session, row.tool, in)
			refused := got.IsError && strings.Contains(got.Text, "This key has the scopes")
			if word != need && (!refused || !strings.HasPrefix(got.Text, "forbidden: ") || !strings.Contains(got.Text, names)) {
				t.Errorf("%s with the scope %s, not %q: %v %s", row.tool, word, need, got.IsError, got.Text)
			}
			if word == need && refused {
				t.Errorf("%s with its scope %s: %s", row.tool, word, got.Text)
			}
		}
		for _, secret := range []string{one, other} {
			if named := row.tool == "list_agents" && secret == one || row.tool == "begin_message" && secret == other; named {
				continue
			}
			if got := w.callRaw(secret, session, row.tool, in); !got.IsError || !strings.Contains(got.Text, `it needs the scope "tools:`+row.tool+`"`) {
				t.Errorf("%s with a key for another tool: %s", row.tool, got.Text)
			}
		}
		if _, about := in["threadId"]; about {
			if got := w.callRaw(elsewhere, session, row.tool, in); !got.IsError || need != "" && !strings.Contains(got.Text, `it needs the scope "spaces:shop"`) {
				t.Errorf("%s with a key for another space: %s", row.tool, got.Text)
			}
		}
	}
	if got := w.callRaw(one, session, "list_agents", inputs{}); got.IsError {
		t.Errorf("the tool that the key is for: %s", got.Text)
	}
	// What is in the space of a key is all that it sees: a wait looks there without being asked to.
	w.say("bob", "shop", "secret of the shop @ann", "ann")
	w.say("bob", "hall", "news of the hall @ann", "ann")
	for _, tool := range []string{"list_threads", "wait_for_messages", "wait_for_mentions", "search_messages"} {
		in := inputs{"timeoutMs": 0, "redeliver": true}
		switch tool {
		case "search_messages":
			in = inputs{"query": "ann"}
		case "list_threads":
			in = inputs{}
		}
		if got := w.callRaw(elsewhere, session, tool, in); got.IsError || strings.Contains(got.Text, "shop") || !strings.Contains(got.Text, "hall") {
			t.Errorf("%s with a key for the hall: %s", tool, got.Text)
		}
	}
	for _, c := range []struct{ secret, uri, want string }{
		{one, "shoal://me", "without a scope tools:"},
		{words["post"], "shoal://threads", "it needs the scope"},
		{elsewhere, "shoal://threads/shop", "spaces:shop"},
		{elsewhere, "shoal://threads/hall", "news of the hall"},
	} {
		if got := w.readRaw(c.secret, c.uri); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.uri, got, c.want)
		}
	}
}

// readRaw reads a resource by a bare HTTP request and returns the response.
func (w *world) readRaw(key, uri string) string {
	w.t.Helper()
	_, _, text, err := w.post(w.t.Context(), key, rpcMethod(1, "resources/read", map[string]any{"uri": uri}), "Mcp-Protocol-Version", session)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}
