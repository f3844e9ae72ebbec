package auth_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// openPages is open for a server that browsers reach, too: as shoal.example through
// a proxy that speaks TLS.
func openPages(t *testing.T, off bool) *door {
	t.Helper()
	return openPagesOn(t, shoaltest.OpenSQLite(t), off)
}

// openPagesOn is another start of the server with the database of an earlier one.
func openPagesOn(t *testing.T, store storage.Store, off bool) *door {
	t.Helper()
	g, err := guard.New(guard.Options{AllowHosts: []string{"shoal.example"}, AllowOrigins: []string{"https://shoal.example"}})
	if err != nil {
		t.Fatal(err)
	}
	return open(t, store, auth.Options{Off: off, Guard: g})
}

const here = "127.0.0.1:7462"

// kept is what a browser keeps of its sign-in: the cookie, and the half that a page has.
type kept struct {
	*http.Cookie
	half string
}

// visit is a request that a page makes, with headers in pairs.
func visit(method, host string, k *kept, headers ...string) *http.Request {
	r := httptest.NewRequest(method, "/v1/me", http.NoBody)
	r.Host = host
	if k != nil {
		r.AddCookie(&http.Cookie{Name: k.Name, Value: k.Value})
		r.Header.Set("X-Shoal-Sign-In", k.half)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// set returns what a call gives the browser.
func (d *door) set(call func(w http.ResponseWriter) (half string, err error)) *kept {
	d.t.Helper()
	w := httptest.NewRecorder()
	half, err := call(w)
	if err != nil {
		d.t.Fatal(err)
	}
	all := w.Result().Cookies()
	if len(all) != 1 {
		d.t.Fatalf("the response sets %d cookies: %v", len(all), all)
	}
	return &kept{all[0], half}
}

// signIn signs a browser in with a key that somebody has pasted.
func (d *door) signIn(host, secret string) *kept {
	d.t.Helper()
	return d.set(func(w http.ResponseWriter) (string, error) {
		_, half, err := d.SignIn(w, visit(http.MethodPost, host, nil), secret)
		return half, err
	})
}

// A cookie is as good as the key in it, for the pages of the server itself. What
// a foreign page makes a browser send is refused, whatever it is.
func TestCookieOfOwnPagesOnly(t *testing.T) {
	d := openPages(t, false)
	_, secret := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin})
	const own, site = "http://" + here, "Sec-Fetch-Site"
	for name, c := range map[string]struct {
		method  string
		headers []string
		kind    shoal.Kind
	}{
		"read by an old browser":              {"GET", nil, ""},
		"read by a page of its own":           {"GET", []string{site, "same-origin"}, ""},
		"head by a page of its own":           {"HEAD", []string{site, "same-origin"}, ""},
		"read by a person who typed it":       {"GET", []string{site, "none"}, ""},
		"read by another site's page":         {"GET", []string{site, "cross-site"}, shoal.Forbidden},
		"read by a link on another site":      {"GET", []string{site, "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, shoal.Forbidden},
		"read by another port's page":         {"GET", []string{site, "same-site"}, shoal.Forbidden},
		"read by a foreign origin":            {"GET", []string{"Origin", "https://evil.example"}, shoal.Forbidden},
		"write without an origin":             {"POST", nil, shoal.Forbidden},
		"write by a person who typed it":      {"POST", []string{site, "none"}, shoal.Forbidden},
		"write by its own origin":             {"POST", []string{"Origin", own}, ""},
		"write by a page of its own":          {"POST", []string{site, "same-origin"}, ""},
		"write by both":                       {"DELETE", []string{site, "same-origin", "Origin", own}, ""},
		"write by another scheme":             {"POST", []string{"Origin", "https://" + here}, shoal.Forbidden},
		"write by another port":               {"POST", []string{"Origin", "http://127.0.0.1:1"}, shoal.Forbidden},
		"write by another port's page":        {"POST", []string{site, "same-site"}, shoal.Forbidden},
		"write by a foreign origin":           {"POST", []string{"Origin", "https://evil.example"}, shoal.Forbidden},
		"write by a foreign origin that lies": {"POST", []string{"Origin", "https://evil.example", site, "same-origin"}, shoal.Forbidden},
		"write by an origin without a name":   {"POST", []string{"Origin", "null"}, shoal.Forbidden},
		"write by another site's page":        {"PUT", []string{site, "cross-site", "Origin", own}, shoal.Forbidden},
		"write by something unheard of":       {"POST", []string{site, "near", "Origin", own}, shoal.Forbidden},
		"write by an origin that is allowed":  {"POST", []string{"Origin", "https://shoal.example"}, ""},
		"the same from another port":          {"POST", []string{"Origin", "https://shoal.example", site, "same-site"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d.t = t
			_, err := d.Principal(visit(c.method, here, d.signIn(here, secret), c.headers...))
			d.wantKind(err, c.kind)
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the error reveals the key: %v", err)
			}
		})
	}
}

// The key of every role signs in; the header wins over the cookie; MCP and AG-UI
// know no cookies.
func TestCookieCarriesAnyKey(t *testing.T) {
	d := openPages(t, false)
	admin, adminSecret := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin})
	service, serviceSecret := d.createKey(shoal.NewKey{Role: shoal.RoleService})
	entity, entitySecret := d.createKey(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "ann", Kind: shoal.Human})
	for secret, want := range map[string]shoal.Principal{
		adminSecret:   {KeyID: admin.ID, Role: shoal.RoleAdmin},
		serviceSecret: {KeyID: service.ID, Role: shoal.RoleService, SessionID: shoal.DefaultSession},
		entitySecret:  {KeyID: entity.ID, Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "ann", SessionRole: shoal.SessionMember},
	} {
		cookie := d.signIn(here, secret)
		got, err := d.Principal(visit(http.MethodGet, here, cookie))
		if got.SignIn == "" || got.SignIn == got.KeyID {
			t.Errorf("the browser of a %s key has the sign-in %q", want.Role, got.SignIn)
		}
		if got.SignIn = ""; err != nil || got != want {
			t.Errorf("the cookie of a %s key says %+v, %v", want.Role, got, err)
		}
		_, _, err = d.MCP(visit(http.MethodPost, here, cookie, "Origin", "http://"+here))
		d.wantKind(err, shoal.Unauthenticated)
		_, err = d.Bearer(visit(http.MethodPost, here, cookie, "Origin", "http://"+here))
		d.wantKind(err, shoal.Unauthenticated)
	}
	cookie := d.signIn(here, adminSecret)
	if got, err := d.Principal(visit(http.MethodPost, here, cookie, "Authorization", "Bearer "+entitySecret)); err != nil || got.KeyID != entity.ID {
		t.Errorf("with a key in the header, the caller is %+v, %v", got, err)
	}
	_, err := d.Principal(visit(http.MethodGet, here, cookie, "Authorization", "Bearer nonsense"))
	d.wantKind(err, shoal.Unauthenticated)
	if got, err := d.Principal(visit(http.MethodGet, here, cookie, "X-Shoal-Entity", "ann")); err != nil || got.EntityID != "ann" {
		t.Errorf("an admin who names an actor is %+v, %v", got, err)
	}
	_, err = d.Principal(visit(http.MethodGet, here, d.signIn(here, entitySecret), "X-Shoal-Entity", "bob"))
	d.wantKind(err, shoal.IdentityMismatch)
}

