package detach_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/internal/detach"
	"github.com/shoal-dev/shoal/internal/shoaltest/tlstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server answers /here in its handler, and /detached on a detached connection with the next text
// from answers. When the call ends first, its cause is sent to ends.
type server struct {
	*http.Server
	pool     *detach.Pool
	addr     string
	detached chan *detach.Call // the detached calls
	answers  chan string       // their responses
	ends     chan error        // the causes of calls that ended without a response
	flushes  chan error
	closed   atomic.Int64
	refused  atomic.Int64 // calls that could not be detached
	serving  sync.WaitGroup
	panicky  bool
	listener net.Listener
	pair     *tlstest.Pair // of a server over TLS
}

// withoutPoller makes start return servers as on systems without epoll, and overTLS servers with TLS.
var withoutPoller, overTLS bool

func start(t *testing.T, idle time.Duration) *server {
	t.Helper()
	s := &server{
		detached: make(chan *detach.Call, 100), answers: make(chan string, 100), ends: make(chan error, 100), flushes: make(chan error, 100),
	}
	s.pool = detach.New(detach.Options{Idle: idle, Closed: func(net.Conn) { s.closed.Add(1) }})
	if withoutPoller {
		s.pool.DropPoller()
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/here", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if (r.TLS != nil) != (s.pair != nil) {
			body = []byte("without what TLS has agreed")
		}
		_, _ = fmt.Fprintf(w, "here %s", body) // the client reports errors
	})
	mux.HandleFunc("/detached", s.detach)
	mux.HandleFunc("/stream", s.detachStream)
	s.Server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	var err error
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.addr = s.listener.Addr().String()
	if overTLS {
		s.pair = tlstest.New(t, "127.0.0.1")
		s.listener = tls.NewListener(s.listener, &tls.Config{Certificates: []tls.Certificate{s.pair.Certificate}})
	}
	for _, l := range []net.Listener{s.listener, s.pool} {
		s.serving.Go(func() { _ = s.Serve(l) })
	}
	t.Cleanup(func() {
		_ = s.Close()
		s.pool.Stop(t.Context()) // the context has ended, so the remaining calls are cancelled
		s.serving.Wait()
	})
	return s
}

// half is a response that announces twice its length.
const half = "half of it"

func (s *server) detach(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Before", "kept")
	p, ok := s.pool.Detach(w, r)
	if !ok {
		s.refused.Add(1)
		_, _ = io.WriteString(w, "not detached")
		return
	}
	s.detached <- p
	p.Go(func() {
		select {
		case text := <-s.answers:
			if text == half {
				p.Header().Set("Content-Length", strconv.Itoa(2*len(half)))
			}
			if s.panicky {
				panic(http.ErrAbortHandler)
			}
			p.Header().Set("Content-Type", "text/plain")
			p.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(p, text) // it never fails
			control := http.NewResponseController(p)
			_ = control.SetWriteDeadline(time.Now().Add(time.Minute))
			s.flushes <- control.Flush()
		case <-p.Context().Done():
			s.ends <- context.Cause(p.Context())
		}
	})
}

// detachStream starts its response in the handler and continues it detached, with a chunk for
// each text from answers, until the text is "end" or the call ends.
func (s *server) detachStream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "started ") // the client reports errors
	if err := http.NewResponseController(w).Flush(); err != nil {
		s.flushes <- err
		return
	}
	p, ok := s.pool.DetachStream(w, r)
	if !ok {
		s.refused.Add(1)
		return
	}
	s.detached <- p
	p.Go(func() {
		for {
			select {
			case text := <-s.answers:
				if text == "end" {
					return
				}
				_, _ = io.WriteString(p, text) // it never fails
				s.flushes <- http.NewResponseController(p).Flush()
				if s.panicky {
					panic(http.ErrAbortHandler)
				}
			case <-p.Context().Done():
				s.ends <- context.Cause(p.Context())
				return
			}
		}
	})
}

// connection is a client on one connection.
type connection struct {
	net.Conn
	in *bufio.Reader
	t  *testing.T
}

func (s *server) dial(t *testing.T) *connection {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if s.pair != nil {
		c = tls.Client(c, &tls.Config{RootCAs: s.pair.Roots(), ServerName: "127.0.0.1"})
	}
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return &connection{c, bufio.NewReader(c), t}
}

func (c *connection) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

