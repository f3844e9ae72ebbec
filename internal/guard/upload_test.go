package guard

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
)

const testLimit = 5 << 20

// uploads is a guard whose uploads go to /files, before a handler.
func uploads(t *testing.T, handler http.HandlerFunc) http.Handler {
	t.Helper()
	g, err := New(Options{MCPPaths: []string{"/mcp"}, Upload: func(r *http.Request) int64 {
		if r.URL.Path == "/files" {
			return testLimit
		}
		return 0
	}})
	if err != nil {
		t.Fatal(err)
	}
	return g.Wrap(handler)
}

// An upload reaches its handler as it arrives, whatever its type.
func TestUploadsAreHandedOnAsTheyArrive(t *testing.T) {
	first := make(chan string, 1)
	server := httptest.NewServer(uploads(t, func(w http.ResponseWriter, r *http.Request) {
		part := make([]byte, 4)
		if _, err := io.ReadFull(r.Body, part); err != nil || Body(r) != nil {
			t.Errorf("the beginning is %q, %v, Body(r) = %q", part, err, Body(r))
		}
		first <- string(part)
		rest, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(rest)
	}))
	defer server.Close()
	conn := dial(t, server)
	answers := bufio.NewReader(conn)
	for range 2 { // the connection stays
		if _, err := io.WriteString(conn, "POST /files HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/html\r\nContent-Length: 8\r\n\r\n{\"a\""); err != nil {
			t.Fatal(err)
		}
		if got := <-first; got != `{"a"` {
			t.Errorf("the handler reads %q", got)
		}
		if _, err := io.WriteString(conn, "rest"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "rest" {
			t.Errorf("the answer is %q, %v", text, err)
		}
		resp.Body.Close()
	}
}

func TestUploadsAreLimited(t *testing.T) {
	read := make(chan error, 1)
	server := httptest.NewServer(uploads(t, func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if n > testLimit {
			t.Errorf("the handler got %d bytes", n)
		}
		read <- err
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	post := func(path string, body io.Reader, headers ...string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		resp, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	whole := strings.Repeat("x", testLimit)
	if status := post("/files", strings.NewReader(whole)); status != 204 || <-read != nil {
		t.Errorf("a body of the limit is answered %d", status)
	}
	chunked := struct{ io.Reader }{strings.NewReader(whole + "x")}
	if status, err := post("/files", chunked), <-read; status != 204 || !errors.Is(err, shoal.TooLarge) {
		t.Errorf("a chunked body over the limit is answered %d, and reads %v", status, err)
	}
	for name, status := range map[string]int{
		"announced too large": post("/files", strings.NewReader(whole+"x")),
		"no upload":           post("/other", strings.NewReader("x"), "Content-Type", "image/png"),
		"MCP":                 post("/mcp", strings.NewReader("x"), "Content-Type", "image/png"),
		"a coding":            post("/files", strings.NewReader("x"), "Content-Encoding", "gzip"),
		"a foreign page":      post("/files", strings.NewReader("x"), "Origin", "https://evil.example"),
	} {
		want := map[string]int{"announced too large": 413, "no upload": 415, "MCP": 415, "a coding": 415, "a foreign page": 403}[name]
		if status != want {
			t.Errorf("%s is answered %d, want %d", name, status, want)
		}
	}
	if len(read) != 0 {
		t.Error("a refused upload reached the handler")
	}
}

// A client that is refused while it sends reads the answer, not a broken connection.
func TestUnreadUploadsAreHeardOut(t *testing.T) {
	server := httptest.NewServer(uploads(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer server.Close()
	conn := dial(t, server)
	if _, err := io.WriteString(conn, "POST /files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5242880\r\n\r\n"+strings.Repeat("x", testLimit)); err != nil {
		t.Fatalf("sending: %v", err)
	}
	if status := readStatus(t, conn); status != 401 {
		t.Errorf("the status is %d, want 401", status)
	}
}

// A slow upload has UploadTime and no more.
func TestSlowUploads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := make(chan error, 1)
		handler := uploads(t, func(w http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			read <- err
			WriteProblem(w, err)
		})
		l := &inMemory{conns: make(chan net.Conn), closed: make(chan struct{})}
		server := &http.Server{Handler: handler}
		stopped := make(chan error)
		go func() { stopped <- server.Serve(l) }()
		conn, start := l.dial(), time.Now()
		if _, err := io.WriteString(conn, "POST /files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\npart"); err != nil {
			t.Fatal(err)
		}
		if status := readStatus(t, conn); status != 400 {
			t.Errorf("the status is %d, want 400", status)
		}
		if err := <-read; !errors.Is(err, shoal.InvalidJSON) {
			t.Errorf("reading gives %v", err)
		}
		if took := time.Since(start); took < UploadTime || took > UploadTime+time.Second {
			t.Errorf("the answer came after %v, want %v", took, UploadTime)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-stopped; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}