// No script reads the cookie, no other site's page sends it, it lasts as long as
// its key, and two servers on one machine have two.
func TestCookieIsKeptWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openPages(t, false)
		until := shoal.At(time.Now().Add(time.Hour))
		_, short := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin, ExpiresAt: &until})
		_, endless := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin})
		for name, c := range map[string]struct {
			host, secret, cookie string
			secure               bool
			age                  time.Duration
		}{
			"on this machine":         {here, short, "shoal-7462", false, time.Hour},
			"of a key without an end": {here, endless, "shoal-7462", false, 30 * 24 * time.Hour},
			"on another port":         {"localhost:8080", short, "shoal-8080", false, time.Hour},
			"on an address of IPv6":   {"[::1]:8080", short, "shoal-8080", false, time.Hour},
			"without a port":          {"localhost", short, "shoal-80", false, time.Hour},
			"without a port, IPv6":    {"[::1]", short, "shoal-80", false, time.Hour},
			"behind TLS":              {"shoal.example", short, "__Host-shoal", true, time.Hour},
		} {
			d.t = t
			got := d.signIn(c.host, c.secret)
			if got.Name != c.cookie || got.Secure != c.secure || got.MaxAge != int(c.age/time.Second) ||
				!got.HttpOnly || got.SameSite != http.SameSiteStrictMode || got.Path != "/" || got.Domain != "" {
				t.Errorf("%s: the cookie is %v", name, got)
			}
			if _, err := d.Principal(visit(http.MethodGet, c.host, got)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			got.Name = "shoal-1"
			_, err := d.Principal(visit(http.MethodGet, c.host, got))
			d.wantKind(err, shoal.Unauthenticated)
		}
	})
}

