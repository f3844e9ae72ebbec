package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

const (
	renderers = base + "/renderers"
	card      = "<!doctype html><script>parent.postMessage({shoal: 1, type: 'ready'}, '*')</script>"
)

// push stores a renderer as the console's command line does.
func (w *world) push(name, page string) answer {
	w.Helper()
	return w.do(w.admin, "PUT", renderers+"/"+name, page, "Content-Type", "text/html; charset=utf-8")
}

// A renderer comes back as it was sent, by version; pushing the same page again
// changes nothing.
func TestRenderersAreKept(t *testing.T) {
	w := newWorld(t)
	ann := w.entity("default", "ann")
	first := into[shoal.Renderer](w.push("ProductCard", card).wants(201))
	if first.Name != "ProductCard" || first.Version != 1 || first.Size != int64(len(card)) || len(first.Hash) != 64 ||
		first.URL != "/console/renderers/default/ProductCard/1" {
		t.Errorf("the renderer is %+v", first)
	}
	if again := into[shoal.Renderer](w.push("ProductCard", card).wants(200)); again != first {
		t.Errorf("pushed again it is %+v, first it was %+v", again, first)
	}
	second := into[shoal.Renderer](w.push("ProductCard", card+"<p>").wants(200))
	if second.Version != 2 || second.Hash == first.Hash {
		t.Errorf("the second version is %+v", second)
	}
	w.push("chart", "<p>chart").wants(201)
	all := into[page[shoal.Renderer]](w.do(ann, "GET", renderers, nil).wants(200))
	if len(all.Items) != 2 || all.Items[0] != second || all.Items[1].Name != "chart" || all.NextCursor != nil {
		t.Errorf("the list is %+v", all)
	}
	one := into[page[shoal.Renderer]](w.do(ann, "GET", renderers+"?limit=1", nil).wants(200))
	rest := into[page[shoal.Renderer]](w.do(ann, "GET", renderers+"?limit=1&cursor="+*one.NextCursor, nil).wants(200))
	if len(one.Items) != 1 || one.Items[0] != second || len(rest.Items) != 1 || rest.Items[0].Name != "chart" {
		t.Errorf("page by page the list is %+v and %+v", one, rest)
	}
	for url, want := range map[string]string{first.URL: card, second.URL: card + "<p>"} {
		if got := w.do(ann, "GET", url, nil).wants(200); string(got.body) != want {
			t.Errorf("%s is %q", url, got.body)
		}
	}
	w.do(w.admin, "DELETE", renderers+"/ProductCard", nil).wants(204)
	w.do(ann, "GET", first.URL, nil).refuses(shoal.NotFound)
	w.do(w.admin, "DELETE", renderers+"/ProductCard", nil).refuses(shoal.NotFound)
	if anew := into[shoal.Renderer](w.push("ProductCard", card).wants(201)); anew.Version != 3 {
		t.Errorf("made anew it has version %d", anew.Version)
	}
}

// Only the newest versions are kept.
func TestOldRenderersGo(t *testing.T) {
	w := newWorld(t)
	for i := range shoal.MaxRendererVersions + 1 {
		w.push("card", fmt.Sprint("<p>", i))
	}
	w.do(w.admin, "GET", "/console/renderers/default/card/1", nil).refuses(shoal.NotFound)
	w.do(w.admin, "GET", "/console/renderers/default/card/2", nil).wants(200)
}

// Whatever is in a renderer, a browser runs it without an origin: it reaches
// nothing but the page that frames it.
func TestRenderersAreServedInASandbox(t *testing.T) {
	w := newWorld(t)
	made := into[shoal.Renderer](w.push("card", card).wants(201))
	got := w.do(w.admin, "GET", made.URL, nil).wants(200)
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Cache-Control": "private, no-cache", "Referrer-Policy": "no-referrer",
		"X-Dns-Prefetch-Control": "off", "ETag": `"` + made.Hash + `"`,
		"Content-Security-Policy": "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; " +
			"base-uri 'none'; form-action 'none'; frame-ancestors 'self'; webrtc 'block'",
	} {
		if h := got.header.Get(name); h != want {
			t.Errorf("it is served with %s: %q", name, h)
		}
	}
	if again := w.do(w.admin, "GET", made.URL, nil, "If-None-Match", got.header.Get("ETag")).wants(304); len(again.body) != 0 {
		t.Errorf("unchanged is answered %q", again.body)
	}
	w.do("", "GET", made.URL, nil, "If-None-Match", got.header.Get("ETag")).refuses(shoal.Unauthenticated)
}

func TestRenderersThatAreRefused(t *testing.T) {
	w := newWorld(t)
	whole := strings.Repeat("x", shoal.MaxRenderer)
	for name, c := range map[string]struct {
		at, page, mediaType string
		kind                shoal.Kind
	}{
		"JSON":               {"card", `{"a": 1}`, "application/json", shoal.UnsupportedMediaType},
		"a script":           {"card", "alert(1)", "text/javascript", shoal.UnsupportedMediaType},
		"one byte too many":  {"card", whole + "x", "text/html", shoal.TooLarge},
		"nothing":            {"card", "", "text/html", shoal.InvalidArgument},
		"no UTF-8":           {"card", "\xff", "text/html", shoal.InvalidArgument},
		"a name with spaces": {"my%20card", card, "text/html", shoal.InvalidArgument},
		"a name too long":    {strings.Repeat("x", 65), card, "text/html", shoal.InvalidArgument},
		"a reserved name":    {"system", card, "text/html", shoal.InvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			w := *w
			w.TB = t
			w.do(w.admin, "PUT", renderers+"/"+c.at, c.page, "Content-Type", c.mediaType).refuses(c.kind)
		})
	}
	w.push("card", whole).wants(201)
	for _, at := range []string{"card/0", "card/-1", "card/2", "card/first", "card/99999999999999999999", "none/1", "my%20card/1"} {
		w.do(w.admin, "GET", "/console/renderers/default/"+at, nil).refuses(shoal.NotFound)
	}
	w.do(w.admin, "GET", "/console/renderers/nowhere/card/1", nil).refuses(shoal.NotFound)
	w.do(w.admin, "GET", "/v1/sessions/nowhere/renderers", nil).refuses(shoal.NotFound)
	w.do(w.admin, "PUT", "/v1/sessions/nowhere/renderers/card", card, "Content-Type", "text/html").refuses(shoal.NotFound)
	w.do(w.admin, "POST", "/v1/sessions", `{"id": "lab"}`).wants(201)
	w.do(w.admin, "POST", "/v1/sessions/lab/close", nil).wants(200)
	w.do(w.admin, "PUT", "/v1/sessions/lab/renderers/card", card, "Content-Type", "text/html").refuses(shoal.SessionClosed)
	w.do(w.admin, "DELETE", "/v1/sessions/lab/renderers/card", nil).refuses(shoal.SessionClosed)
	res, err := w.server.Client().Do(w.request(t.Context(), w.admin, http.MethodHead, "/console/renderers/default/card/1", nil))
	w.must(err)
	w.must(res.Body.Close())
	if res.StatusCode != http.StatusOK || res.ContentLength != shoal.MaxRenderer {
		t.Errorf("HEAD = %d of %d bytes", res.StatusCode, res.ContentLength)
	}
}
