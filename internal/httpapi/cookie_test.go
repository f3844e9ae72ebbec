package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

// page are the headers that a page sends where somebody has signed in with a key: the
// cookie first, then the half that the page keeps.
func (w *world) page(secret string, more ...string) []string {
	w.Helper()
	in := httptest.NewRecorder()
	_, half, err := w.auth.SignIn(in, httptest.NewRequestWithContext(w.Context(), http.MethodPost, w.server.URL+"/console/login", http.NoBody), secret)
	w.must(err)
	kept := in.Result().Cookies()[0]
	return append([]string{"Cookie", kept.Name + "=" + kept.Value, "X-Shoal-Sign-In", half}, more...)
}

// A browser that has signed in calls as with its key, from the server's own pages.
func TestCallsByCookie(t *testing.T) {
	w, ann, _ := conversation(t)
	admin, messages, own := w.page(w.admin), base+"/spaces/shop/messages", w.server.URL
	as := func(secret string, headers ...string) []string { return w.page(secret, headers...) }
	me := into[shoal.Caller](w.do("", "GET", "/v1/me", nil, as(ann)...).wants(200))
	if me.EntityID == nil || *me.EntityID != "ann" {
		t.Errorf("the caller is %+v", me)
	}
	made := into[shoal.Message](w.do("", "POST", messages, `{"text": "hi"}`, as(ann, "Origin", own)...).wants(201))
	if made.EntityID != "ann" {
		t.Errorf("the message is %+v", made)
	}
	w.do("", "POST", messages, `{"text": "hi"}`, as(ann, "Sec-Fetch-Site", "same-origin")...).wants(201)
	w.do("", "POST", messages, `{"text": "hi"}`, append(admin, "Origin", own, "X-Shoal-Entity", "ann")...).wants(201)

	w.do("", "POST", messages, `{"text": "hi"}`, as(ann)...).refuses(shoal.Forbidden)
	w.do("", "POST", messages, `{"text": "hi"}`, as(ann, "Origin", "https://evil.example")...).refuses(shoal.Forbidden)
	w.do("", "DELETE", "/v1/sessions/default/entities/bot", nil, append(admin, "Sec-Fetch-Site", "cross-site")...).refuses(shoal.Forbidden)
	w.do("", "GET", messages, nil, as(ann, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")...).refuses(shoal.Forbidden)
	kept := as(ann)
	name, value, _ := strings.Cut(kept[1], "=")
	w.do("", "GET", messages, nil, "Cookie", "shoal-1="+value, kept[2], kept[3]).refuses(shoal.Unauthenticated)
	w.do("", "GET", messages, nil, "Cookie", name+"=nonsense", kept[2], kept[3]).refuses(shoal.Unauthenticated)
}

// A server on another port of the host receives the cookie and can make up the headers of
// a page. It reads nothing with them, opens no stream, and gets no signed URL.
func TestTheCookieAloneIsOfNoUse(t *testing.T) {
	w, ann, _ := conversation(t)
	file := into[shoal.File](w.do(ann, "POST", files, "a", "Content-Type", "image/png").wants(201))
	w.push("card", card).wants(201)
	stolen := append(w.page(ann)[:2], "Origin", w.server.URL, "Sec-Fetch-Site", "same-origin")
	for _, path := range []string{"/v1/me", base + "/spaces", shopEvents, file.URL, "/console/renderers/default/card/1"} {
		w.do("", "GET", path, nil, stolen...).refuses(shoal.Unauthenticated)
	}
	w.do("", "POST", base+"/spaces/shop/messages", `{"text": "hi"}`, stolen...).refuses(shoal.Unauthenticated)
	w.do("", "POST", signedURLs, map[string]string{"url": file.URL}, stolen...).refuses(shoal.Unauthenticated)
}

const signedURLs = base + "/signed-urls"

// What a page shows without headers, a picture or a frame, it reads by a signed URL, with
// the rights that its reader has then.
func TestFilesAndRenderersBySignedURL(t *testing.T) {
	w, ann, _ := conversation(t)
	stranger := w.entity("default", "stranger")
	file := into[shoal.File](w.do(ann, "POST", files, "picture", "Content-Type", "image/png").wants(201))
	w.push("card", card).wants(201)
	sign := func(secret, url string) string {
		return into[shoal.SignedURL](w.do("", "POST", signedURLs, map[string]string{"url": url}, w.page(secret, "Origin", w.server.URL)...).wants(200)).URL
	}
	for url, want := range map[string]string{sign(ann, file.URL): "picture", sign(stranger, "/console/renderers/default/card/1"): card} {
		if got := w.do("", "GET", url, nil); got.status != 200 || string(got.body) != want {
			t.Errorf("%s is %d %s", url, got.status, got.body)
		}
	}
	w.do("", "DELETE", sign(ann, file.URL), nil).refuses(shoal.Unauthenticated)
	w.do("", "GET", sign(stranger, file.URL), nil).refuses(shoal.NotFound)
	for _, url := range []string{
		"", "/", "/v1/me", "/v1/sessions/default/files/", "/v1/sessions/other/files/fil_1", "/v1/sessions/default/files/fil_1?a=b",
		"/v1/sessions/default/files/../entities", "/v1/sessions/default/files/a/b", "/v1/sessions/default/entities", "https://evil.example" + file.URL,
		"/console/renderers/default/card", "/console/renderers/default/card/x", "/console/renderers/default/card/01", "/console/renderers/default/card/1/2",
		"/console/renderers/other/card/1", "/console/renderers/default/../1",
	} {
		w.do(ann, "POST", signedURLs, map[string]string{"url": url}).refuses(shoal.InvalidArgument)
	}
}

// Everybody sees the browsers that are signed in as them, and signs them out; an admin sees all.
func TestSignInsAreListedAndEnded(t *testing.T) {
	w, ann, bob := conversation(t)
	first, second, bobs, admins := w.page(ann), w.page(ann, "User-Agent", "x"), w.page(bob), w.page(w.admin)
	list := func(secret string) []shoal.Key {
		return into[page[shoal.Key]](w.do(secret, "GET", "/v1/keys?signIns=true", nil).wants(200)).Items
	}
	own := list(ann)
	if len(own) != 2 || len(list(bob)) != 1 || len(list(w.admin)) != 4 {
		t.Fatalf("ann sees %d, bob %d and the admin %d sign-ins", len(own), len(list(bob)), len(list(w.admin)))
	}
	for _, k := range own {
		if k.Device == nil || *k.Device != "Unknown browser" || k.Address == nil || *k.Address == "" || k.Secret != nil || *k.EntityID != "ann" || k.ExpiresAt == nil {
			t.Errorf("ann's sign-in is %+v", k)
		}
	}
	me := into[shoal.Caller](w.do("", "GET", "/v1/me", nil, first...).wants(200))
	if me.SignInID == nil || *me.SignInID == me.KeyID {
		t.Fatalf("the browser is signed in as %+v", me)
	}

	w.do(bob, "DELETE", "/v1/keys/"+string(*me.SignInID), nil).refuses(shoal.Forbidden)
	w.do("", "DELETE", "/v1/keys/"+string(*me.SignInID), nil, append(second, "Origin", w.server.URL)...).wants(204)
	w.do("", "GET", "/v1/me", nil, first...).refuses(shoal.Unauthenticated)
	w.do("", "GET", "/v1/me", nil, second...).wants(200)
	w.do(ann, "DELETE", "/v1/keys/"+string(me.KeyID), nil).refuses(shoal.Forbidden)
	w.do(ann, "DELETE", "/v1/keys/key_unknown", nil).refuses(shoal.Forbidden)
	w.do("", "GET", "/v1/me", nil, bobs...).wants(200)
	for _, k := range list(w.admin) {
		w.do(w.admin, "DELETE", "/v1/keys/"+string(k.ID), nil).wants(204)
	}
	for _, headers := range [][]string{second, bobs, admins} {
		w.do("", "GET", "/v1/me", nil, headers...).refuses(shoal.Unauthenticated)
	}
	w.do(ann, "GET", "/v1/keys", nil).refuses(shoal.Forbidden)
	w.do(ann, "GET", "/v1/keys?signIns=yes", nil).refuses(shoal.InvalidArgument)
}