// What does not work as a key does not sign in.
func TestSignInRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openPages(t, false)
		soon := shoal.At(time.Now().Add(time.Minute))
		_, expired := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin, ExpiresAt: &soon})
		gone, revoked := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin})
		cookie := d.signIn(here, revoked)
		d.revoke(gone.ID)
		<-time.After(time.Minute)
		for _, secret := range []string{"nonsense", expired, revoked} {
			w := httptest.NewRecorder()
			_, _, err := d.SignIn(w, visit(http.MethodPost, here, nil), secret)
			d.wantKind(err, shoal.Unauthenticated)
			if len(w.Result().Cookies()) != 0 {
				t.Error("a key that does not work becomes a cookie")
			}
		}
		_, err := d.Principal(visit(http.MethodGet, here, cookie))
		d.wantKind(err, shoal.Unauthenticated)
	})
}

// keys lists the names of all keys.
func (d *door) keys() (names []string) {
	d.t.Helper()
	all, err := d.hub.Keys.List(context.Background(), root, "", shoal.MaxPage)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, k := range all {
		names = append(names, k.Name)
	}
	return names
}

// signInAdmin signs a browser in that keeps a cookie already, or none.
func (d *door) signInAdmin(old *kept) *kept {
	d.t.Helper()
	return d.set(func(w http.ResponseWriter) (string, error) {
		_, half, err := d.SignInAdmin(w, visit(http.MethodPost, here, old, "Origin", "http://"+here))
		return half, err
	})
}

// signOut signs a browser out.
func (d *door) signOut(k *kept) *kept {
	d.t.Helper()
	return d.set(func(w http.ResponseWriter) (string, error) {
		return "", d.SignOut(w, visit(http.MethodPost, here, k, "Origin", "http://"+here))
	})
}

// The key that a sign-in makes is an admin's, ends after 30 days, when its browser
// signs out, and when it signs in so again. A key that was pasted stays.
func TestSignInMakesAKeyOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openPages(t, false)
		_, pasted := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin, Name: "pasted"})
		first := d.signInAdmin(nil)
		caller, err := d.Principal(visit(http.MethodGet, here, first))
		if err != nil || caller.Role != shoal.RoleAdmin || caller.EntityID != "" {
			t.Errorf("who has signed in is %+v, %v", caller, err)
		}
		second := d.signInAdmin(first)
		_, err = d.Principal(visit(http.MethodGet, here, first))
		d.wantKind(err, shoal.Unauthenticated)
		if got := strings.Join(d.keys(), " "); got != "pasted console" {
			t.Errorf("the keys are %s", got)
		}
		if gone := d.signOut(second); gone.MaxAge != -1 || gone.Value != "" || gone.Name != second.Name {
			t.Errorf("signing out leaves %v", gone)
		}
		if gone := d.signOut(d.signIn(here, pasted)); gone.MaxAge != -1 {
			t.Errorf("signing out leaves %v", gone)
		}
		if got := strings.Join(d.keys(), " "); got != "pasted" {
			t.Errorf("signed out, the keys are %s", got)
		}
		if gone := d.signOut(second); gone.MaxAge != -1 {
			t.Errorf("signing out twice leaves %v", gone)
		}
	})
}