func get(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n" }

func post(body string) string {
	return fmt.Sprintf("POST /here HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// answer is a complete response.
type answer struct {
	status int
	header http.Header
	length int64 // the announced length
	closes bool  // the response announces the end of the connection
	body   string
}

func (c *connection) read() answer {
	c.t.Helper()
	read, err := http.ReadResponse(c.in, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	defer read.Body.Close()
	body, err := io.ReadAll(read.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer{read.StatusCode, read.Header, read.ContentLength, read.Close, string(body)}
}

// ended reports whether the server has closed the connection.
func (c *connection) ended() bool {
	_, err := c.in.ReadByte()
	return err != nil && !strings.Contains(err.Error(), "timeout")
}

// A detached call is answered like any other, and the connection serves further requests,
// repeatedly, in the handler and detached.
func TestDetachedCallAndNextRequests(t *testing.T) {
	s := start(t, time.Minute)
	c := s.dial(t)
	for i := range 20 {
		c.send(post("I am"))
		if got := c.read(); got.body != "here I am" {
			t.Fatalf("round %d: in the handler: %q", i, got.body)
		}
		c.send(get("/detached"))
		<-s.detached
		s.answers <- "at last"
		got := c.read()
		if got.status != http.StatusAccepted || got.body != "at last" || got.header.Get("X-Before") != "kept" || got.header.Get("Content-Type") != "text/plain" ||
			got.header.Get("Date") == "" || got.length != 7 || got.closes {
			t.Fatalf("round %d: detached: %+v", i, got)
		}
		if err := <-s.flushes; err != nil {
			t.Fatal(err)
		}
	}
	// The client may receive the response shortly before the pool counts it. The connection
	// serves another request only after that.
	c.send(post("still"))
	if got := c.read(); got.body != "here still" {
		t.Fatalf("after the last detached call: %q", got.body)
	}
	if n := s.pool.Count(); n != 0 {
		t.Errorf("%d calls are detached after the last answer", n)
	}
}

// Requests that arrive before the response are served after it.
func TestPipelinedRequests(t *testing.T) {
	for name, cut := range map[string]int{"with the first": -1, "all after it": 0, "the first byte after it": 1, "half of it after it": 20} {
		t.Run(name, func(t *testing.T) {
			s := start(t, time.Minute)
			c := s.dial(t)
			next := post("one") + post(strings.Repeat("two", 3000)) + get("/here")
			if cut < 0 {
				c.send(get("/detached") + next)
				<-s.detached
			} else {
				c.send(get("/detached"))
				<-s.detached
				c.send(next[:cut])
			}
			s.answers <- "first"
			if err := <-s.flushes; err != nil {
				t.Fatal(err)
			}
			if cut >= 0 {
				c.send(next[cut:])
			}
			for _, want := range []string{"first", "here one", "here " + strings.Repeat("two", 3000), "here "} {
				if got := c.read(); got.body != want {
					t.Fatalf("got %.40q, want %.40q", got.body, want)
				}
			}
		})
	}
}

// A client that disconnects ends the call, and Closed is called once.
func TestDisconnectEndsCall(t *testing.T) {
	s := start(t, time.Minute)
	c := s.dial(t)
	c.send(get("/detached"))
	<-s.detached
	_ = c.Close()
	if err := <-s.ends; err == nil || !strings.Contains(err.Error(), "disconnected") {
		t.Errorf("got the cause %v, want the disconnect", err)
	}
	for s.closed.Load() == 0 {
		runtime.Gosched()
	}
	if n := s.closed.Load(); n != 1 {
		t.Errorf("got %d calls of Closed for one connection", n)
	}
}

// A call that ends without an answer, or with http.ErrAbortHandler, ends its connection.
func TestCallWithoutResponseClosesConnection(t *testing.T) {
	s := start(t, time.Minute)
	s.panicky = true
	c := s.dial(t)
	c.send(get("/detached"))
	<-s.detached
	s.answers <- "never sent"
	if !c.ended() {
		t.Error("the connection is still open")
	}
}

// A response that is shorter than announced must not look complete.
func TestShortResponseClosesConnection(t *testing.T) {
	s := start(t, time.Minute)
	c := s.dial(t)
	c.send(get("/detached"))
	<-s.detached
	s.answers <- half
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); !errors.Is(err, io.ErrUnexpectedEOF) || string(body) != half {
		t.Errorf("it reads as %q, %v", body, err)
	}
	if err := <-s.flushes; !errors.Is(err, http.ErrContentLength) {
		t.Errorf("got the error %v of the flush", err)
	}
}

func TestIdleConnectionCloses(t *testing.T) {
	s := start(t, time.Millisecond)
	c := s.dial(t)
	c.send(get("/detached"))
	<-s.detached
	s.answers <- "last"
	if got := c.read(); got.body != "last" {
		t.Fatalf("got %q", got.body)
	}
	if !c.ended() {
		t.Error("the connection is still open")
	}
}

// Stop lets detached calls finish, announces the end of their connections, closes connections
// without a call immediately, and accepts no others.
func TestStopWaitsForAnswers(t *testing.T) {
	s := start(t, time.Hour)
	idle, waiting := s.dial(t), s.dial(t)
	for _, c := range []*connection{idle, waiting} {
		c.send(get("/detached"))
		<-s.detached
		if c == idle {
			s.answers <- "answered before"
			c.read()
		}
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.pool.Stop(context.Background())
	}()
	if !idle.ended() {
		t.Error("a connection without a call is still open")
	}
	select {
	case <-stopped:
		t.Fatal("Stop returned while a call was detached")
	default:
	}
	s.answers <- "to the end"
	if got := waiting.read(); got.body != "to the end" || !got.closes {
		t.Errorf("got %+v, want the end of the connection announced", got)
	}
	<-stopped
	if !waiting.ended() {
		t.Error("a connection is open after its response")
	}
	late := s.dial(t)
	late.send(get("/detached"))
	if got := late.read(); got.body != "not detached" || s.refused.Load() != 1 {
		t.Errorf("after Stop: %q", got.body)
	}
	if n := s.closed.Load(); n != 2 {
		t.Errorf("got %d calls of Closed, want 2", n)
	}
}

// Stop cancels calls that do not finish in time.
func TestStopCancelsCalls(t *testing.T) {
	s := start(t, time.Hour)
	c := s.dial(t)
	c.send(get("/detached"))
	<-s.detached
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.pool.Stop(ctx)
	if err := <-s.ends; err == nil {
		t.Error("the call is still running")
	}
	if !c.ended() {
		t.Error("the connection is still open")
	}
}

// A nil pool detaches no call, however long it waits.
func TestNilPoolDetachesNothing(t *testing.T) {
	var none *detach.Pool
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(get("/"))))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := none.Detach(nil, r); ok || none.After() < time.Hour {
		t.Errorf("detached %v, after %v", ok, none.After())
	}
}

// Connections that end with their response are not detached; the response is the same.
func TestClosingConnectionsAreNotDetached(t *testing.T) {
	s := start(t, time.Minute)
	for _, request := range []string{"GET /detached HTTP/1.0\r\n\r\n", "GET /detached HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"} {
		c := s.dial(t)
		c.send(request)
		if got := c.read(); got.body != "not detached" {
			t.Errorf("%q: %q", request, got.body)
		}
	}
}

// A stream that started in the handler continues detached, each flush arrives, and after its
// end the connection serves further requests.
func TestDetachedStream(t *testing.T) {
	s := start(t, time.Minute)
	c := s.dial(t)
	for round := range 10 {
		c.send(get("/stream"))
		res, err := http.ReadResponse(c.in, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		<-s.detached
		got := readText(t, res.Body, "started ")
		for _, text := range []string{"one ", strings.Repeat("two ", 3000), "three"} {
			s.answers <- text
			if err := <-s.flushes; err != nil {
				t.Fatal(err)
			}
			got += readText(t, res.Body, text)
		}
		s.answers <- "end"
		if rest, err := io.ReadAll(res.Body); err != nil || len(rest) > 0 {
			t.Fatalf("round %d: the stream ends with %q, %v", round, rest, err)
		}
		if want := "started one " + strings.Repeat("two ", 3000) + "three"; got != want || res.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("round %d: got %.60q of %d bytes, header %v", round, got, len(got), res.Header)
		}
		c.send(post("still"))
		if got := c.read(); got.body != "here still" {
			t.Fatalf("round %d: after the stream: %q", round, got.body)
		}
	}
}

// readText reads as many bytes as want has.
func readText(t *testing.T, from io.Reader, want string) string {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(from, got); err != nil {
		t.Fatalf("%v, want %.20q", err, want)
	}
	return string(got)
}

// A stream whose function panics has no end, so that no client takes it for complete.
func TestStreamThatIsAbortedHasNoEnd(t *testing.T) {
	s := start(t, time.Minute)
	s.panicky = true
	c := s.dial(t)
	c.send(get("/stream"))
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	<-s.detached
	s.answers <- "half"
	if got, err := io.ReadAll(res.Body); !errors.Is(err, io.ErrUnexpectedEOF) || string(got) != "started half" {
		t.Errorf("it reads as %q, %v", got, err)
	}
}

// A client that disconnects ends a stream, and so does Cancel, whose client still gets the rest.
func TestStreamsEnd(t *testing.T) {
	s := start(t, time.Minute)
	c := s.dial(t)
	c.send(get("/stream"))
	call := <-s.detached
	cause := errors.New("cancelled by the test")
	call.Cancel(cause)
	if err := <-s.ends; !errors.Is(err, cause) {
		t.Errorf("got the cause %v of a cancelled call", err)
	}
	if got := c.read(); got.body != "started " {
		t.Errorf("got %q of a cancelled call", got.body)
	}
	c.send(get("/stream"))
	<-s.detached
	_ = c.Close()
	if err := <-s.ends; err == nil || !strings.Contains(err.Error(), "disconnected") {
		t.Errorf("got the cause %v, want the disconnect", err)
	}
}

var everything = map[string]func(*testing.T){
	"requests": TestDetachedCallAndNextRequests, "pipelined": TestPipelinedRequests, "disconnect": TestDisconnectEndsCall,
	"no response": TestCallWithoutResponseClosesConnection, "stop": TestStopWaitsForAnswers, "cancel": TestStopCancelsCalls, "idle": TestIdleConnectionCloses,
	"streams": TestDetachedStream, "ends": TestStreamsEnd,
}

// Everything is the same on systems without epoll.
func TestWithoutPoller(t *testing.T) {
	withoutPoller = true
	defer func() { withoutPoller = false }()
	for name, test := range everything {
		t.Run(name, test)
	}
}

// Everything is the same over TLS, with HTTP/1.1.
func TestOverTLS(t *testing.T) {
	overTLS = true
	defer func() { overTLS = false }()
	for name, test := range everything {
		t.Run(name, test)
	}
	t.Run("without poller", TestWithoutPoller)
}
