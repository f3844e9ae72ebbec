package httpapi

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/httpapi/bodies"
)

// callers are the columns of the matrix. member and mate are in the space room;
// outsider is in the same session only, and owner owns it without being in the space;
// stranger, awayService, awayOwner and awayAuditor belong to another session. guest is a guest of
// the session in the space room, visitor one that is in no space, and auditor an auditor in no space.
var callers = []string{"anonymous", "expired", "revoked", "member", "outsider", "stranger", "service", "awayService", "admin", "owner", "awayOwner", "guest", "visitor", "auditor", "awayAuditor"}

// pushPoint is the public key of a browser.
const pushPoint = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"

// matrix says for every route what each caller gets.
var matrix = map[string]struct {
	query, body string
	statuses    string // in the order of callers
}{
	"GET /v1/sessions":                                        {"", "", "401 401 401  200 200 200  200 200 200  200 200  200 200 200 200"},
	"POST /v1/sessions":                                       {"", `{"name": "more"}`, "401 401 401  403 403 403  403 403 201  403 403  403 403 403 403"},
	"GET /v1/sessions/{session}":                              {"", "", "401 401 401  200 200 404  200 404 200  200 404  200 200 200 404"},
	"PATCH /v1/sessions/{session}":                            {"", `{"limits": {"maxCostPerRequest": 1}}`, "401 401 401  403 403 404  403 404 200  200 404  403 403 403 404"},
	"DELETE /v1/sessions/{session}":                           {"", "", "401 401 401  403 403 404  403 404 204  403 404  403 403 403 404"},
	"POST /v1/sessions/{session}/close":                       {"", "", "401 401 401  403 403 404  403 404 200  403 404  403 403 403 404"},
	"GET " + sessionPath + "/entities":                        {"", "", "401 401 401  200 200 404  200 404 200  200 404  200 200 200 404"},
	"POST " + sessionPath + "/entities":                       {"", `{"id": "more"}`, "401 401 401  403 403 404  403 404 201  201 404  403 403 403 404"},
	"GET " + entityPath:                                       {"", "", "401 401 401  200 200 404  200 404 200  200 404  200 404 200 404"},
	"PATCH " + entityPath:                                     {"", `{"name": "more"}`, "401 401 401  403 403 404  403 404 200  200 404  403 404 403 404"},
	"DELETE " + entityPath:                                    {"", "", "401 401 401  403 403 404  403 404 204  204 404  403 403 403 404"},
	"POST " + entityPath + "/erase":                           {"", "", "401 401 401  403 403 404  403 404 204  204 404  403 403 403 404"},
	"POST " + entityPath + "/wait":                            {"", `{"kind": "messages", "timeoutMs": 0}`, "401 401 401  403 403 404  403 404 400  403 404  403 403 403 404"},
	"POST " + resumedPath:                                     {"", `{"cursor": "none"}`, "401 401 401  403 403 404  403 404 400  403 404  403 403 403 404"},
	"POST " + entityPath + "/permissions":                     {"", `{"toolName": "Bash"}`, "401 401 401  403 403 404  403 404 403  403 404  403 403 403 404"},
	"PUT " + entityPath + "/wake-lease":                       {"", `{"via": "claude-hook"}`, "401 401 401  403 403 404  403 404 200  200 404  403 404 403 404"},
	"PUT " + entityPath + "/wake-proof":                       {"", `{"messageId": "none"}`, "401 401 401  404 404 404  404 404 404  404 404  404 404 404 404"},
	"DELETE " + entityPath + "/wake-lease":                    {"", "", "401 401 401  403 403 404  403 404 204  204 404  403 404 403 404"},
	"GET " + sessionPath + "/spaces":                          {"", "", "401 401 401  200 200 404  200 404 200  200 404  200 200 200 404"},
	"POST " + sessionPath + "/spaces":                         {"", `{"name": "more"}`, "401 401 401  201 201 404  403 404 201  201 404  403 403 403 404"},
	"GET " + spacePath:                                        {"", "", "401 401 401  200 404 404  200 404 200  200 404  200 404 200 404"},
	"PATCH " + spacePath:                                      {"", `{"name": "more"}`, "401 401 401  200 404 404  403 404 200  200 404  403 403 403 404"},
	"DELETE " + spacePath:                                     {"", "", "401 401 401  403 403 404  403 404 204  204 404  403 403 403 404"},
	"POST " + spacePath + "/close":                            {"", `{"summary": "done"}`, "401 401 401  200 404 404  403 404 200  200 404  403 403 403 404"},
	"GET " + spacePath + "/members":                           {"", "", "401 401 401  200 404 404  200 404 200  200 404  200 404 200 404"},
	"GET " + memberPath:                                       {"", "", "401 401 401  200 404 404  200 404 200  200 404  200 404 200 404"},
	"PUT " + memberPath:                                       {"", "", "401 401 401  200 404 404  403 404 200  200 404  403 403 403 404"},
	"DELETE " + memberPath:                                    {"", "", "401 401 401  200 404 404  403 404 200  200 404  403 403 403 404"},
	"PUT " + spacePath + "/mute":                              {"", "", "401 401 401  200 404 404  403 404 400  403 404  200 404 403 404"},
	"DELETE " + spacePath + "/mute":                           {"", "", "401 401 401  200 404 404  403 404 400  403 404  200 404 403 404"},
	"POST " + spacePath + "/read":                             {"", `{"seq": 1}`, "401 401 401  200 404 404  403 404 400  200 404  200 404 200 404"},
	"POST " + spacePath + "/unread":                           {"", `{"seq": 1}`, "401 401 401  403 404 404  403 404 400  403 404  200 404 403 404"},
	"GET " + messagesPath:                                     {"", "", "401 401 401  200 404 404  200 404 200  200 404  200 404 200 404"},
	"POST " + messagesPath:                                    {"", `{"text": "more"}`, "401 401 401  201 404 404  403 404 400  403 404  201 404 403 404"},
	"GET " + messagePath:                                      {"", "", "401 401 401  200 404 404  200 404 200  200 404  200 404 200 404"},
	"PATCH " + messagePath:                                    {"", `{"text": "less"}`, "401 401 401  403 404 404  403 404 400  403 404  403 404 403 404"},
	"PUT " + reactionPath:                                     {"", "", "401 401 401  200 404 404  403 404 400  403 404  200 404 403 404"},
	"DELETE " + reactionPath:                                  {"", "", "401 401 401  200 404 404  403 404 400  403 404  200 404 403 404"},
	"GET " + versionsPath:                                     {"", "", "401 401 401  200 404 404  200 404 200  200 404  200 404 200 404"},
	"GET " + deliveriesPath:                                   {"", "", "401 401 401  200 404 404  200 404 200  200 404  200 404 200 404"},
	"DELETE " + messagePath:                                   {"", "", "401 401 401  403 404 404  403 404 204  204 404  403 404 403 404"},
	"GET " + spacePath + "/events":                            {"", "", "401 401 401  200 404 404  200 404 200  200 404  200 404 200 404"},
	"GET " + sessionPath + "/events":                          {"", "", "401 401 401  200 200 404  200 404 200  200 404  200 200 200 404"},
	"GET " + sessionPath + "/search":                          {"?q=confidential", "", "401 401 401  200 200 404  200 404 200  200 404  200 200 200 404"},
	"GET " + sessionPath + "/agents":                          {"", "", "401 401 401  403 403 404  403 404 200  200 404  403 403 200 404"},
	"PUT " + agentPath:                                        {"", configOf("more"), "401 401 401  403 403 404  403 404 200  200 404  403 403 403 404"},
	"GET " + agentPath:                                        {"", "", "401 401 401  403 403 404  403 404 200  200 404  403 403 200 404"},
	"DELETE " + agentPath:                                     {"", "", "401 401 401  403 403 404  403 404 204  204 404  403 403 403 404"},
	"GET " + agentPath + "/versions":                          {"", "", "401 401 401  403 403 404  403 404 200  200 404  403 403 200 404"},
	"POST " + agentPath + "/preview":                          {"", configOf("more"), "401 401 401  403 403 404  403 404 200  200 404  403 403 403 404"},
	"GET " + memoriesPath:                                     {"", "", "401 401 401  403 403 404  403 404 200  200 404  403 403 200 404"},
	"DELETE " + memoriesPath:                                  {"", "", "401 401 401  403 403 404  403 404 204  204 404  403 403 403 404"},
	"DELETE " + memoriesPath + "/{memory}":                    {"", "", "401 401 401  403 403 404  403 404 204  204 404  403 403 403 404"},
	"GET " + goalsPath:                                        {"", "", "401 401 401  403 403 404  403 404 200  200 404  403 403 200 404"},
	"DELETE " + goalsPath:                                     {"", "", "401 401 401  403 403 404  403 404 204  204 404  403 403 403 404"},
	"DELETE " + goalsPath + "/{goal}":                         {"", "", "401 401 401  403 403 404  403 404 204  204 404  403 403 403 404"},
	"GET " + conversationsPath:                                {"", "", "401 401 401  403 403 404  403 404 200  200 404  403 403 200 404"},
	"GET " + conversationPath:                                 {"", "", "401 401 401  403 403 404  403 404 200  200 404  403 403 200 404"},
	"DELETE " + conversationPath:                              {"", "", "401 401 401  403 403 404  403 404 204  204 404  403 403 403 404"},
	"POST " + agentPath + "/trigger":                          {"", `{"serviceName": "more"}`, "401 401 401  403 403 404  202 404 202  202 404  403 403 403 404"},
	"GET " + agentPath + "/plans":                             {"", "", "401 401 401  403 403 404  403 404 200  200 404  403 403 200 404"},
	"POST " + agentPath + "/plans":                            {"", `{"name": "more", "scheduledAt": "2126-11-20T10:00:00Z"}`, "401 401 401  403 403 404  403 404 201  201 404  403 403 403 404"},
	"PATCH " + planPath:                                       {"", `{"name": "more"}`, "401 401 401  403 403 404  403 404 200  200 404  403 403 403 404"},
	"DELETE " + planPath:                                      {"", "", "401 401 401  403 403 404  403 404 204  204 404  403 403 403 404"},
	"POST " + agentPath + "/claim":                            {"", `{"waitMs": 0}`, "401 401 401  403 403 404  403 404 200  403 404  403 403 403 404"},
	"POST " + sessionPath + "/runs/{run}/work":                {"?generation=1", "", "401 401 401  403 404 404  403 404 200  403 404  403 403 403 404"},
	"GET " + runPath + "/orders":                              {"?generation=1", "", "401 401 401  403 404 404  403 404 200  403 404  403 403 403 404"},
	"GET " + sessionPath + "/runners":                         {"", "", "401 401 401  403 403 404  403 404 200  200 404  403 403 200 404"},
	"PUT " + sessionPath + "/runners/{runner}/agents/{agent}": {"", `{"version": "1.0.0", "kind": "codex", "mode": "ask"}`, "401 401 401  403 403 404  403 404 204  403 404  403 403 403 404"},
	"DELETE " + sessionPath + "/runners/{runner}":             {"", "", "401 401 401  403 403 404  403 404 204  204 404  403 403 403 404"},
	"GET " + sessionPath + "/runs":                            {"", "", "401 401 401  200 200 404  200 404 200  200 404  200 200 200 404"},
	"GET " + runPath:                                          {"", "", "401 401 401  200 404 404  200 404 200  200 404  200 404 200 404"},
	"POST " + runPath + "/cancel":                             {"", "", "401 401 401  200 404 404  200 404 200  200 404  403 403 403 404"},
	"POST " + runPath + "/retry":                              {"", "", "401 401 401  202 404 404  202 404 202  202 404  403 403 403 404"},
	"GET " + runPath + "/steps":                               {"", "", "401 401 401  403 403 404  200 404 200  200 404  403 403 200 404"},
	"GET " + runPath + "/steps/{step}/request":                {"", "", "401 401 401  403 403 404  200 404 200  200 404  403 403 200 404"},
	"GET " + runPath + "/events":                              {"", "", "401 401 401  200 404 404  200 404 200  200 404  200 404 200 404"},
	"POST " + runPath + "/tool-results":                       {"", `{"callId": "call-1", "result": 1}`, "401 401 401  200 404 404  403 404 200  403 404  200 404 403 404"},

	"GET " + sessionPath + "/pending-actions":                    {"", "", "401 401 401  200 200 404  200 404 200  200 404  200 200 200 404"},
	"POST " + sessionPath + "/pending-actions/{pending}/answer":  {"", `{"result": 1}`, "401 401 401  200 404 404  403 404 200  403 404  200 404 403 404"},
	"GET " + sessionPath + "/remembered-decisions":               {"", "", "401 401 401  200 200 404  200 404 200  200 404  200 200 200 404"},
	"DELETE " + sessionPath + "/remembered-decisions/{decision}": {"", "", "401 401 401  404 404 404  404 404 404  404 404  403 403 403 404"},

	"POST " + sessionPath + "/invites":            {"", `{"name": "more"}`, "401 401 401  403 403 404  403 404 201  201 404  403 403 403 404"},
	"GET " + sessionPath + "/invites":             {"", "", "401 401 401  403 403 404  403 404 200  200 404  403 403 200 404"},
	"DELETE " + sessionPath + "/invites/{invite}": {"", "", "401 401 401  403 403 404  403 404 204  204 404  403 403 403 404"},

	"GET " + pushPath:                        {"", "", "401 401 401  200 200 404  403 404 400  200 404  200 200 200 404"},
	"POST " + pushPath:                       {"", `{"endpoint": "https://push.example/1", "p256dh": "` + pushPoint + `", "auth": "BTBZMqHH6r4Tts7J_aSIgg"}`, "401 401 401  403 403 404  403 404 400  201 404  201 201 201 404"},
	"DELETE " + pushPath + "/{subscription}": {"", "", "401 401 401  404 404 404  403 404 400  404 404  404 404 404 404"},

	"GET " + sessionPath + "/audit":    {"", "", "401 401 401  403 403 404  403 404 200  200 404  403 403 200 404"},
	"GET /v1/audit":                    {"", "", "401 401 401  403 403 403  403 403 200  403 403  403 403 403 403"},
	"GET " + sessionPath + "/usage":    {"?by=run", "", "401 401 401  403 403 404  403 404 200  200 404  403 403 200 404"},
	"GET " + sessionPath + "/export":   {"", "", "401 401 401  403 403 404  403 404 200  200 404  403 403 403 404"},
	"POST " + sessionPath + "/import":  {"", `{"type":"none"}` + "\n", "401 401 401  403 403 404  403 404 422  403 404  403 403 403 404"},
	"POST " + filesPath:                {"?name=more", `{"a": "file"}`, "401 401 401  201 201 404  201 404 201  201 404  201 201 403 404"},
	"GET " + filesPath + "/{file}":     {"", "", "401 401 401  200 404 404  200 404 200  200 404  404 404 200 404"},
	"POST " + signedURLsPath:           {"", `{"url": "/v1/sessions/{session}/files/{file}"}`, "401 401 401  200 200 404  200 404 200  200 404  200 200 200 404"},
	"DELETE " + filesPath + "/{file}":  {"", "", "401 401 401  204 404 404  403 404 204  204 404  404 404 403 404"},
	"GET " + renderersPath:             {"", "", "401 401 401  200 200 404  200 404 200  200 404  200 200 200 404"},
	"PUT " + rendererPath:              {"", "<p>more", "401 401 401  403 403 404  403 404 200  200 404  403 403 403 404"},
	"DELETE " + rendererPath:           {"", "", "401 401 401  403 403 404  403 404 204  204 404  403 403 403 404"},
	"GET " + rendererPagePath:          {"", "", "401 401 401  200 200 404  200 404 200  200 404  200 200 200 404"},
	"GET /v1/agent-config.schema.json": {"", "", "200 200 200  200 200 200  200 200 200  200 200  200 200 200 200"},

	"GET /v1/me":                 {"", "", "401 401 401  200 200 200  200 200 200  200 200  200 200 200 200"},
	"GET /v1/keys":               {"", "", "401 401 401  403 403 403  403 403 200  200 200  403 403 200 200"},
	"POST /v1/keys":              {"", `{"role": "service", "sessionId": "away"}`, "401 401 401  403 403 403  403 403 201  404 201  403 403 403 403"},
	"POST /v1/keys/{key}/rotate": {"", `{"overlapMs": 0}`, "401 401 401  403 403 403  403 403 201  201 404  403 403 403 403"},
	"DELETE /v1/keys/{key}":      {"", "", "401 401 401  403 403 403  403 403 204  204 404  403 403 403 403"},
	"GET /v1/nodes":              {"", "", "401 401 401  403 403 403  403 403 200  403 403  403 403 403 403"},
	"GET /metrics":               {"", "", "401 401 401  403 403 403  403 403 200  403 403  403 403 403 403"},
	"GET /healthz":               {"", "", "200 200 200  200 200 200  200 200 200  200 200  200 200 200 200"},
	"GET /readyz":                {"", "", "200 200 200  200 200 200  200 200 200  200 200  200 200 200 200"},
	"GET /v1/openapi.json":       {"", "", "200 200 200  200 200 200  200 200 200  200 200  200 200 200 200"},
	"GET /docs":                  {"", "", "200 200 200  200 200 200  200 200 200  200 200  200 200 200 200"},
	"GET /docs/style.css":        {"", "", "200 200 200  200 200 200  200 200 200  200 200  200 200 200 200"},
}

