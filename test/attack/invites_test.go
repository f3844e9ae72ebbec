package attack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const invitesPath = "/v1/sessions/default/invites"

// invited is an invitation as its creator gets it.
type invited struct {
	ID, URL string
	code    string
}

// invite creates an invitation with the admin key.
func (w *world) invite(body string) invited {
	w.Helper()
	return w.inviteBy(w.admin, body)
}

// inviteBy creates an invitation.
func (w *world) inviteBy(key, body string) (made invited) {
	w.Helper()
	if err := json.Unmarshal([]byte(w.ask(key, "POST", invitesPath, body, 201)), &made); err != nil {
		w.Fatal(err)
	}
	_, made.code, _ = strings.Cut(made.URL, "#invite=")
	if len(made.code) < 20 {
		w.Fatalf("the invitation is %+v", made)
	}
	return made
}

// join opens an invitation in a browser and returns the status and the text of the response.
func (w *world) join(browser *http.Client, code, name string) (int, string) {
	w.Helper()
	body, err := json.Marshal(map[string]string{"code": code, "name": name})
	if err != nil {
		w.Fatal(err)
	}
	status, text, err := w.send(w.Context(), browser, body)
	if err != nil {
		w.Fatal(err)
	}
	return status, text
}

// send posts a body to where invitations are accepted, as the page of the server does.
func (w *world) send(ctx context.Context, browser *http.Client, body []byte) (int, string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/console/join", bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Origin": {w.url}, "Sec-Fetch-Site": {"same-origin"}}
	res, err := browser.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	var text bytes.Buffer
	_, err = text.ReadFrom(res.Body)
	return res.StatusCode, text.String(), err
}

func newBrowser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
}

// guesses tries codes of invitations without end.
func guesses(w *world, ctx context.Context) func() {
	var answered atomic.Int64
	stop := many(4, func(int) {
		for n := 0; ctx.Err() == nil; n++ {
			// The answers are checked in TestGuessedInvitations.
			if _, _, err := w.send(ctx, w.crowd, fmt.Appendf(nil, `{"code":"%043d","name":"Mallory"}`, n)); err == nil {
				answered.Add(1)
			}
		}
	})
	began := time.Now()
	return func() {
		stop()
		w.Logf("%.0f guesses a second", float64(answered.Load())/time.Since(began).Seconds())
	}
}

// Guesses are refused, soon with 429, create nobody, and keep no person with a valid invitation
// out, from the same address.
func TestGuessedInvitations(t *testing.T) {
	w := start(t)
	made := w.invite(`{"name":"Cleo"}`)
	near := made.code[:len(made.code)-1]
	for _, code := range []string{near, near + "-", strings.ToLower(made.code), made.code + " ", made.ID, "*", "%", "' OR 1=1 --", strings.Repeat("A", 200)} {
		if status, text := w.join(newBrowser(t), code, "Mallory"); status != 401 && status != 422 {
			t.Errorf("the code %q: %d %s", code, status, text)
		}
	}
	limited := 0
	browser := newBrowser(t)
	for n := 0; n < 3000 && limited == 0; n++ {
		switch status, text := w.join(browser, fmt.Sprintf("%043d", n), "Mallory"); status {
		case 401:
		case 429:
			limited = n
			if !strings.Contains(text, "This invitation does not work any more") || !strings.Contains(text, "try again in a moment") {
				t.Errorf("too many guesses get %s", text)
			}
		default:
			t.Fatalf("guess %d gets %d %s", n, status, text)
		}
	}
	if limited == 0 {
		t.Error("3,000 guesses were not limited")
	}
	t.Logf("limited after %d guesses", limited)
	if status, text := w.join(newBrowser(t), made.code, "Cleo"); status != 201 {
		t.Errorf("the person with the invitation gets %d %s", status, text)
	}
	if people := w.ask(w.admin, "GET", "/v1/sessions/default/entities?limit=200", "", 200); strings.Contains(people, "mallory") || !strings.Contains(people, `"id":"cleo"`) {
		t.Errorf("there are %s", people)
	}
}

