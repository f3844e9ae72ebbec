package guard

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/limit"
)

// asked is a body that notes that somebody wants it.
type asked struct {
	io.Reader
	wanted atomic.Bool
}

func (a *asked) Read(p []byte) (int, error) {
	a.wanted.Store(true)
	return a.Reader.Read(p)
}

// admitting answers 204 to callers that have a key, and knows callers by it.
func admitting(t *testing.T, o Options, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	o.MCPPaths = []string{"/mcp"}
	o.Admit = func(r *http.Request) (limit.Caller, error) {
		key := shoal.KeyID(r.Header.Get("Authorization"))
		if key == "" {
			return limit.Caller{}, shoal.E("", shoal.Unauthenticated, "No key was sent.")
		}
		return limit.Of(shoal.Principal{Role: shoal.Role(r.Header.Get("Role")), KeyID: key}), nil
	}
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(g.Wrap(handler))
	t.Cleanup(server.Close)
	return server
}

// Nothing is asked for of a body whose sender has no key.
func TestKeysComeBeforeBodies(t *testing.T) {
	server := admitting(t, Options{Upload: func(r *http.Request) int64 {
		if r.URL.Path == "/files" {
			return 1 << 20
		}
		return 0
	}}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	for _, path := range []string{"/v1/x", "/mcp", "/agui/s/x", "/files"} {
		for key, want := range map[string]int{"": http.StatusUnauthorized, "k": http.StatusNoContent} {
			body := &asked{Reader: strings.NewReader(`{"a": 1}`)}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, body)
			if err != nil {
				t.Fatal(err)
			}
			r.ContentLength = 8
			r.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {key}, "Expect": {"100-continue"}}
			transport := &http.Transport{ExpectContinueTimeout: time.Minute}
			res, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			transport.CloseIdleConnections()
			if wanted := body.wanted.Load(); res.StatusCode != want || wanted && key == "" {
				t.Errorf("%s with the key %q: %d, the body was asked for: %v; want %d", path, key, res.StatusCode, wanted, want)
			}
			if key == "" && res.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: 401 without WWW-Authenticate", path)
			}
		}
	}
}

// Two callers that fill the memory for bodies leave a third one and the admin what is
// theirs.
func TestBodiesAreShared(t *testing.T) {
	entered, leave := make(chan struct{}, 64), make(chan struct{})
	server := admitting(t, Options{MaxBodies: 4 << 20}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stay" {
			entered <- struct{}{}
			<-leave
		}
		w.WriteHeader(http.StatusNoContent)
	})
	send := func(path, key, role string, size int) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, strings.NewReader(`"`+strings.Repeat("x", size-2)+`"`))
		if err != nil {
			t.Error(err)
			return 0
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {key}, "Role": {role}}
		res, err := server.Client().Do(r)
		if err != nil {
			t.Error(err)
			return 0
		}
		res.Body.Close()
		return res.StatusCode
	}
	answers := make(chan int, 64)
	refused := 0
	for i := range 32 { // 256 KiB each: twice what there is
		go func() { answers <- send("/stay", []string{"ann", "bob"}[i%2], "service", 256<<10) }()
		select {
		case <-entered:
		case status := <-answers:
			if refused++; status != http.StatusServiceUnavailable {
				t.Errorf("beyond the share: %d", status)
			}
		}
	}
	if refused < 16 || refused > 22 {
		t.Errorf("%d of 32 bodies of two callers were refused", refused)
	}
	if status := send("/x", "cat", "service", 256<<10); status != http.StatusNoContent {
		t.Errorf("a third caller: %d", status)
	}
	if status := send("/x", "root", "admin", 256<<10); status != http.StatusNoContent {
		t.Errorf("the admin: %d", status)
	}
	close(leave)
	for range 32 - refused {
		if status := <-answers; status != http.StatusNoContent {
			t.Errorf("a body that found room: %d", status)
		}
	}
}