// confidential is in everything that is in the space room, and internal in
// everything of its session.
const (
	confidential = "confidential-words"
	internal     = "internal-words"
)

func TestRightsMatrix(t *testing.T) {
	w := newWorld(t)
	w.do(w.admin, "POST", "/v1/sessions", `{"id": "away"}`).wants(201)
	soon := shoal.At(time.Now().Add(2 * time.Second)) // later than a slow machine takes to create the key
	revoked := into[shoal.Key](w.do(w.admin, "POST", "/v1/keys", shoal.NewKey{Role: shoal.RoleAdmin}).wants(201))
	w.do(w.admin, "DELETE", "/v1/keys/"+string(revoked.ID), nil).wants(204)
	keys := map[string]string{
		"admin": w.admin, "expired": w.mint(shoal.NewKey{Role: shoal.RoleAdmin, ExpiresAt: &soon}), "revoked": *revoked.Secret,
		"stranger": w.entity("away", "stranger"), "awayService": w.mint(shoal.NewKey{Role: shoal.RoleService, SessionID: "away"}),
		"awayOwner": w.inRole("away", "awayOwner", shoal.SessionOwner), "awayAuditor": w.inRole("away", "awayAuditor", shoal.SessionAuditor),
	}
	w.until("the key has expired", func() bool { return !time.Now().Before(soon.Time) })
	rows := 0
	for _, rt := range w.api.Routes() {
		name := rt.Method + " " + rt.Pattern
		row, found := matrix[name]
		statuses := strings.Fields(row.statuses)
		if !found || len(statuses) != len(callers) {
			t.Errorf("%s has no row in the matrix that says what each caller gets", name)
			continue
		}
		rows++
		var f *fixture // a call that changes something spoils it for the next
		for i, caller := range callers {
			t.Run(name+" as "+caller, func(t *testing.T) {
				w := *w
				w.TB = t
				if f == nil {
					f = w.fixture(fmt.Sprintf("s%d-%d", rows, i), maps.Clone(keys), rt.Pattern)
				}
				f.world = &w
				status, body := f.call(rt, f.keys[caller], row.query, row.body)
				if rt.Method != http.MethodGet && status < 400 {
					f = nil
				}
				if fmt.Sprint(status) != statuses[i] {
					t.Errorf("%d, want %s\n%s", status, statuses[i], body)
				}
				if blind := caller == "outsider" || caller == "visitor" || status >= 400; blind && strings.Contains(body, confidential) {
					t.Errorf("a %s sees into the space: %s", caller, body)
				}
				if slices.Contains([]string{"anonymous", "expired", "revoked", "stranger", "awayService", "awayOwner", "awayAuditor"}, caller) && strings.Contains(body, internal) {
					t.Errorf("a %s sees into the session: %s", caller, body)
				}
			})
		}
	}
	if rows != len(matrix) {
		t.Errorf("the matrix has %d rows, %d of them for routes that exist", len(matrix), rows)
	}
}