// An invitation is of no use after it expired, after it was withdrawn and after its session was
// closed or deleted. Without its space it still leads into the session, and to nothing of the space.
func TestEndedInvitations(t *testing.T) {
	w := start(t)
	refused := func(why, code string) {
		t.Helper()
		if status, text := w.join(newBrowser(t), code, "Mallory"); status != 401 || !strings.Contains(text, "This invitation does not work any more") {
			t.Errorf("%s: %d %s", why, status, text)
		}
	}
	until := time.Now().Add(time.Second)
	short := w.invite(`{"expiresAt":"` + until.UTC().Format("2006-01-02T15:04:05.000Z") + `"}`)
	withdrawn := w.invite("")
	w.ask(w.admin, "DELETE", invitesPath+"/"+withdrawn.ID, "", 204)
	refused("withdrawn", withdrawn.code)

	w.ask(w.ann, "POST", "/v1/sessions/default/spaces", `{"id":"secret","name":"secret"}`, 201)
	roomless := w.invite(`{"spaces":["secret","hall"]}`)
	w.ask(w.admin, "DELETE", "/v1/sessions/default/spaces/secret", "", 204)
	if status, text := w.join(newBrowser(t), roomless.code, "Dora"); status != 201 || !strings.Contains(text, `"dora"`) {
		t.Errorf("without its space: %d %s", status, text)
	}
	if hall := w.ask(w.ann, "GET", "/v1/sessions/default/spaces/hall/members", "", 200); !strings.Contains(hall, `"dora"`) {
		t.Errorf("the members of the other space are %s", hall)
	}
	refused("used", roomless.code)

	for id, end := range map[string]func(path string){
		"closed":  func(path string) { w.ask(w.admin, "POST", path+"/close", "", 200) },
		"deleted": func(path string) { w.ask(w.admin, "DELETE", path, "", 204) },
	} {
		path := "/v1/sessions/" + id
		w.ask(w.admin, "POST", "/v1/sessions", `{"id":"`+id+`"}`, 201)
		var made invited
		if err := json.Unmarshal([]byte(w.ask(w.admin, "POST", path+"/invites", "", 201)), &made); err != nil {
			t.Fatal(err)
		}
		_, code, _ := strings.Cut(made.URL, "#invite=")
		end(path)
		if status, text := w.join(newBrowser(t), code, "Mallory"); status < 400 || status >= 500 {
			t.Errorf("into a session that is %s: %d %s", id, status, text)
		}
	}
	<-time.After(time.Until(until) + 10*time.Millisecond)
	refused("expired", short.code)
}

// Of many browsers that open one invitation at the same moment one gets in, also over the edge of
// its withdrawal: afterwards there is one person for each success.
func TestRacesForInvitations(t *testing.T) {
	w := start(t)
	entered := 0
	for round := range 8 {
		made := w.invite("")
		var in atomic.Int64
		var browsers sync.WaitGroup
		gate := make(chan struct{})
		for n := range 16 {
			browsers.Go(func() {
				<-gate
				if n == 15 && round%2 == 1 {
					status, _, _ := w.once(w.admin, "DELETE", invitesPath+"/"+made.ID, "")
					if status != 204 && status != 404 {
						t.Errorf("the withdrawal gets %d", status)
					}
					return
				}
				status, text, err := w.send(t.Context(), newBrowser(t), fmt.Appendf(nil, `{"code":%q,"name":"Racer %d"}`, made.code, round))
				switch {
				case err != nil:
					t.Error(err)
				case status == 201:
					in.Add(1)
				case status != 401 && status != 429:
					t.Errorf("a browser gets %d %s", status, text)
				}
			})
		}
		close(gate)
		browsers.Wait()
		if n := in.Load(); n > 1 || n == 0 && round%2 == 0 {
			t.Errorf("round %d: %d browsers are in", round, n)
		}
		entered += int(in.Load())
	}
	if people := strings.Count(w.ask(w.admin, "GET", "/v1/sessions/default/entities?limit=200", "", 200), `"id":"racer-`); people != entered {
		t.Errorf("%d people for %d browsers that are in", people, entered)
	}
}