// A browser that is used every day is signed out after 30 days. The server stops in between: a
// month of its timers took 25 s of CPU.
func TestSignInEndsAfterAMonth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := shoaltest.OpenSQLite(t)
		d := openPagesOn(t, store, false)
		browser, until := d.signInAdmin(nil), time.Now().Add(30*24*time.Hour)
		for time.Until(until) > 0 {
			if _, err := d.Principal(visit(http.MethodGet, here, browser)); err != nil {
				t.Fatalf("%s before its end: %v", time.Until(until), err)
			}
			<-time.After(min(time.Minute, max(time.Until(until)-time.Second, time.Second))) // its use is recorded
			d.hub.Stop()
			<-time.After(min(11*time.Hour, max(time.Until(until)-time.Second, time.Second)))
			d = openPagesOn(t, store, false)
		}
		_, err := d.Principal(visit(http.MethodGet, here, browser))
		d.wantKind(err, shoal.Unauthenticated)
	})
}

// A browser that nobody uses for 12 hours is signed out, and stays so, also one that
// somebody has signed in with a key; the key goes on working.
func TestSignInEndsWithoutUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openPages(t, false)
		_, pasted := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin})
		never, used, other := d.signInAdmin(nil), d.signInAdmin(nil), d.signIn(here, pasted)
		<-time.After(12*time.Hour - time.Minute)
		if _, err := d.Principal(visit(http.MethodGet, here, used)); err != nil {
			t.Errorf("after less than 12 hours: %v", err)
		}
		<-time.After(time.Minute + time.Second)
		for range 2 {
			_, err := d.Principal(visit(http.MethodGet, here, never))
			d.wantKind(err, shoal.Unauthenticated)
		}
		if _, err := d.Principal(visit(http.MethodGet, here, used)); err != nil {
			t.Errorf("a minute after its last use: %v", err)
		}
		<-time.After(12*time.Hour + 2*time.Minute)
		_, err := d.Principal(visit(http.MethodGet, here, used))
		d.wantKind(err, shoal.Unauthenticated)
		_, err = d.Principal(visit(http.MethodGet, here, other))
		d.wantKind(err, shoal.Unauthenticated)
		if _, err := d.Principal(visit(http.MethodGet, here, nil, "Authorization", "Bearer "+pasted)); err != nil {
			t.Errorf("the pasted key: %v", err)
		}
	})
}

// The cookie of a sign-in by link does not work as a key: a program that obtains
// the cookie, such as a server on another port of the host, cannot send it as
// Bearer over any transport.
func TestSignInIsNoBearerKey(t *testing.T) {
	d := openPages(t, false)
	k := d.signInAdmin(nil)
	bearer := visit(http.MethodGet, here, nil, "Authorization", "Bearer "+k.Value, "Origin", "http://"+here)
	_, err := d.Principal(bearer)
	d.wantKind(err, shoal.Unauthenticated)
	_, err = d.Bearer(bearer)
	d.wantKind(err, shoal.Unauthenticated)
	_, _, err = d.MCP(bearer)
	d.wantKind(err, shoal.Unauthenticated)
	w := httptest.NewRecorder()
	_, _, err = d.SignIn(w, visit(http.MethodPost, here, nil), k.Value)
	d.wantKind(err, shoal.Unauthenticated)
	if len(w.Result().Cookies()) != 0 {
		t.Error("the cookie of one browser signs in another one")
	}
	if _, err := d.Principal(visit(http.MethodGet, here, k)); err != nil {
		t.Errorf("in its cookie it works no more: %v", err)
	}
}

