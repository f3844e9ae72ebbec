package attack_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// made is a key that was created.
type made struct{ ID, Key, ExpiresAt, ReplacedBy string }

func (w *world) made(by, path, body string) (out made) {
	w.Helper()
	if err := json.Unmarshal([]byte(w.ask(by, "POST", path, body, 201)), &out); err != nil {
		w.Fatal(err)
	}
	return out
}

// A key with scopes reaches no further through any door than its scopes say, and the refusal names
// what is missing.
func TestScopesAtEveryDoor(t *testing.T) {
	w := start(t)
	w.ask(w.admin, "PUT", "/v1/sessions/default/agents/helper", `{"version":"1.0","agent":{},"remote":{}}`, 201)
	w.ask(w.ann, "POST", "/v1/sessions/default/spaces", `{"id":"yard","name":"yard","members":["helper"]}`, 201)
	secret := w.ask(w.ann, "POST", "/v1/sessions/default/spaces/yard/messages", `{"text":"the secret of the yard"}`, 201)
	var said struct{ ID string }
	if err := json.Unmarshal([]byte(secret), &said); err != nil {
		t.Fatal(err)
	}
	key := func(scopes string) string {
		return w.made(w.admin, "/v1/keys", `{"role":"entity","entityId":"ann","scopes":[`+scopes+`]}`).Key
	}
	reads, posts, tool, hall := key(`"read"`), key(`"post"`), key(`"tools:send_message"`), key(`"spaces:hall"`)
	chat := `{"messages":[{"id":"m1","role":"user","content":"hi","parts":[{"type":"text","text":"hi"}]}]}`
	agui := `{"threadId":"t","runId":"r","messages":[{"id":"m1","role":"user","content":"hi"}],"tools":[],"context":[],"state":{},"forwardedProps":{}}`
	openai := `{"model":"helper","messages":[{"role":"user","content":"hi"}]}`
	const session = "/v1/sessions/default"
	for _, c := range []struct {
		key, method, path, body string
		missing                 string // what the 403 names; empty for a call that succeeds
	}{
		{reads, "POST", "/ai-sdk/default/yard", chat, "post"},
		{reads, "POST", "/agui/default/yard", agui, "post"},
		{reads, "POST", "/openai/v1/chat/completions", openai, "takes a key without scopes"}, // it would create a space
		{reads, "GET", "/ai-sdk/default/yard", "", ""},
		{posts, "GET", "/ai-sdk/default/yard", "", "read"},
		{tool, "GET", "/ai-sdk/default/yard", "", "without a scope tools:"},
		{tool, "POST", "/ai-sdk/default/yard", chat, "without a scope tools:"},
		{tool, "POST", "/agui/default/yard", agui, "without a scope tools:"},
		{tool, "POST", "/openai/v1/chat/completions", openai, "without a scope tools:"},
		{tool, "GET", "/v1/me", "", "without a scope tools:"},
		{hall, "GET", "/ai-sdk/default/yard", "", "spaces:yard"},
		{hall, "POST", "/ai-sdk/default/yard", chat, "spaces:yard"},
		{hall, "POST", "/agui/default/yard", agui, "spaces:yard"},
		{hall, "POST", "/openai/v1/chat/completions", openai, "for the space"},
		{hall, "GET", session + "/spaces/yard/events", "", "spaces:yard"},
		{hall, "GET", session + "/spaces/none/events", "", "spaces:none"}, // like one that exists
		{hall, "GET", session + "/events", "", "whole session"},
		{hall, "GET", session + "/runs", "", "whole session"},
		{hall, "POST", session + "/entities/ann/wait", `{"kind":"messages","timeoutMs":0,"spaceId":"yard"}`, "spaces:yard"},
		{hall, "POST", session + "/spaces", `{"name":"more"}`, "takes a key without scopes"},
		{hall, "PUT", session + "/spaces/hall/members/helper", "", "takes a key without scopes"},
		{hall, "POST", "/v1/keys", `{"role":"entity","entityId":"ann"}`, "requires"},
		{hall, "POST", session + "/spaces/hall/messages", `{"text":"hello"}`, ""},
		{hall, "GET", session + "/spaces/hall/messages", "", ""},
		{posts, "GET", session + "/events", "", "read"},
		{posts, "POST", session + "/entities/ann/wait", `{"kind":"messages","timeoutMs":0}`, "read"},
	} {
		status, _, text := w.once(c.key, c.method, c.path, c.body)
		names := strings.Contains(text, c.missing) || c.missing == "requires"
		if c.missing != "" && (status != 403 || !names) || c.missing == "" && status >= 300 {
			t.Errorf("%s %s: %d %s, want %q", c.method, c.path, status, text, c.missing)
		}
	}
	// What has an id elsewhere is like what has none.
	for _, path := range []string{session + "/messages/ID", session + "/messages/ID/versions", session + "/messages/ID/deliveries"} {
		code, _, there := w.once(hall, "GET", strings.ReplaceAll(path, "ID", said.ID), "")
		none, _, nowhere := w.once(hall, "GET", strings.ReplaceAll(path, "ID", "msg_none"), "")
		there, nowhere = requestID.ReplaceAllString(there, ""), requestID.ReplaceAllString(nowhere, "")
		if code != 404 || none != 404 || strings.ReplaceAll(there, said.ID, "msg_none") != nowhere {
			t.Errorf("%s: %d %s, and for no message %d %s", path, code, there, none, nowhere)
		}
	}
	for _, path := range []string{session + "/search?q=secret", session + "/search?q=secret+in:yard", session + "/spaces"} {
		if text := w.ask(hall, "GET", path, "", 200); strings.Contains(text, "yard") {
			t.Errorf("%s shows another space: %s", path, text)
		}
	}
	if text := w.ask(hall, "POST", session+"/entities/ann/wait", `{"kind":"messages","timeoutMs":0}`, 200); strings.Contains(text, "yard") {
		t.Errorf("a wait shows another space: %s", text)
	}
	file := w.ask(w.ann, "POST", session+"/files?name=plan", `{"secret":1}`, 201)
	var uploaded struct{ ID, URL string }
	if err := json.Unmarshal([]byte(file), &uploaded); err != nil {
		t.Fatal(err)
	}
	w.ask(w.ann, "PATCH", entitiesPath+"/bob", `{}`, 403)
	bobHall := w.made(w.admin, "/v1/keys", `{"role":"entity","entityId":"bob","scopes":["spaces:hall"]}`).Key
	w.ask(w.ann, "PUT", session+"/spaces/yard/members/bob", "", 200)
	w.ask(w.ann, "POST", session+"/spaces/yard/messages", `{"parts":[{"type":"file","name":"plan","mediaType":"application/json","url":"`+uploaded.URL+`"}]}`, 201)
	w.ask(w.bob, "GET", session+"/files/"+uploaded.ID, "", 200)
	w.ask(bobHall, "GET", session+"/files/"+uploaded.ID, "", 404)
	w.ask(bobHall, "POST", session+"/spaces/hall/messages", `{"parts":[{"type":"file","name":"plan","mediaType":"application/json","url":"`+uploaded.URL+`"}]}`, 404)
	if me := w.ask(hall, "GET", "/v1/me", "", 200); !strings.Contains(me, `"scopes":["spaces:hall"]`) {
		t.Errorf("the key does not know its scopes: %s", me)
	}
	w.ask(w.admin, "POST", "/v1/keys", `{"role":"admin","scopes":["read"]}`, 422)
	w.ask(w.admin, "POST", "/v1/keys", `{"role":"service","scopes":["write"]}`, 422)
}

