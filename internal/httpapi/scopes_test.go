package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

// scopesOf says which scope a key with scopes needs for a route: "" for those that only keys without
// scopes reach, and "open" for those that need none.
var scopesOf = map[string]string{
	"GET /v1/sessions": "read", "GET /v1/sessions/{session}": "read", "GET " + sessionPath + "/entities": "read", "GET " + entityPath: "read", "PATCH " + entityPath: "post",
	"POST " + entityPath + "/wait": "read", "POST " + resumedPath: "read", "POST " + entityPath + "/permissions": "post",
	"PUT " + entityPath + "/wake-lease": "read", "DELETE " + entityPath + "/wake-lease": "read", "PUT " + entityPath + "/wake-proof": "read",
	"GET " + sessionPath + "/spaces": "read", "GET " + spacePath: "read", "GET " + spacePath + "/members": "read", "GET " + memberPath: "read",
	"PUT " + spacePath + "/mute": "read", "DELETE " + spacePath + "/mute": "read", "POST " + spacePath + "/read": "read", "POST " + spacePath + "/unread": "read",
	"GET " + messagesPath: "read", "POST " + messagesPath: "post", "GET " + messagePath: "read", "PATCH " + messagePath: "post", "DELETE " + messagePath: "post",
	"PUT " + reactionPath: "post", "DELETE " + reactionPath: "post", "GET " + versionsPath: "read", "GET " + deliveriesPath: "read",
	"GET " + spacePath + "/events": "read", "GET " + sessionPath + "/events": "read", "GET " + sessionPath + "/search": "read",
	"GET " + sessionPath + "/agents": "read", "GET " + agentPath: "read", "GET " + agentPath + "/versions": "read", "GET " + memoriesPath: "read", "GET " + goalsPath: "read",
	"GET " + conversationsPath: "read", "GET " + conversationPath: "read", "GET " + agentPath + "/plans": "read",
	"POST " + agentPath + "/trigger": "run", "POST " + agentPath + "/claim": "run", "POST " + sessionPath + "/runs/{run}/work": "run", "GET " + runPath + "/orders": "run",
	"GET " + sessionPath + "/runners": "read", "PUT " + sessionPath + "/runners/{runner}/agents/{agent}": "run",
	"GET " + sessionPath + "/runs": "read", "GET " + runPath: "read", "POST " + runPath + "/cancel": "run", "POST " + runPath + "/retry": "run",
	"GET " + runPath + "/steps": "read", "GET " + runPath + "/steps/{step}/request": "read", "GET " + runPath + "/events": "read", "POST " + runPath + "/tool-results": "answer",
	"GET " + sessionPath + "/pending-actions": "read", "POST " + sessionPath + "/pending-actions/{pending}/answer": "answer",
	"GET " + sessionPath + "/remembered-decisions": "read", "DELETE " + sessionPath + "/remembered-decisions/{decision}": "answer",
	"GET " + sessionPath + "/invites": "read", "GET " + sessionPath + "/audit": "read", "GET " + sessionPath + "/usage": "read",
	"POST " + filesPath: "post", "GET " + filesPath + "/{file}": "read", "POST " + signedURLsPath: "open", "DELETE " + filesPath + "/{file}": "post",
	"GET " + renderersPath: "read", "GET " + rendererPagePath: "read", "GET /v1/keys": "read",
	"GET /v1/agent-config.schema.json": "open", "GET /v1/me": "open", "GET /healthz": "open", "GET /readyz": "open", "GET /v1/openapi.json": "open", "GET /docs": "open", "GET /docs/style.css": "open",
}

// adminRoutes are refused to every key but those of admins, before scopes matter.
var adminRoutes = []string{"POST /v1/sessions", "DELETE /v1/sessions/{session}", "POST /v1/sessions/{session}/close", "POST " + sessionPath + "/import", "GET /v1/audit", "GET /v1/nodes", "GET /metrics"}

// The key of an owner of the session, who may do everything there, does with each scope what the scope
// is for. Everything else is refused before it has any effect, and the refusal says which scope is
// missing.
func TestScopesOfEveryRoute(t *testing.T) {
	w := newWorld(t)
	f := w.fixture("limited", map[string]string{}, "/agents /invites/ /runners")
	owner := func(scopes ...string) string {
		return w.mint(shoal.NewKey{Role: shoal.RoleEntity, SessionID: "limited", EntityID: "owner", Scopes: scopes})
	}
	words := []string{"read", "post", "answer", "run"}
	keys := map[string]string{}
	for _, word := range words {
		keys[word] = owner(word)
	}
	tools, elsewhere, entered := owner("tools:send_message"), owner("spaces:elsewhere"), owner("spaces:room")
	for _, rt := range w.api.Routes() {
		name := rt.Method + " " + rt.Pattern
		need, row := scopesOf[name], matrix[name]
		if need == "open" {
			continue
		}
		for _, word := range words {
			if word == need {
				continue
			}
			status, body := f.call(rt, keys[word], row.query, row.body)
			names := strings.Contains(body, `it needs the scope \"`+need+`\"`)
			if need == "" {
				names = strings.Contains(body, "takes a key without scopes") || slices.Contains(adminRoutes, name)
			}
			if status != http.StatusForbidden || !names {
				t.Errorf("%s with the scope %s: %d %s; want 403 that names %q", name, word, status, body, need)
			}
		}
		if status, body := f.call(rt, tools, row.query, row.body); status != http.StatusForbidden || !strings.Contains(body, "without a scope tools:") {
			t.Errorf("%s with a key for tools of MCP: %d %s", name, status, body)
		}
		if status, body := f.call(rt, elsewhere, row.query, row.body); strings.Contains(body, confidential) || strings.Contains(rt.Pattern, "{space}") && status < 400 || status >= 500 {
			t.Errorf("%s with a key for another space: %d %s", name, status, body)
		}
	}
	// What the scopes allow is done, and what the spaces of a key show is read.
	for _, rt := range w.api.Routes() {
		name := rt.Method + " " + rt.Pattern
		need, row := scopesOf[name], matrix[name]
		if need == "" || need == "open" {
			continue
		}
		if status, body := f.call(rt, keys[need], row.query, row.body); strings.Contains(body, "This key has the scopes") || status >= 500 {
			t.Errorf("%s with the scope %s: %d %s", name, need, status, body)
		}
		if !strings.Contains(rt.Pattern, "{space}") {
			continue
		}
		if status, body := f.call(rt, entered, row.query, row.body); strings.Contains(body, "This key has the scopes") || status >= 500 {
			t.Errorf("%s with a key for the space: %d %s", name, status, body)
		}
	}
	for _, name := range adminRoutes {
		if scopesOf[name] != "" {
			t.Errorf("%s is for admins and has the scope %s", name, scopesOf[name])
		}
	}
}
