package httpapi

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/httpapi/bodies"
)

// form is a multipart body; each file is its name, its type and its bytes.
func form(t *testing.T, files ...[3]string) (body, contentType string) {
	t.Helper()
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	if err := w.WriteField("comment", "not a file"); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		h := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="file"; filename=%q`, f[0])}}
		if f[1] != "" {
			h.Set("Content-Type", f[1])
		}
		part, err := w.CreatePart(h)
		if err == nil {
			_, err = part.Write([]byte(f[2]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String(), w.FormDataContentType()
}

const files = base + "/files"

// A file comes back as it was sent, however it was sent.
func TestFilesAreKept(t *testing.T) {
	w := newWorld(t)
	ann := w.entity("default", "ann")
	const text = "\x89PNG\r\n\x1a\n<b>"
	oneForm, formType := form(t, [3]string{"dir/a.png", "image/png", text})
	bareForm, bareType := form(t, [3]string{"a.bin", "", text})
	for _, c := range []struct {
		name, query, body string
		headers           []string
		is                shoal.File
	}{
		{"raw with a name", "?name=a.png", text, []string{"Content-Type", "image/png"}, shoal.File{Name: "a.png", MediaType: "image/png"}},
		{"raw with a disposition", "", text, []string{"Content-Type", "image/png", "Content-Disposition", `attachment; filename="../b.png"`}, shoal.File{Name: "b.png", MediaType: "image/png"}},
		{"raw without anything", "", text, []string{"Content-Type", ""}, shoal.File{Name: "file", MediaType: "application/octet-stream"}},
		{"text", "?name=a.txt", text, []string{"Content-Type", "text/plain;charset=UTF-8"}, shoal.File{Name: "a.txt", MediaType: "text/plain; charset=UTF-8"}},
		{"invalid JSON", "?name=a.json", `{"a":1,"a":`, []string{"Content-Type", "application/json"}, shoal.File{Name: "a.json", MediaType: "application/json"}},
		{"a form", "", oneForm, []string{"Content-Type", formType}, shoal.File{Name: "a.png", MediaType: "image/png"}},
		{"a form without types", "?name=c", bareForm, []string{"Content-Type", bareType}, shoal.File{Name: "c", MediaType: "application/octet-stream"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := *w
			w.TB = t
			made := into[shoal.File](w.do(ann, "POST", files+c.query, c.body, c.headers...).wants(201))
			want := text
			if strings.HasPrefix(c.body, "{") {
				want = c.body
			}
			if made.Name != c.is.Name || made.MediaType != c.is.MediaType || made.Size != int64(len(want)) || made.URL != files+"/"+string(made.ID) {
				t.Errorf("the file = %+v", made)
			}
			got := w.do(ann, "GET", made.URL, nil).wants(200)
			if string(got.body) != want || got.header.Get("Content-Type") != made.MediaType {
				t.Errorf("the file comes back as %s %q", got.header.Get("Content-Type"), got.body)
			}
		})
	}
}

// Whatever a file says that it is, a browser runs nothing of it here.
func TestFilesAreServedSafely(t *testing.T) {
	w := newWorld(t)
	ann, bot := w.entity("default", "ann"), w.entity("default", "bot")
	for mediaType, disposition := range map[string]string{
		"image/png": "inline", "image/jpeg": "inline", "image/gif": "inline", "image/webp": "inline",
		"text/html": "attachment", "image/svg+xml": "attachment", "application/pdf": "attachment", "application/xhtml+xml": "attachment",
		"text/html; charset=utf-7": "attachment", "application/octet-stream": "attachment",
	} {
		made := into[shoal.File](w.do(ann, "POST", files+"?name=a%22.b", "<script>", "Content-Type", mediaType).wants(201))
		path := files + "/" + string(made.ID)
		got := w.do(ann, "GET", path, nil).wants(200)
		if d := got.header.Get("Content-Disposition"); !strings.HasPrefix(d, disposition+"; filename=") {
			t.Errorf("%s is served with %q", mediaType, d)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'", "Cache-Control": "private, no-cache",
			"ETag": `"` + string(made.ID) + `"`,
		} {
			if h := got.header.Get(name); h != want {
				t.Errorf("%s has %s: %q", mediaType, name, h)
			}
		}
		if again := w.do(ann, "GET", path, nil, "If-None-Match", got.header.Get("ETag")).wants(304); len(again.body) != 0 || again.header.Get("ETag") == "" {
			t.Errorf("unchanged is answered %q with %v", again.body, again.header)
		}
		w.do(bot, "GET", path, nil, "If-None-Match", got.header.Get("ETag")).refuses(shoal.NotFound)
	}
}

func TestUploadsThatAreRefused(t *testing.T) {
	w := newWorld(t)
	ann := w.entity("default", "ann")
	large := strings.Repeat("x", shoal.MaxFile+1)
	none, noneType := form(t)
	two, twoType := form(t, [3]string{"a", "", "a"}, [3]string{"b", "", "b"})
	full, fullType := form(t, [3]string{"a", "", large})
	huge, hugeType := form(t, [3]string{"a", "", large + large})
	for _, c := range []struct {
		body, mediaType string
		kind            shoal.Kind
	}{
		{large, "image/png", shoal.TooLarge},
		{large + large, "image/png", shoal.TooLarge},
		{full, fullType, shoal.TooLarge},
		{huge, hugeType, shoal.TooLarge},
		{none, noneType, shoal.InvalidArgument},
		{two, twoType, shoal.InvalidArgument},
		{two[:len(two)-20], twoType, shoal.InvalidArgument},
		{"a", "multipart/form-data", shoal.InvalidArgument},
		{"a", "no type", shoal.UnsupportedMediaType},
	} {
		w.do(ann, "POST", files, c.body, "Content-Type", c.mediaType).refuses(c.kind)
	}
	w.do("", "POST", files, large[:shoal.MaxFile], "Content-Type", "image/png").refuses(shoal.Unauthenticated)
	made := into[shoal.File](w.do(ann, "POST", files, large[:shoal.MaxFile], "Content-Type", "image/png").wants(201))
	if made.Size != shoal.MaxFile {
		t.Errorf("a file of the limit = %+v", made)
	}
	first := into[shoal.File](w.do(ann, "POST", files, "a", "Content-Type", "image/png", "Idempotency-Key", "k").wants(201))
	if again := into[shoal.File](w.do(ann, "POST", files, "a", "Content-Type", "image/png", "Idempotency-Key", "k").wants(201)); again != first {
		t.Errorf("repeated, the upload is %+v, first it was %+v", again, first)
	}
	w.do(ann, "POST", files, "b", "Content-Type", "image/png", "Idempotency-Key", "k").refuses(shoal.IdempotencyMismatch)
}

// A member of a space that shows a file may download it, as safely as its uploader.
// For all other entities the file does not exist.
func TestFilesOfASpaceAreItsMembers(t *testing.T) {
	w, ann, bot := conversation(t)
	outsider := w.entity("default", "outsider")
	for _, c := range []struct{ name, mediaType, disposition string }{
		{"a.png", "image/png", "inline; filename=a.png"},
		{"a.html", "text/html", "attachment; filename=a.html"},
		{"a.svg", "image/svg+xml", "attachment; filename=a.svg"},
	} {
		made := into[shoal.File](w.do(ann, "POST", files+"?name="+c.name, "<script>alert(1)</script>", "Content-Type", c.mediaType).wants(201))
		w.do(bot, "GET", made.URL, nil).refuses(shoal.NotFound)
		posted := into[shoal.Message](w.do(ann, "POST", base+"/spaces/shop/messages", map[string]any{"parts": []any{
			map[string]any{"type": "file", "name": made.Name, "mediaType": made.MediaType, "size": made.Size, "url": made.URL},
			map[string]any{"type": "data", "name": "chart", "data": map[string]any{"n": 1}},
		}}).wants(201))
		if len(posted.Parts) != 2 || posted.Parts[0].URL != made.URL || posted.Parts[1].Type != shoal.DataPart || string(posted.Parts[1].Data) != `{"n":1}` {
			t.Errorf("the message has %+v", posted.Parts)
		}
		got := w.do(bot, "GET", posted.Parts[0].URL, nil).wants(200)
		for name, want := range map[string]string{
			"Content-Type": c.mediaType, "Content-Disposition": c.disposition,
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'",
		} {
			if h := got.header.Get(name); h != want {
				t.Errorf("%s is served with %s: %q", c.name, name, h)
			}
		}
		w.do(outsider, "GET", made.URL, nil).refuses(shoal.NotFound)
		w.do("", "GET", made.URL, nil).refuses(shoal.Unauthenticated)
	}
}

func TestBodiesByPath(t *testing.T) {
	for path, want := range map[string]string{
		"PUT " + agentBase: "typed", "POST " + agentBase: "", "PUT " + agentBase + "/plans": "", "PUT " + base + "/agents": "", "PUT /v1/agents/a": "",
		"PUT " + renderers + "/a": "typed", "POST " + renderers + "/a": "", "PUT " + renderers: "", "PUT " + renderers + "/a/b": "", "POST " + files: "upload", "PUT " + files: "", "POST " + files + "/a": "", "POST /v1/files": "", "POST " + base + "/spaces": "",
	} {
		method, at, _ := strings.Cut(path, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+at, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := map[bool]string{true: "typed"}[len(bodies.Types(r)) > 0] + map[bool]string{true: "upload"}[bodies.UploadLimit(r) > 0]
		if got != want {
			t.Errorf("%s takes %q, want %q", path, got, want)
		}
	}
}

// A deleted file is nowhere: not under its URL, and not as the answer to the same upload.
func TestDeletedFiles(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.entity("default", "ann"), w.entity("default", "bob")
	w.do(ann, "POST", base+"/spaces", `{"id": "den", "name": "Den", "members": ["bob"]}`).wants(201)
	upload := func() shoal.File {
		return into[shoal.File](w.do(ann, "POST", files+"?name=a.txt", "secret", "Content-Type", "text/plain", "Idempotency-Key", "k1").wants(201))
	}
	f := upload()
	posted := into[shoal.Message](w.do(ann, "POST", base+"/spaces/den/messages", map[string]any{"parts": []any{map[string]any{
		"type": "file", "name": f.Name, "mediaType": f.MediaType, "size": f.Size, "url": f.URL,
	}}}).wants(201))
	w.do(bob, "GET", f.URL, nil).wants(200)
	w.do(bob, "DELETE", f.URL, nil).wants(403)
	w.do(ann, "DELETE", f.URL, nil).wants(204)
	w.do(ann, "DELETE", f.URL, nil).wants(404)
	w.do(bob, "GET", f.URL, nil).wants(404)
	if again := upload(); again.ID == f.ID {
		t.Error("the same upload returns the deleted file")
	}
	if m := into[shoal.Message](w.do(bob, "GET", base+"/messages/"+string(posted.ID), nil).wants(200)); len(m.Parts) != 1 || m.Parts[0].URL != f.URL {
		t.Errorf("the message that shows it is %+v", m)
	}
}