// Nothing that a key makes lives longer than itself, and a rotated key ends when it was said to.
func TestKeysEnd(t *testing.T) {
	w := start(t)
	soon := time.Now().Add(time.Hour).UTC()
	at := func(d time.Duration) string { return soon.Add(d).Format(time.RFC3339) }
	short := w.made(w.admin, "/v1/keys", `{"role":"admin","expiresAt":"`+at(0)+`"}`)
	for body, status := range map[string]int{
		`{"role":"service"}`: 403,
		`{"role":"admin"}`:   403,
		`{"role":"entity","entityId":"eve","expiresAt":"` + at(time.Minute) + `"}`:  403,
		`{"role":"service","expiresAt":"` + at(0) + `","renewForMs":7776000000}`:    403,
		`{"role":"service","renewForMs":7776000000}`:                                403,
		`{"role":"entity","entityId":"eve","expiresAt":"` + at(-time.Minute) + `"}`: 201,
		`{"role":"service","expiresAt":"` + at(-time.Minute) + `","renewForMs":1}`:  422,
		`{"role":"service","expiresAt":"` + at(-2*time.Hour) + `"}`:                 422,
		`{"role":"service","name":"same end","expiresAt":"` + at(0) + `"}`:          201,
	} {
		if text := w.ask(short.Key, "POST", "/v1/keys", body, status); status == 403 && !strings.Contains(text, "Your key expires at") {
			t.Errorf("%s: %s", body, text)
		}
	}
	w.ask(short.Key, "POST", "/v1/keys/"+short.ID+"/rotate", `{}`, 403) // it would live longer
	endless := w.made(w.admin, "/v1/keys", `{"role":"service","name":"endless"}`)
	w.ask(short.Key, "POST", "/v1/keys/"+endless.ID+"/rotate", `{}`, 403)
	w.ask(short.Key, "POST", invitesPath, `{"expiresAt":"`+at(time.Minute)+`"}`, 403)
	if made := w.made(short.Key, invitesPath, `{}`); made.ExpiresAt > at(time.Second) {
		t.Errorf("the invitation of a key that ends at %s ends at %s", at(0), made.ExpiresAt)
	}

	// An invitation ends with the key that made it.
	owner := w.made(w.admin, "/v1/keys", `{"role":"entity","entityId":"chief","kind":"human"}`)
	w.ask(w.admin, "PATCH", entitiesPath+"/chief", `{"sessionRole":"owner"}`, 200)
	kept, gone := w.inviteBy(w.admin, `{}`), w.inviteBy(owner.Key, `{}`)
	w.ask(w.admin, "DELETE", "/v1/keys/"+owner.ID, "", 204)
	if status, text := w.join(newBrowser(t), gone.code, "Mallory"); status != 401 {
		t.Errorf("the invitation of a revoked key: %d %s", status, text)
	}
	if status, text := w.join(newBrowser(t), kept.code, "Maria"); status >= 300 {
		t.Errorf("the invitation of another key: %d %s", status, text)
	}

	// Rotation: both keys work, with the same scopes, until the overlap has passed.
	old := w.made(w.admin, "/v1/keys", `{"role":"entity","entityId":"ann","name":"laptop","scopes":["read","spaces:hall"],"renewForMs":7776000000}`)
	next := w.made(w.admin, "/v1/keys/"+old.ID+"/rotate", `{"overlapMs":3600000}`)
	for _, secret := range []string{old.Key, next.Key} {
		w.ask(secret, "GET", "/v1/sessions/default/spaces/hall", "", 200)
		w.ask(secret, "POST", "/v1/sessions/default/spaces/hall/messages", `{"text":"x"}`, 403)
	}
	list := w.ask(w.admin, "GET", "/v1/keys?limit=200", "", 200)
	var keys struct{ Items []made }
	if err := json.Unmarshal([]byte(list), &keys); err != nil {
		t.Fatal(err)
	}
	for _, k := range keys.Items {
		if k.ID == old.ID && (k.ReplacedBy != next.ID || k.ExpiresAt > time.Now().Add(time.Hour+time.Minute).UTC().Format(time.RFC3339)) {
			t.Errorf("the old key: %+v", k)
		}
		if k.ID == next.ID && (k.ReplacedBy != "" || k.ExpiresAt < time.Now().Add(89*24*time.Hour).UTC().Format(time.RFC3339)) {
			t.Errorf("the new key: %+v", k)
		}
	}
	w.ask(w.admin, "POST", "/v1/keys/"+old.ID+"/rotate", `{}`, 409) // it was rotated before
	w.ask(old.Key, "POST", "/v1/keys/"+old.ID+"/rotate", `{}`, 403) // a key does not rotate itself
	closed := w.follow(next.Key, "/v1/sessions/default/spaces/hall/events")
	last := w.made(w.admin, "/v1/keys/"+next.ID+"/rotate", `{"overlapMs":0}`)
	w.ask(next.Key, "GET", "/v1/me", "", 401)
	w.ask(last.Key, "GET", "/v1/me", "", 200)
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		t.Error("the stream of a key that was rotated without overlap is open")
	}
	if text := w.ask(w.admin, "GET", "/v1/sessions/default/audit?act=key.rotate", "", 200); strings.Count(text, `"key.rotate"`) != 2 || !strings.Contains(text, last.ID) {
		t.Errorf("the audit log: %s", text)
	}
}

// follow opens a stream, and returns a channel that is closed when it has ended.
func (w *world) follow(key, path string) (closed <-chan struct{}) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.url+path, nil)
	if err != nil {
		w.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	res, err := w.calm.Do(r) //nolint:bodyclose // the goroutine below closes it
	if err != nil {
		w.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		w.Fatal(res)
	}
	done := make(chan struct{})
	go func() {
		defer func() { _ = res.Body.Close(); close(done) }()
		buffer := make([]byte, 4096)
		for {
			if _, err := res.Body.Read(buffer); err != nil {
				return
			}
		}
	}()
	return done
}