// A person who joined has the rights of the invitation's role, and no way to more: not over the
// API, not by another invitation, and not by fields that the page never sends.
func TestInvitedPeopleStayInTheirRole(t *testing.T) {
	w := start(t)
	w.ask(w.admin, "POST", "/v1/sessions", `{"id":"other"}`, 201)
	w.ask(w.admin, "POST", "/v1/sessions/other/spaces", `{"id":"vault","name":"vault"}`, 201)
	w.ask(w.admin, "POST", invitesPath, `{"spaces":["vault"]}`, 404) // a space of another session
	w.ask(w.admin, "POST", invitesPath, `{"spaces":["other/vault"]}`, 422)
	for _, role := range []string{"member", "guest", "auditor", "admin"} {
		made := w.invite(`{"sessionRole":"` + role + `"}`)
		body, err := json.Marshal(map[string]string{"code": made.code, "name": "Mallory", "sessionRole": "owner", "entityId": "ann"})
		if err != nil {
			t.Fatal(err)
		}
		if status, text, err := w.send(t.Context(), newBrowser(t), body); err != nil || status != 422 {
			t.Errorf("unknown fields: %d %s %v", status, text, err)
		}
		status, text := w.join(newBrowser(t), made.code, "New "+role)
		var in struct{ Key, EntityID string }
		if err := json.Unmarshal([]byte(text), &in); err != nil || status != 201 || in.Key == "" {
			t.Fatalf("%d %s %v", status, text, err)
		}
		as := func(status int, others ...any) int {
			for n := 0; n < len(others); n += 2 {
				if others[n] == role {
					status, _ = others[n+1].(int)
				}
			}
			return status
		}
		for _, c := range []struct {
			method, path, body string
			status             int
		}{
			{"POST", invitesPath, `{"sessionRole":"owner"}`, 403},
			{"GET", invitesPath, "", as(403, "admin", 200, "auditor", 200)},
			{"DELETE", invitesPath + "/" + made.ID, "", as(403, "admin", 404)},
			{"POST", "/v1/keys", `{"role":"admin"}`, 403},
			{"POST", "/v1/keys", `{"role":"entity","sessionId":"default","entityId":"ann"}`, 403},
			{"GET", "/v1/keys", "", as(403, "auditor", 200)},
			{"POST", "/v1/sessions", `{"id":"mine"}`, 403},
			{"PATCH", "/v1/sessions/default", `{"spaceRights":"members"}`, 403},
			{"PATCH", "/v1/sessions/default", `{"retention":{"messagesForMs":3600000}}`, 403},
			{"PATCH", "/v1/sessions/other", `{"retention":{"messagesForMs":3600000}}`, 404},
			{"GET", "/v1/sessions/default/export", "", 403},
			{"GET", "/v1/sessions/default/usage", "", as(403, "auditor", 200)},
			{"PATCH", "/v1/sessions/default/entities/" + in.EntityID, `{"sessionRole":"owner"}`, 403},
			{"PATCH", "/v1/sessions/default/entities/ann", `{"name":"Not Ann"}`, as(403, "guest", 404)},
			{"GET", "/v1/sessions/default/spaces/hall/messages", "", as(404, "auditor", 200)},
			{"GET", "/v1/sessions/other/spaces", "", 404},
			{"GET", "/v1/sessions/other/invites", "", 404},
			{"GET", "/metrics", "", 403},
			{"GET", "/v1/me", "", 200},
		} {
			w.ask(in.Key, c.method, c.path, c.body, c.status)
		}
	}
}

// Names that are too long or deceive are refused, with the invitation still good; a name of
// somebody who is there makes another participant with another id.
func TestNamesOfInvitedPeople(t *testing.T) {
	w := start(t)
	w.ask(w.ann, "PATCH", "/v1/sessions/default/entities/ann", `{"name":"Ann Lee"}`, 200)
	made := w.invite("")
	for _, name := range []string{
		"", "   ", strings.Repeat("n", 300), strings.Repeat("ü", 300), "Ann\u202eeeL", "Ann\u2066Lee\u2069", "Ann\u200bLee", "a\nb", "a\x00b", "a\x1b[31mb",
		"system", "Ѕystem", "operator", "everyone", "Shoal", "Ann (@ann)",
	} {
		if status, text := w.join(newBrowser(t), made.code, name); status != 422 || !strings.Contains(text, "name") {
			t.Errorf("the name %q: %d %s", name, status, text)
		}
	}
	huge := fmt.Appendf(nil, `{"code":%q,"name":%q}`, made.code, strings.Repeat("n", 8<<20))
	if status, text, err := w.send(t.Context(), newBrowser(t), huge); err == nil && status != 413 && status != 422 {
		t.Errorf("a name of 8 MiB: %d %.200s", status, text)
	}
	status, text := w.join(newBrowser(t), made.code, "Ann Lee")
	if status != 201 || !strings.Contains(text, `"entityId":"ann-lee"`) {
		t.Errorf("a second Ann Lee: %d %s", status, text)
	}
	for name, body := range map[string]string{
		"a note that turns around": `{"name":"Ann\u202eeeL"}`, "a note too long": `{"name":"` + strings.Repeat("n", 300) + `"}`,
		"too many spaces": `{"spaces":["hall"` + strings.Repeat(`,"hall"`, 100) + `]}`, "an unknown role": `{"sessionRole":"root"}`,
		"an end too late": `{"expiresAt":"2999-01-01T00:00:00Z"}`, "an end in the past": `{"expiresAt":"2001-01-01T00:00:00Z"}`,
	} {
		if status, _, text := w.once(w.admin, "POST", invitesPath, body); status != 422 {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}
