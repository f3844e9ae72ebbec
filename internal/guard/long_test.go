package guard

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/limit"
)

// A body that is larger than others may be reaches its handler as it was made shorter, and scanned like any other.
func TestLongBodiesAreShortened(t *testing.T) {
	kept, refusal := []byte(nil), error(nil)
	g, err := New(Options{Shorten: func(r *http.Request) func(io.Reader, int) ([]byte, error) {
		if r.URL.Path != "/long" {
			return nil
		}
		return func(body io.Reader, most int) ([]byte, error) {
			if n, err := io.Copy(io.Discard, body); n != r.ContentLength || err != nil || most != MaxBody {
				t.Errorf("the shortener gets %d bytes, %v, for %d", n, err, most)
			}
			return kept, refusal
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	handler := g.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := w.Write(Body(r)[:min(len(Body(r)), 20)]); err != nil {
			t.Error(err)
		}
	}))
	for name, c := range map[string]struct {
		path    string
		size    int
		kept    string
		refusal error
		status  int
		answer  string
	}{
		"as large as any":           {"/long", MaxBody, "", nil, 200, `"xxxxxxxxxxxxxxxxxxx`},
		"longer":                    {"/long", MaxBody + 1, `{"a":1}`, nil, 200, `{"a":1}`},
		"longer, elsewhere":         {"/short", MaxBody + 1, `{"a":1}`, nil, 413, string(shoal.TooLarge)},
		"too long":                  {"/long", MaxLongBody + 1, `{"a":1}`, nil, 413, string(shoal.TooLarge)},
		"what is kept is not clear": {"/long", MaxBody + 1, `{"a":1,"a":2}`, nil, 400, string(shoal.InvalidJSON)},
		"what is new is too large":  {"/long", MaxBody + 1, "", shoal.E("test", shoal.TooLarge, "Too much."), 413, "Too much."},
		"cut off":                   {"/long", MaxBody + 1, "", errors.New("gone"), 400, string(shoal.InvalidJSON)},
	} {
		t.Run(name, func(t *testing.T) {
			kept, refusal = []byte(c.kept), c.refusal
			body := bytes.Repeat([]byte("x"), c.size)
			body[0], body[len(body)-1] = '"', '"'
			r := httptest.NewRequest(http.MethodPost, "http://localhost"+c.path, bytes.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			w := &withDeadline{ResponseRecorder: httptest.NewRecorder()}
			handler.ServeHTTP(w, r)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.answer) {
				t.Errorf("it is answered with %d %s, want %d %s", w.Code, w.Body, c.status, c.answer)
			}
			if held := g.bodies.Count(); held != 0 {
				t.Errorf("%d bytes are still held", held)
			}
		})
	}
}

// A body is not shortened for which there is no memory.
func TestLongBodiesNeedMemory(t *testing.T) {
	b := body{bodies: bodies{limit.NewBytes(0, MaxBody)}}
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x"))
	_, err := b.readShort(r, func(io.Reader, int) ([]byte, error) { t.Error("it is read"); return nil, nil })
	if err == nil || err.Kind != shoal.Busy {
		t.Errorf("it is answered with %v", err)
	}
}
