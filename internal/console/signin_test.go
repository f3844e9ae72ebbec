package console_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
)

const noLongerWorks = "This link does not work any more"

// A link signs one browser in, once, as an admin with a key of its own.
func TestLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, false)
		link := w.console.Link("http://" + here)
		if !strings.HasPrefix(link.URL, "http://"+here+"/#login=") || len(link.URL) < 60 || !link.ExpiresAt.Equal(time.Now().Add(10*time.Minute)) {
			t.Errorf("the link is %+v", link)
		}
		b := w.browser()
		code := w.code()
		in := b.does("POST", "/console/login", `{"code": "`+code+`"}`).wants(200, `"role":"admin"`)
		if got := in.header["Set-Cookie"]; len(got) != 1 || !strings.Contains(got[0], "HttpOnly; SameSite=Strict") || !strings.HasPrefix(got[0], "shoal-7462=") {
			t.Errorf("the response sets the cookies %q", got)
		}
		if b.is() != "admin " {
			t.Errorf("the browser is %s", b.is())
		}
		thief := w.browser()
		thief.does("POST", "/console/login", `{"code": "`+code+`"}`).wants(401, noLongerWorks)
		if thief.is() != "unauthenticated" || b.is() != "admin " {
			t.Errorf("a used link makes the second browser %s, and the first %s", thief.is(), b.is())
		}
		out := b.does("POST", "/console/logout", "").wants(204, "")
		if b.is() != "unauthenticated" || len(b.kept) != 0 || out.body != "" {
			t.Errorf("signed out, the browser is %s and keeps %v", b.is(), b.kept)
		}
	})
}

// However many browsers open a link at once, it signs one of them in.
func TestLinkSignsInOnce(t *testing.T) {
	w := newWorld(t, false)
	code := w.code()
	var browsers sync.WaitGroup
	var in atomic.Int64
	for range 8 {
		browsers.Go(func() {
			if got := w.browser().does("POST", "/console/login", `{"code": "`+code+`"}`); got.status == 200 {
				in.Add(1)
			} else {
				got.wants(401, noLongerWorks)
			}
			w.code()
		})
	}
	browsers.Wait()
	if in.Load() != 1 {
		t.Errorf("the link signs %d browsers in", in.Load())
	}
}

// Codes end after ten minutes, and the oldest when there are too many; what is no
// code is answered in the same words.
func TestCodesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, false)
		first, late := w.code(), w.code()
		<-time.After(10*time.Minute - time.Millisecond)
		w.browser().does("POST", "/console/login", `{"code": "`+first+`"}`).wants(200, "admin")
		<-time.After(time.Millisecond)
		for _, code := range []string{late, "nonsense", first[:20], strings.ToLower(first)} {
			w.browser().does("POST", "/console/login", `{"code": "`+code+`"}`).wants(401, noLongerWorks)
		}
		var codes []string
		for range 101 {
			codes = append(codes, w.code())
		}
		w.browser().does("POST", "/console/login", `{"code": "`+codes[0]+`"}`).wants(401, noLongerWorks)
		w.browser().does("POST", "/console/login", `{"code": "`+codes[1]+`"}`).wants(200, "admin")
		w.browser().does("POST", "/console/login", `{"code": "`+codes[100]+`"}`).wants(200, "admin")
	})
}

// A key of any role can be pasted. It stays when the browser signs out, and does
// not help once it is revoked.
func TestPastedKeys(t *testing.T) {
	w := newWorld(t, false)
	for want, n := range map[string]shoal.NewKey{
		"admin ":     {Role: shoal.RoleAdmin},
		"service ":   {Role: shoal.RoleService},
		"entity ann": {Role: shoal.RoleEntity, EntityID: "ann", Kind: shoal.Human},
	} {
		id, secret := w.createKey(n)
		b := w.browser()
		in := b.does("POST", "/console/login", `{"key": "`+secret+`"}`).wants(200, `"keyId":"`+string(id)+`"`)
		if b.is() != want {
			t.Errorf("the browser is %q, want %q", b.is(), want)
		}
		if strings.Contains(in.body, secret) {
			t.Errorf("the response reveals the key: %s", in.body)
		}
		b.does("POST", "/console/logout", "").wants(204, "")
		if b.does("POST", "/console/login", `{"key": "`+secret+`"}`).wants(200, "role"); b.is() != want {
			t.Errorf("the key of %q does not work after signing out", want)
		}
		if err := w.hub.Keys.Revoke(t.Context(), root, id); err != nil {
			t.Fatal(err)
		}
		if b.is() != "unauthenticated" {
			t.Errorf("with a revoked key the browser is %q", b.is())
		}
		b.does("POST", "/console/login", `{"key": "`+secret+`"}`).wants(401, "unknown or was revoked")
		b.does("POST", "/console/logout", "").wants(204, "")
	}
}

