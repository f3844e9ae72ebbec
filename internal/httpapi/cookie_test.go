package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

// cookie is what a browser sends that has signed in with a key.
func (w *world) cookie(secret string) string {
	w.Helper()
	in := httptest.NewRecorder()
	_, err := w.auth.SignIn(in, httptest.NewRequestWithContext(w.Context(), http.MethodPost, w.server.URL+"/console/login", http.NoBody), secret)
	w.must(err)
	kept := in.Result().Cookies()[0]
	return kept.Name + "=" + kept.Value
}

// A browser that has signed in calls as with its key, from the server's own pages.
func TestCallsByCookie(t *testing.T) {
	w, ann, _ := conversation(t)
	name, value, _ := strings.Cut(w.cookie(ann), "=")
	admin, messages := w.cookie(w.admin), base+"/spaces/shop/messages"
	me := into[shoal.Caller](w.do("", "GET", "/v1/me", nil, "Cookie", w.cookie(ann)).wants(200))
	if me.EntityID == nil || *me.EntityID != "ann" {
		t.Errorf("the caller is %+v", me)
	}
	made := into[shoal.Message](w.do("", "POST", messages, `{"text": "hi"}`, "Cookie", w.cookie(ann), "Origin", w.server.URL).wants(201))
	if made.EntityID != "ann" {
		t.Errorf("the message is %+v", made)
	}
	w.do("", "POST", messages, `{"text": "hi"}`, "Cookie", w.cookie(ann), "Sec-Fetch-Site", "same-origin").wants(201)
	w.do("", "POST", messages, `{"text": "hi"}`, "Cookie", admin, "Origin", w.server.URL, "X-Shoal-Entity", "ann").wants(201)

	w.do("", "POST", messages, `{"text": "hi"}`, "Cookie", w.cookie(ann)).refuses(shoal.Forbidden)
	w.do("", "POST", messages, `{"text": "hi"}`, "Cookie", w.cookie(ann), "Origin", "https://evil.example").refuses(shoal.Forbidden)
	w.do("", "DELETE", "/v1/sessions/default/entities/bot", nil, "Cookie", admin, "Sec-Fetch-Site", "cross-site").refuses(shoal.Forbidden)
	w.do("", "GET", messages, nil, "Cookie", w.cookie(ann), "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document").refuses(shoal.Forbidden)
	w.do("", "GET", messages, nil, "Cookie", "shoal-1="+value).refuses(shoal.Unauthenticated)
	w.do("", "GET", messages, nil, "Cookie", name+"=nonsense").refuses(shoal.Unauthenticated)
}