// fixture is a session of its own with everything that a route may name.
type fixture struct {
	*world
	keys map[string]string
	path *strings.Replacer
}

func (w *world) fixture(session string, keys map[string]string, pattern string) *fixture {
	w.Helper()
	f := &fixture{world: w, keys: keys}
	w.do(w.admin, "POST", "/v1/sessions", map[string]string{"id": session, "name": internal}).wants(201)
	at := "/v1/sessions/" + session
	for _, id := range []string{"member", "outsider", "mate"} {
		f.keys[id] = w.entity(session, id)
	}
	for id, role := range map[string]shoal.SessionRole{"owner": shoal.SessionOwner, "guest": shoal.SessionGuest, "visitor": shoal.SessionGuest, "auditor": shoal.SessionAuditor} {
		f.keys[id] = w.inRole(session, id, role)
	}
	f.keys["service"] = w.mint(shoal.NewKey{Role: shoal.RoleService, SessionID: shoal.SessionID(session)})
	w.do(f.keys["member"], "POST", at+"/spaces", `{"id": "room", "name": "`+confidential+`", "members": ["mate", "guest"]}`).wants(201)
	said := into[shoal.Message](w.do(f.keys["mate"], "POST", at+"/spaces/room/messages", `{"text": "`+confidential+`"}`).wants(201))

	other := into[shoal.Key](w.do(w.admin, "POST", "/v1/keys", shoal.NewKey{Role: shoal.RoleService, SessionID: shoal.SessionID(session)}).wants(201))
	w.do(w.admin, "PUT", at+"/renderers/card", "<p>"+internal, "Content-Type", bodies.Renderer).wants(201)
	names := []string{"{subscription}", "psh_none", "{renderer}", "card", "{version}", "1", "{session}", session, "{entity}", "mate", "{space}", "room", "{key}", string(other.ID), "{message}", string(said.ID), "{emoji}", "%F0%9F%91%8D"}
	if slices.ContainsFunc([]string{"/agents", "/plans", "/runs", "/pending-actions", "/usage", "/files", "/signed-urls"}, func(noun string) bool { return strings.Contains(pattern, noun) }) {
		names = append(names, f.hosting(session, !strings.HasSuffix(pattern, "/cancel") && !strings.HasSuffix(pattern, "/retry"))...)
	}
	if strings.Contains(pattern, "/runners") {
		w.do(w.admin, "PUT", at+"/agents/coder", `{"version": "1.0", "agent": {}, "remote": {}}`).wants(201)
		w.do(w.admin, "PUT", at+"/runners/"+internal+"/agents/coder", `{"version": "1.0.0", "kind": "codex", "mode": "ask"}`).wants(204)
		names = append([]string{"{agent}", "coder", "{runner}", internal}, names...)
	}
	if slices.ContainsFunc([]string{"/claim", "{run}/work", "/orders"}, func(verb string) bool { return strings.HasSuffix(pattern, verb) }) {
		names = append([]string{"{run}", f.program(session)}, names...)
	}
	if strings.Contains(pattern, "/invites/") {
		made := into[shoal.Invite](w.do(w.admin, "POST", at+"/invites", nil).wants(201))
		names = append(names, "{invite}", string(made.ID))
	}
	f.path = strings.NewReplacer(names...)
	if strings.HasSuffix(pattern, "/retry") {
		w.do(w.admin, "POST", f.path.Replace(runPath+"/cancel"), nil).wants(200)
	}
	return f
}

