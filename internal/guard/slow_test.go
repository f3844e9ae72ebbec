package guard

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// inMemory is a listener whose connections are pipes, so that the clock of a
// synctest bubble drives a real http.Server.
type inMemory struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *inMemory) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *inMemory) Close() error { close(l.closed); return nil }

func (l *inMemory) Addr() net.Addr { return &net.IPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (l *inMemory) dial() net.Conn {
	ours, theirs := net.Pipe()
	l.conns <- theirs
	return ours
}

// inBubble runs a test against a guarded server, with a clock of its own.
func inBubble(t *testing.T, handler http.HandlerFunc, test func(t *testing.T, l *inMemory)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g, err := New(Options{MCPPaths: []string{"/mcp"}})
		if err != nil {
			t.Fatal(err)
		}
		l := &inMemory{conns: make(chan net.Conn), closed: make(chan struct{})}
		server := &http.Server{Handler: g.Wrap(handler)}
		stopped := make(chan error)
		go func() { stopped <- server.Serve(l) }()
		test(t, l)
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-stopped; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

// The sender of a slow body gets an error after 10 s, and the connection ends.
func TestSlowSenders(t *testing.T) {
	const length = "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n"
	for _, tt := range []struct {
		name, request string
		status        int
		says          string
	}{
		{"nothing of the body", "POST /v1/x HTTP/1.1\r\nHost: localhost\r\n" + length, 400, "The body did not arrive whole within 10s."},
		{"a part of the body", "POST /v1/x HTTP/1.1\r\nHost: localhost\r\n" + length + `{"a":`, 400, "The body did not arrive whole within 10s."},
		{"MCP", "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + length + `{"a":`, 400, `"code":-32700`},
		{"foreign host", "POST /v1/x HTTP/1.1\r\nHost: evil.example\r\n" + length, 421, "does not answer"},
		{"foreign origin", "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n" + length, 403, "may not call"},
		{"wrong type", "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n", 415, "no Content-Type"},
		{"too large", "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n", 413, "more than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(http.ResponseWriter, *http.Request) { t.Error("the request reached the handler") }, func(t *testing.T, l *inMemory) {
				conn, start := l.dial(), time.Now()
				if _, err := io.WriteString(conn, tt.request); err != nil {
					t.Fatal(err)
				}
				answers := bufio.NewReader(conn)
				resp, err := http.ReadResponse(answers, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				text, err := io.ReadAll(resp.Body)
				if err != nil || resp.StatusCode != tt.status || !strings.Contains(string(text), tt.says) {
					t.Errorf("the answer is %d %s, %v, want %d with %q", resp.StatusCode, text, err, tt.status, tt.says)
				}
				if _, err := answers.ReadByte(); !errors.Is(err, io.EOF) {
					t.Errorf("after the answer the connection gives %v, want its end", err)
				}
				// The server gives a client that has much left to send half a second to read the answer.
				if took := time.Since(start); took > BodyTime+time.Second {
					t.Errorf("the connection ended after %v, want about %v", took, BodyTime)
				}
			})
		})
	}
}

// The time for the body is not a time for the answer, nor for the next request
// on the same connection.
func TestLongWaitsAreNotCut(t *testing.T) {
	wait := func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
			t.Errorf("the wait was cut: %v", context.Cause(r.Context()))
		case <-time.After(10 * time.Minute):
		}
		_, _ = w.Write(Body(r))
	}
	inBubble(t, wait, func(t *testing.T, l *inMemory) {
		conn := l.dial()
		answers := bufio.NewReader(conn)
		for _, request := range []string{
			"POST /v1/wait HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
			"POST /v1/wait HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
			"POST /v1/wait HTTP/1.1\r\nHost: localhost\r\n\r\n",
			"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
		} {
			if took := exchange(t, conn, answers, request); took != 10*time.Minute {
				t.Errorf("the wait took %v, want 10m", took)
			}
			<-time.After(time.Minute) // an idle connection stays open too
		}
		conn.Close()
	})
}

// exchange sends a request and reads its answer over conn, and returns how long it took.
func exchange(t *testing.T, conn net.Conn, answers *bufio.Reader, request string) time.Duration {
	t.Helper()
	start := time.Now()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("the answer is %d, %v, want 200", resp.StatusCode, err)
	}
	return time.Since(start)
}

// withDeadline remembers the read deadline that it was given last.
type withDeadline struct {
	*httptest.ResponseRecorder
	deadlines []time.Time
}

func (w *withDeadline) SetReadDeadline(deadline time.Time) error {
	w.deadlines = append(w.deadlines, deadline)
	return nil
}

// net/http takes the deadline away with the end of a body, but does not promise
// it: the guard does so itself.
func TestLeavesNoDeadline(t *testing.T) {
	g, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &withDeadline{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/v1/x", strings.NewReader(`{}`))
	r.Header.Set("Content-Type", jsonType)
	g.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if len(w.deadlines) != 2 || w.deadlines[0].IsZero() || !w.deadlines[1].IsZero() {
			t.Errorf("the deadlines were %v, want one and then none", w.deadlines)
		}
	})).ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Errorf("the status is %d, want 200", w.Code)
	}
}

// A client that goes away in the middle of its body reaches nothing.
func TestCutOffBodies(t *testing.T) {
	inBubble(t, func(http.ResponseWriter, *http.Request) { t.Error("the request reached the handler") }, func(t *testing.T, l *inMemory) {
		conn := l.dial()
		if _, err := io.WriteString(conn, "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{}"); err != nil {
			t.Fatal(err)
		}
		conn.Close()
		synctest.Wait()
	})
}

// readStatus reads the status of one answer.
func readStatus(t *testing.T, conn net.Conn) int {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}
