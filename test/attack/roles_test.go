package attack_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

const entitiesPath = "/v1/sessions/default/entities"

// requestID differs from answer to answer.
var requestID = regexp.MustCompile(`"requestId":"[^"]*"`)

// person returns the key of a person with a role in the session.
func (w *world) person(id, role string) string {
	w.Helper()
	key := w.key(id)
	w.ask(w.admin, "PATCH", entitiesPath+"/"+id, `{"kind":"human","sessionRole":"`+role+`"}`, 200)
	return key
}

// Whichever way somebody gives a role: it is not more than they have, and the answer says what is
// allowed. What was given ends with the role of the giver.
func TestNobodyGivesMoreThanTheyHave(t *testing.T) {
	w := start(t)
	may := map[string]string{"owner": "owner admin member guest auditor", "admin": "admin member guest", "member": "", "guest": "", "auditor": ""}
	for giver, given := range may {
		key := w.person("the-"+giver, giver)
		for _, role := range []string{"owner", "admin", "member", "guest", "auditor", ""} {
			named := role
			if role == "" {
				named = "member" // of an invitation that names none
			}
			invited, others := 403, 403
			if strings.Contains(" "+given+" ", " "+named+" ") {
				invited = 201
			}
			if giver == "owner" {
				others = 0
			}
			body := `{}`
			if role != "" {
				body = `{"sessionRole":"` + role + `"}`
			}
			text := w.ask(key, "POST", invitesPath, body, invited)
			if giver == "admin" && invited == 403 && !strings.Contains(text, `It can give \"admin\", \"member\", \"guest\"`) {
				t.Errorf("an admin that invites an %s reads %s", role, text)
			}
			if role == "" || others == 0 {
				continue
			}
			w.ask(key, "PATCH", entitiesPath+"/the-"+giver, body, 403)                                           // to itself
			w.ask(key, "POST", entitiesPath, `{"id":"new","kind":"human","sessionRole":"`+role+`"}`, 403)        // to somebody new
			w.ask(key, "POST", "/v1/keys", `{"role":"entity","sessionId":"default","entityId":"operator"}`, 403) // by acting as an owner
			w.ask(key, "POST", "/v1/sessions/default/import", `{"type":"none"}`, 403)
		}
	}
	owner, admin := w.person("boss", "owner"), w.person("chief", "admin")
	var made invited
	if err := json.Unmarshal([]byte(w.ask(owner, "POST", invitesPath, `{"sessionRole":"owner"}`, 201)), &made); err != nil {
		t.Fatal(err)
	}
	w.ask(admin, "DELETE", invitesPath+"/"+made.ID, "", 403)
	byAdmin := w.inviteBy(admin, `{"sessionRole":"admin"}`)
	w.ask(w.admin, "PATCH", entitiesPath+"/chief", `{"sessionRole":"member"}`, 200)
	if status, text := w.join(newBrowser(t), byAdmin.code, "Mallory"); status != 401 {
		t.Errorf("the invitation of a former admin: %d %s", status, text)
	}
	w.ask(admin, "POST", invitesPath, `{"sessionRole":"guest"}`, 403)
}

// A guest sees nothing of the session but its spaces, through none of the doors; to it, what exists
// elsewhere is like what does not. An auditor reads, and changes nothing through any of them.
func TestGuestsAndAuditorsAtEveryDoor(t *testing.T) {
	w := start(t)
	guest, auditor := w.person("gus", "guest"), w.person("aud", "auditor")
	w.ask(w.admin, "PUT", "/v1/sessions/default/agents/helper", `{"version":"1.0","agent":{},"remote":{}}`, 201)
	w.ask(w.ann, "POST", "/v1/sessions/default/spaces", `{"id":"yard","name":"yard","members":["gus","helper"]}`, 201)
	people := w.ask(guest, "GET", entitiesPath+"?limit=200", "", 200)
	for id, sees := range map[string]bool{"gus": true, "ann": true, "helper": true, "bob": false, "aud": false, "operator": false} {
		if strings.Contains(people, `"id":"`+id+`"`) != sees {
			t.Errorf("a guest sees %s: %v, want %v", id, !sees, sees)
		}
	}
	alike := func(method, path, body string) {
		t.Helper()
		w.Helper()
		code, _, there := w.once(guest, method, strings.ReplaceAll(path, "ID", "bob"), body)
		none, _, text := w.once(guest, method, strings.ReplaceAll(path, "ID", "nil"), body)
		there, text = requestID.ReplaceAllString(there, ""), requestID.ReplaceAllString(text, "")
		if code != none || strings.ReplaceAll(there, "bob", "nil") != text {
			t.Errorf("%s %s: somebody elsewhere gets %d %s, nobody %d %s", method, path, code, there, none, text)
		}
	}
	alike("GET", entitiesPath+"/ID", "")
	alike("PATCH", entitiesPath+"/ID", `{"name":"x"}`)
	alike("PUT", entitiesPath+"/ID/wake-lease", `{"via":"claude-hook"}`)
	alike("POST", "/v1/sessions/default/agents/ID/claim", `{"waitMs":0}`)
	alike("PUT", "/v1/sessions/default/spaces/yard/members/ID", "")
	alike("GET", "/v1/sessions/default/spaces/yard/members/ID", "")
	chat := `{"messages":[{"id":"m1","role":"user","content":"hi","parts":[{"type":"text","text":"hi"}]}]}`
	for _, c := range []struct {
		key, method, path, body string
		status                  int
	}{
		{guest, "POST", "/openai/v1/chat/completions", `{"model":"helper","messages":[{"role":"user","content":"hi"}]}`, 403}, // it would create a space
		{auditor, "POST", "/openai/v1/chat/completions", `{"model":"helper","messages":[{"role":"user","content":"hi"}]}`, 403},
		{auditor, "POST", "/ai-sdk/default/yard", chat, 403},
		{auditor, "GET", "/ai-sdk/default/yard", "", 200},
		{guest, "POST", "/ai-sdk/default/hall", chat, 404},
		{guest, "GET", "/ai-sdk/default/hall", "", 404},
		{auditor, "POST", "/agui/default/yard", `{"threadId":"t","runId":"r","messages":[{"id":"m1","role":"user","content":"hi"}],"tools":[],"context":[],"state":{},"forwardedProps":{}}`, 403},
		{guest, "POST", "/agui/default/hall", `{"threadId":"t","runId":"r","messages":[{"id":"m1","role":"user","content":"hi"}],"tools":[],"context":[],"state":{},"forwardedProps":{}}`, 404},
		{guest, "POST", "/v1/sessions/default/spaces/yard/messages", `{"text":"hello"}`, 201},
		{auditor, "GET", "/v1/sessions/default/spaces/yard/messages", "", 200},
		{auditor, "POST", "/v1/sessions/default/spaces/yard/messages", `{"text":"hello"}`, 403},
	} {
		if status, _, text := w.once(c.key, c.method, c.path, c.body); status != c.status {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.path, status, text, c.status)
		}
	}
	if text := w.ask(w.ann, "GET", "/v1/sessions/default/spaces/yard/messages", "", 200); strings.Count(text, `"seq":`) != 1 {
		t.Errorf("the space has %s", text)
	}
}