// program makes the hosted agent a remote one, and returns a run of it that a program has
// claimed.
func (f *fixture) program(session string) string {
	f.Helper()
	w, at := f.world, "/v1/sessions/"+session
	w.do(w.admin, "PUT", at+"/agents/helper", `{"version": "1.0", "agent": {}, "remote": {}}`).wants(200)
	w.do(f.keys["mate"], "POST", at+"/spaces/room/messages", `{"text": "`+confidential+`", "mentions": ["helper"]}`).wants(201)
	claimed := into[struct{ Items []shoal.RemoteRun }](w.do(w.admin, "POST", at+"/agents/helper/claim", nil).wants(200))
	if len(claimed.Items) != 1 || claimed.Items[0].Generation != 1 {
		w.Fatalf("claimed: %+v", claimed)
	}
	return string(claimed.Items[0].Run.ID)
}

// inRole returns a key of a person with a role in the session.
func (w *world) inRole(session, id string, role shoal.SessionRole) string {
	w.Helper()
	secret := w.entity(session, id)
	w.do(w.admin, "PATCH", "/v1/sessions/"+session+"/entities/"+id, `{"kind": "human", "sessionRole": "`+string(role)+`"}`).wants(200)
	return secret
}

// hosting adds a hosted agent with a run, and returns the ids of both and of all that
// belongs to them. If suspended, the run waits for an answer; otherwise it is queued, and
// ends at once when it is canceled.
func (f *fixture) hosting(session string, suspended bool) []string {
	f.Helper()
	w, at := f.world, "/v1/sessions/"+session
	w.host(session, "helper")
	w.do(f.keys["member"], "PUT", at+"/spaces/room/members/helper", nil).wants(200)
	asking := into[shoal.Message](w.do(f.keys["mate"], "POST", at+"/spaces/room/messages", `{"text": "`+confidential+`", "mentions": ["helper"]}`).wants(201))
	is := asked{run: w.runOf(asking), pending: []shoal.PendingID{"pnd_none"}}
	if suspended {
		is = w.suspends(shoal.SessionID(session), is.run, "room", clientTool("call-1"))
	}
	w.notes(shoal.SessionID(session), "helper", internal)
	w.talked(shoal.SessionID(session), "helper", "service/billing", 1, confidential)
	plan := into[shoal.Plan](w.do(w.admin, "POST", at+"/agents/helper/plans", `{"name": "`+internal+`", "scheduledAt": "2126-11-20T10:00:00Z"}`).wants(201))
	file := into[shoal.File](w.do(f.keys["member"], "POST", at+"/files", confidential).wants(201))
	return []string{
		"{agent}", "helper", "{run}", string(is.run), "{pending}", string(is.pending[0]), "{plan}", string(plan.ID), "{file}", string(file.ID), "{step}", "0", "{memory}", "mem_1", "{goal}", "goal_1", "{conversation}", "service:billing",
		"{decision}", "dec_none",
	}
}

// call makes a call and returns its status and what there is of its body.
func (f *fixture) call(rt Route, secret, query, body string) (int, string) {
	f.Helper()
	ctx, cancel := context.WithCancel(f.Context())
	defer cancel()
	var in any
	if body != "" {
		in = f.path.Replace(body)
	}
	r := f.request(ctx, secret, rt.Method, f.path.Replace(rt.Pattern)+query, in)
	if strings.HasPrefix(body, "<") {
		r.Header.Set("Content-Type", bodies.Renderer)
	}
	res, err := f.server.Client().Do(r)
	f.must(err)
	defer res.Body.Close()
	if (strings.HasSuffix(rt.Pattern, "/events") || strings.HasSuffix(rt.Pattern, "/orders")) && res.StatusCode == http.StatusOK {
		return res.StatusCode, "" // it does not end
	}
	text, err := io.ReadAll(res.Body)
	f.must(err)
	return res.StatusCode, string(text)
}