// No key is in the cookie of a browser that somebody has signed in with a key: what is
// there works nowhere else, and names one key only. A cookie with the key itself, as
// earlier versions left it, is refused.
func TestPastedKeyIsNotInTheCookie(t *testing.T) {
	d := openPages(t, false)
	key, pasted := d.createKey(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "ann", Kind: shoal.Human})
	_, admin := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin})
	k := d.signIn(here, pasted)
	if strings.Contains(k.Value, pasted) {
		t.Fatal("the key is in the cookie")
	}
	bearer := visit(http.MethodGet, here, nil, "Authorization", "Bearer "+k.Value, "Origin", "http://"+here)
	_, err := d.Principal(bearer)
	d.wantKind(err, shoal.Unauthenticated)
	_, err = d.Bearer(bearer)
	d.wantKind(err, shoal.Unauthenticated)
	_, _, err = d.MCP(bearer)
	d.wantKind(err, shoal.Unauthenticated)
	_, _, err = d.SignIn(httptest.NewRecorder(), visit(http.MethodPost, here, nil), k.Value)
	d.wantKind(err, shoal.Unauthenticated)

	own, _, _ := strings.Cut(k.Value, ".")
	for _, forged := range []string{pasted, admin, own, own + ".", own + "." + auth.Hash(admin), "shoal-console_." + auth.Hash(admin), "shoal-console_" + admin} {
		_, err := d.Principal(visit(http.MethodGet, here, &kept{&http.Cookie{Name: k.Name, Value: forged}, k.half}))
		d.wantKind(err, shoal.Unauthenticated)
	}
	if caller, err := d.Principal(visit(http.MethodGet, here, k)); err != nil || caller.KeyID != key.ID || caller.EntityID != "ann" {
		t.Errorf("the browser is %+v, %v", caller, err)
	}
	d.signOut(k)
	_, err = d.Principal(visit(http.MethodGet, here, k))
	d.wantKind(err, shoal.Unauthenticated)
	again := d.signIn(here, pasted)
	d.revoke(key.ID)
	_, err = d.Principal(visit(http.MethodGet, here, again))
	d.wantKind(err, shoal.Unauthenticated)
}

// Each sign-in is stored, so one key signs in a hundred browsers at once and then one a
// minute; the key itself goes on working, and other keys sign in.
func TestSignInsOfAKeyAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openPages(t, false)
		_, pasted := d.createKey(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "ann", Kind: shoal.Human})
		_, other := d.createKey(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "bob", Kind: shoal.Human})
		var last *kept
		for range 100 {
			last = d.signIn(here, pasted)
		}
		w := httptest.NewRecorder()
		_, _, err := d.SignIn(w, visit(http.MethodPost, here, last, "Origin", "http://"+here), pasted)
		d.wantKind(err, shoal.RateLimited)
		if len(w.Result().Cookies()) != 0 {
			t.Error("who is refused gets a cookie")
		}
		if _, err := d.Principal(visit(http.MethodGet, here, last)); err != nil {
			t.Errorf("who is refused is signed out: %v", err)
		}
		d.signIn(here, other)
		<-time.After(time.Minute)
		d.signIn(here, pasted)
	})
}