// What cannot be meant is refused, and signs nobody in or out.
func TestLoginRefuses(t *testing.T) {
	w := newWorld(t, false)
	_, secret := w.createKey(shoal.NewKey{Role: shoal.RoleAdmin})
	for name, c := range map[string]struct {
		body   string
		header []string
		status int
		says   string
	}{
		"nothing":           {"", nil, 422, "CODE"},
		"an empty object":   {`{}`, nil, 422, "CODE"},
		"both":              {`{"code": "a", "key": "b"}`, nil, 422, "CODE"},
		"something unknown": {`{"kye": "b"}`, nil, 422, "CODE"},
		"a list":            {`["b"]`, nil, 422, "CODE"},
		"no JSON":           {`{"key": `, nil, 400, "invalid_json"},
		"a form":            {`key=b`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "unsupported_media_type"},
		"a foreign page":    {`{"key": "` + secret + `"}`, []string{"Origin", "https://evil.example"}, 403, "forbidden"},
		"another site":      {`{"key": "` + secret + `"}`, []string{"Origin", "", "Sec-Fetch-Site", "cross-site"}, 403, "forbidden"},
		"another host":      {`{"key": "` + secret + `"}`, []string{"Origin", "null"}, 403, "forbidden"},
		"nonsense as a key": {`{"key": "` + secret[:20] + `"}`, nil, 401, "unauthenticated"},
	} {
		w.T = t
		b := w.browser()
		got := b.does("POST", "/console/login", c.body, c.header...).wants(c.status, c.says)
		if len(b.kept) != 0 || !strings.Contains(got.header.Get("Content-Type"), "application/problem+json") {
			t.Errorf("%s: the browser keeps %v, the answer is of %s", name, b.kept, got.header.Get("Content-Type"))
		}
	}
	b := w.browser()
	b.does("POST", "/console/login", `{"key": "`+secret+`"}`).wants(200, "admin")
	b.does("POST", "/console/logout", "", "Origin", "").wants(403, "not from its pages")
	b.does("POST", "/console/logout", "", "Origin", "https://evil.example").wants(403, "forbidden")
	b.does("GET", "/console/logout", "").wants(404, "somebody else's")
	if b.is() != "admin " {
		t.Errorf("the browser is %q", b.is())
	}
}

// Admins create links, with a key in the header or a sign-in; a link has the address
// at which the admin reached the server.
func TestLinksAreMadeByAdmins(t *testing.T) {
	w := newWorld(t, false)
	_, admin := w.createKey(shoal.NewKey{Role: shoal.RoleAdmin})
	_, service := w.createKey(shoal.NewKey{Role: shoal.RoleService})
	_, entity := w.createKey(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "ann"})
	b := w.browser()
	made := b.does("POST", "/console/links", "", "Authorization", "Bearer "+admin, "Origin", "").wants(201, `{"url":"http://`+here+`/#login=`)
	_, code, _ := strings.Cut(made.body, "#login=")
	code, _, _ = strings.Cut(code, `"`)
	b.does("POST", "/console/links", "", "Authorization", "Bearer "+service).wants(403, "only an admin")
	b.does("POST", "/console/links", "", "Authorization", "Bearer "+entity).wants(403, "only an admin")
	b.does("POST", "/console/links", "").wants(401, "unauthenticated")
	b.does("POST", "/console/login", `{"code": "`+code+`"}`).wants(200, "admin")
	b.does("POST", "/console/links", "").wants(201, `"expiresAt":"2`)
	b.does("POST", "/console/links", "", "Origin", "").wants(403, "not from its pages")

	proxied := w.browser()
	proxied.host = "shoal.example"
	proxied.does("POST", "/console/links", "", "Authorization", "Bearer "+admin, "Origin", "https://shoal.example").wants(201, `{"url":"https://shoal.example/#login=`)
}

// Signing out everywhere ends every browser that came by a link; a body that says
// something else ends none.
func TestLogoutEverywhere(t *testing.T) {
	w := newWorld(t, false)
	one, two := w.browser(), w.browser()
	for _, b := range []*browser{one, two} {
		b.does("POST", "/console/login", `{"code": "`+w.code()+`"}`).wants(200, `"signIn":"`)
	}
	for _, body := range []string{`{"everywhere": "yes"}`, `{"all": true}`, `[]`} {
		one.does("POST", "/console/logout", body).wants(422, "everywhere")
	}
	one.does("POST", "/console/logout", `{"everywhere": true}`, "Origin", "https://evil.example").wants(403, "forbidden")
	if one.is() != "admin " || two.is() != "admin " {
		t.Errorf("the browsers are %q and %q", one.is(), two.is())
	}
	one.does("POST", "/console/logout", `{"everywhere": true}`).wants(204, "")
	if one.is() != "unauthenticated" || two.is() != "unauthenticated" || len(one.kept) != 0 {
		t.Errorf("the browsers are %q and %q, the first keeps %v", one.is(), two.is(), one.kept)
	}
}

// Where nobody has to sign in, a link is the plain address.
func TestOpenConsole(t *testing.T) {
	w := newWorld(t, true)
	w.browser().does("POST", "/console/links", "").wants(201, `{"url":"http://`+here+`/","expiresAt":null}`)
}

// The log records every sign-in, and every failed attempt.
func TestLogTellsNoSecret(t *testing.T) {
	w := newWorld(t, false)
	id, secret := w.createKey(shoal.NewKey{Role: shoal.RoleAdmin})
	code, unused := w.code(), w.code()
	b := w.browser()
	b.does("POST", "/console/login", `{"key": "`+secret+`"}`).wants(200, "")
	b.does("POST", "/console/login", `{"code": "`+code+`"}`).wants(200, "")
	b.does("POST", "/console/login", `{"code": "`+code+`"}`).wants(401, "")
	kept, half := b.kept["shoal-7462"], b.half
	b.does("POST", "/console/logout", "").wants(204, "")
	log := w.log.String()
	if strings.Count(log, "signed in") != 2 || !strings.Contains(log, string(id)) {
		t.Errorf("the log does not say who has signed in:\n%s", log)
	}
	for _, s := range []string{secret, code, unused, kept, half} {
		if s == "" || strings.Contains(log, s) {
			t.Errorf("the log reveals %q:\n%s", s, log)
		}
	}
}
