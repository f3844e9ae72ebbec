package client_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/shoal-dev/shoal/client"
)

// world is a real HTTP server and a real HTTP client with pipes instead of a
// network between them, in a bubble where time passes when all wait.
type world struct {
	*testing.T
	client *client.Client
	hasty  *client.Client // tries five times
	pipes  *pipes
}

// inWorld runs story in a world whose server is handler.
func inWorld(t *testing.T, handler http.HandlerFunc, story func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		wires := &pipes{accept: make(chan net.Conn), closed: make(chan struct{})}
		server := httptest.NewUnstartedServer(handler)
		server.Listener = wires
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.Start()
		defer server.Close()
		transport := &http.Transport{DialContext: wires.dial}
		defer transport.CloseIdleConnections()
		o := client.Options{URL: "http://shoal.test", Key: "secret", As: "ann", HTTP: &http.Client{Transport: transport}}
		patient, err := client.New(o)
		if err != nil {
			t.Fatal(err)
		}
		o.RetryFor = -1
		hasty, err := client.New(o)
		if err != nil {
			t.Fatal(err)
		}
		story(&world{t, patient, hasty, wires})
	})
}

// pipes is a network between one server and its clients.
type pipes struct {
	accept chan net.Conn
	closed chan struct{}
	once   sync.Once
	down   atomic.Bool
	dialed atomic.Int32

	mu   sync.Mutex
	open []net.Conn
}

// cutAll breaks every connection.
func (p *pipes) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		_ = c.Close()
	}
	p.open = nil
}

var errDown = errors.New("connection refused")

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	p.dialed.Add(1)
	if p.down.Load() {
		return nil, errDown
	}
	near, far := net.Pipe()
	select {
	case p.accept <- far:
		p.mu.Lock()
		p.open = append(p.open, far)
		p.mu.Unlock()
		return near, nil
	case <-p.closed:
		return nil, errDown
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accept:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7462} }

// answer writes an answer in one piece.
func answer(w http.ResponseWriter, status int, body string) {
	media := "application/json"
	if status/100 != 2 {
		media = "application/problem+json"
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// say sends a piece of an answer.
func say(w http.ResponseWriter, text string) {
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

// cut breaks the connection.
func cut() { panic(http.ErrAbortHandler) }

// inTurn serves each request with the next handler, and later ones with the last.
func inTurn(handlers ...http.HandlerFunc) http.HandlerFunc {
	var n atomic.Int32
	return func(w http.ResponseWriter, r *http.Request) {
		handlers[min(int(n.Add(1)), len(handlers))-1](w, r)
	}
}