// Nobody is signed out by a foreign page, and without a cookie there is nothing to
// do.
func TestSignOutOfOwnPagesOnly(t *testing.T) {
	d := openPages(t, false)
	k := d.signInAdmin(nil)
	for _, headers := range [][]string{nil, {"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}} {
		w := httptest.NewRecorder()
		d.wantKind(d.SignOut(w, visit(http.MethodPost, here, k, headers...)), shoal.Forbidden)
		if len(w.Result().Cookies()) != 0 {
			t.Error("a foreign page signs somebody out")
		}
	}
	if _, err := d.Principal(visit(http.MethodGet, here, k)); err != nil {
		t.Error(err)
	}
	w := httptest.NewRecorder()
	if err := d.SignOut(w, visit(http.MethodPost, here, nil)); err != nil || len(w.Result().Cookies()) != 0 {
		t.Errorf("without a cookie: %v, %v", err, w.Result().Cookies())
	}
}

// If the server requires no keys, an old cookie has no effect.
func TestCookieWithOff(t *testing.T) {
	d := openPages(t, true)
	old := &kept{&http.Cookie{Name: "shoal-7462", Value: auth.NewSecret()}, ""}
	if caller, err := d.Principal(visit(http.MethodPost, here, old)); err != nil || !caller.Admin() {
		t.Errorf("%+v, %v", caller, err)
	}
}

// The cookie alone, which every port of the host receives, does not sign in, even with forged
// headers of a page; neither does the page's half alone, nor the half of another sign-in.
func TestBothHalvesMakeTheSignIn(t *testing.T) {
	d := openPages(t, false)
	_, pasted := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin})
	first, second := d.signInAdmin(nil), d.signIn(here, pasted)
	for name, k := range map[string]*kept{
		"no half":                 {first.Cookie, ""},
		"no half, pasted":         {second.Cookie, ""},
		"another half":            {first.Cookie, second.half},
		"another half, pasted":    {second.Cookie, first.half},
		"a part of it":            {first.Cookie, first.half[:20]},
		"the cookie as the half":  {first.Cookie, first.Value},
		"the half as the cookie":  {&http.Cookie{Name: first.Name, Value: first.half}, first.half},
		"both in the cookie":      {&http.Cookie{Name: first.Name, Value: first.Value + " " + first.half}, ""},
		"a space and both halves": {&http.Cookie{Name: first.Name, Value: first.Value + " " + first.half}, first.half},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			_, err := d.Principal(visit(method, here, k, "Origin", "http://"+here, "Sec-Fetch-Site", "same-origin"))
			if shoal.KindOf(err) != shoal.Unauthenticated {
				t.Errorf("%s, %s: %v", name, method, err)
			}
		}
	}
	bearer := visit(http.MethodGet, here, nil, "Authorization", "Bearer "+first.half)
	_, err := d.Bearer(bearer)
	d.wantKind(err, shoal.Unauthenticated)
	bearer.Header.Set("Authorization", "Bearer "+first.Value+" "+first.half)
	_, err = d.Bearer(bearer)
	d.wantKind(err, shoal.Unauthenticated)
	for _, k := range []*kept{first, second} {
		if _, err := d.Principal(visit(http.MethodGet, here, k)); err != nil {
			t.Error(err)
		}
	}
	if gone := d.signOut(&kept{first.Cookie, ""}); gone.MaxAge != -1 {
		t.Errorf("who has only the cookie is left with %v", gone)
	}
	if _, err := d.Principal(visit(http.MethodGet, here, first)); err != nil {
		t.Errorf("the cookie alone has ended the sign-in: %v", err)
	}
}

// Signing out everywhere ends every browser of the same key, or those by link, and no
// others; keys go on working.
func TestSignOutEverywhere(t *testing.T) {
	d := openPages(t, false)
	_, mine := d.createKey(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "ann", Kind: shoal.Human, Name: "mine"})
	_, other := d.createKey(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "ann", Name: "other"})
	one, two, others, link, links := d.signIn(here, mine), d.signIn(here, mine), d.signIn(here, other), d.signInAdmin(nil), d.signInAdmin(nil)
	works := func(want bool, all ...*kept) {
		t.Helper()
		for i, k := range all {
			if _, err := d.Principal(visit(http.MethodGet, here, k)); (err == nil) != want {
				t.Errorf("sign-in %d: %v", i+1, err)
			}
		}
	}
	everywhere := func(k *kept) {
		t.Helper()
		gone := d.set(func(w http.ResponseWriter) (string, error) {
			return "", d.SignOutEverywhere(w, visit(http.MethodPost, here, k, "Origin", "http://"+here))
		})
		if gone.MaxAge != -1 {
			t.Errorf("the browser is left with %v", gone)
		}
	}
	everywhere(one)
	works(false, one, two)
	works(true, others, link, links)
	everywhere(&kept{link.Cookie, two.half})
	works(true, others, link, links)
	everywhere(links)
	works(false, link, links)
	works(true, others)
	if got := strings.Join(d.keys(), " "); got != "mine other console" {
		t.Errorf("the keys are %s", got)
	}
}

// A sign-in that nobody can use any more leaves the list of keys when somebody signs in.
func TestEndedSignInsAreSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openPages(t, false)
		_, pasted := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin, Name: "console"})
		d.signIn(here, pasted)
		<-time.After(12 * time.Hour)
		d.signInAdmin(nil)
		if got := strings.Join(d.keys(), " "); got != "console console" {
			t.Errorf("after 12 hours the keys are %s", got)
		}
		if _, err := d.Principal(visit(http.MethodGet, here, nil, "Authorization", "Bearer "+pasted)); err != nil {
			t.Errorf("the key that is called as sign-ins are: %v", err)
		}
	})
}

