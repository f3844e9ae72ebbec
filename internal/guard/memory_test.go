package guard

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// All bodies together have so much memory. What is beyond is refused at once with
// Busy and costs nothing; small bodies still find place when large ones do not;
// and what an answer no longer needs is free again.
func TestBodiesHaveOneMemory(t *testing.T) {
	set := metrics.New()
	g, err := New(Options{MaxBodies: 1 << 20, Metrics: set})
	if err != nil {
		t.Fatal(err)
	}
	entered, leave := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(g.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stay" {
			entered <- struct{}{}
			<-leave
		}
		w.WriteHeader(http.StatusNoContent)
	})))
	defer server.Close()
	send := func(path string, size int) (int, string) {
		body := `"` + strings.Repeat("x", size-2) + `"`
		res, err := server.Client().Post(server.URL+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Error(err)
		}
		return res.StatusCode, res.Header.Get("Retry-After") + " " + string(text)
	}
	const stays = 3
	answers := make(chan int)
	for range stays { // each holds a quarter
		go func() {
			status, _ := send("/stay", 200<<10)
			answers <- status
		}()
		<-entered
	}
	before := g.bodies.Count()
	if status, said := send("/x", 200<<10); status != 503 || !strings.HasPrefix(said, "1 ") || !strings.Contains(said, string(shoal.Busy)) {
		t.Errorf("one more large body: %d %s, want 503 busy with Retry-After", status, said)
	}
	if status, said := send("/x", 2<<10); status != 204 {
		t.Errorf("a small body: %d %s, want 204", status, said)
	}
	if after := g.bodies.Count(); after != before || before < stays*200<<10 || before > 1<<20 {
		t.Errorf("%d bytes are held, before the refusal %d", after, before)
	}
	close(leave)
	for range stays {
		if status := <-answers; status != 204 {
			t.Errorf("a body that found place: %d", status)
		}
	}
	if status, said := send("/x", 200<<10); status != 204 {
		t.Errorf("a large body later: %d %s, want 204", status, said)
	}
	if held := g.bodies.Count(); held != 0 {
		t.Errorf("%d bytes are held at the end", held)
	}
	var text strings.Builder
	if err := set.Write(&text); err != nil || !strings.Contains(text.String(), `shoal_requests_refused_total{code="busy"} 1`) {
		t.Errorf("%v, the refusal is not counted:\n%s", err, text.String())
	}
}

// A body that is refused for its content, or cut short, leaves its memory.
func TestRefusedBodiesLeaveTheirMemory(t *testing.T) {
	g, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(g.Wrap(http.NotFoundHandler()))
	defer server.Close()
	for name, body := range map[string]string{
		"no JSON":   `{"a":` + strings.Repeat(" ", 100<<10),
		"too large": `"` + strings.Repeat("x", MaxBody) + `"`,
	} {
		res, err := server.Client().Post(server.URL, "application/json", io.MultiReader(strings.NewReader(body))) // not announced
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode < 400 || g.bodies.Count() != 0 {
			t.Errorf("%s: %d, %d bytes are still held", name, res.StatusCode, g.bodies.Count())
		}
	}
}