// A signed URL reads one path as the caller that requested it, for five minutes, and gives
// access to nothing else.
func TestSignedURLs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openPages(t, false)
		key, secret := d.createKey(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "ann", Kind: shoal.Human})
		_, admin := d.createKey(shoal.NewKey{Role: shoal.RoleAdmin})
		const path = "/v1/sessions/default/files/fil_1"
		read := func(method, url string, headers ...string) (shoal.Principal, error) {
			r := httptest.NewRequest(method, url, http.NoBody)
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			return d.Principal(r)
		}
		sign := func(k *kept, headers ...string) string {
			caller, err := d.Principal(visit(http.MethodGet, here, k, headers...))
			if err != nil {
				t.Fatal(err)
			}
			made, err := d.Sign(t.Context(), caller, path)
			if err != nil || made.ExpiresAt == nil || !made.ExpiresAt.Equal(time.Now().Add(5*time.Minute)) || !strings.HasPrefix(made.URL, path+"?signed=") {
				t.Fatalf("signed: %+v, %v", made, err)
			}
			return made.URL
		}
		url, acting := sign(d.signIn(here, secret)), sign(d.signInAdmin(nil), "X-Shoal-Entity", "a.b_c-d")
		own := sign(nil, "Authorization", "Bearer "+secret)
		for _, u := range []string{url, own} {
			if caller, err := read("GET", u); err != nil || caller.EntityID != "ann" || caller.Role != shoal.RoleEntity || strings.Contains(u, secret) {
				t.Errorf("%s is read as %+v, %v", u, caller, err)
			}
		}
		if caller, err := read("HEAD", acting); err != nil || caller.EntityID != "a.b_c-d" || !caller.Admin() {
			t.Errorf("the admin's is read as %+v, %v", caller, err)
		}
		base, signature, _ := strings.Cut(url, "?signed=")
		parts := strings.Split(signature, ".")
		for name, u := range map[string]string{
			"another file":       base + "2?signed=" + signature,
			"another entity":     strings.TrimSuffix(url, "ann") + "bob",
			"no entity":          strings.TrimSuffix(url, "ann"),
			"a longer life":      base + "?signed=" + parts[0] + ".9999999999999." + parts[2] + ".ann",
			"another key":        base + "?signed=" + strings.Split(strings.SplitN(acting, "=", 2)[1], ".")[0] + "." + strings.Join(parts[1:], "."),
			"no signature":       base + "?signed=" + parts[0] + "." + parts[1] + "..ann",
			"nothing":            base + "?signed=",
			"not a signature":    base + "?signed=%00.1.2.3",
			"too few parts":      base + "?signed=" + parts[0],
			"no time":            base + "?signed=" + parts[0] + ".soon." + parts[2] + ".ann",
			"two, the wrong one": base + "?signed=x&signed=" + signature,
		} {
			if _, err := read("GET", u); shoal.KindOf(err) != shoal.Unauthenticated {
				t.Errorf("%s: %v", name, err)
			}
		}
		_, err := read("POST", url)
		d.wantKind(err, shoal.Unauthenticated)
		_, err = read("GET", url, "Authorization", "Bearer nonsense")
		d.wantKind(err, shoal.Unauthenticated)
		if caller, err := read("GET", url, "Authorization", "Bearer "+admin); err != nil || !caller.Admin() {
			t.Errorf("with a key in the header it is read as %+v, %v", caller, err)
		}
		<-time.After(5*time.Minute - time.Millisecond)
		if _, err := read("GET", url); err != nil {
			t.Errorf("before its end: %v", err)
		}
		<-time.After(time.Millisecond)
		_, err = read("GET", url)
		d.wantKind(err, shoal.Unauthenticated)
		late := sign(nil, "Authorization", "Bearer "+secret)
		d.revoke(key.ID)
		_, err = read("GET", late)
		d.wantKind(err, shoal.Unauthenticated)
	})
}
