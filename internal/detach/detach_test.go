package detach_test

import (
	"bufio"
	"context"
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
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server answers /here in its handler, and /parked on a parked connection, when it is
// told to by a name sent to its channel, or with "gone" by what ended the call.
type server struct {
	*http.Server
	lot      *detach.Lot
	addr     string
	parked   chan *detach.Call // those that have been parked
	answers  chan string       // what they are to answer
	ends     chan error        // the causes of those that ended without one
	flushes  chan error
	closed   atomic.Int64
	refused  atomic.Int64 // calls that could not be parked
	serving  sync.WaitGroup
	panicky  bool
	listener net.Listener
}

func start(t *testing.T, idle time.Duration) *server {
	t.Helper()
	s := &server{
		parked: make(chan *detach.Call, 100), answers: make(chan string, 100), ends: make(chan error, 100), flushes: make(chan error, 100),
	}
	s.lot = detach.New(detach.Options{Idle: idle, Closed: func(net.Conn) { s.closed.Add(1) }})
	mux := http.NewServeMux()
	mux.HandleFunc("/here", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "here %s", body) // whoever reads it tells
	})
	mux.HandleFunc("/parked", s.park)
	s.Server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	var err error
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.addr = s.listener.Addr().String()
	for _, l := range []net.Listener{s.listener, s.lot} {
		s.serving.Go(func() { _ = s.Serve(l) })
	}
	t.Cleanup(func() {
		_ = s.Close()
		s.lot.Stop(t.Context()) // which is over: whoever is left is cut off
		s.serving.Wait()
	})
	return s
}

// half is an answer that says that it is twice as long.
const half = "half of it"

func (s *server) park(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Before", "kept")
	p, ok := s.lot.Park(w, r)
	if !ok {
		s.refused.Add(1)
		_, _ = io.WriteString(w, "not parked")
		return
	}
	s.parked <- p
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

// answer is one, read to its end.
type answer struct {
	status int
	header http.Header
	length int64 // as it was announced
	closes bool  // the connection is said to end with it
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

// A parked call is answered as any other, and the connection serves what comes next:
// again and again, in the handler and parked.
func TestAParkedCallIsAnsweredAndTheConnectionGoesOn(t *testing.T) {
	s := start(t, time.Minute)
	c := s.dial(t)
	for i := range 20 {
		c.send(post("I am"))
		if got := c.read(); got.body != "here I am" {
			t.Fatalf("round %d: in the handler: %q", i, got.body)
		}
		c.send(get("/parked"))
		<-s.parked
		s.answers <- "at last"
		got := c.read()
		if got.status != http.StatusAccepted || got.body != "at last" || got.header.Get("X-Before") != "kept" || got.header.Get("Content-Type") != "text/plain" ||
			got.header.Get("Date") == "" || got.length != 7 || got.closes {
			t.Fatalf("round %d: parked: %+v", i, got)
		}
		if err := <-s.flushes; err != nil {
			t.Fatal(err)
		}
	}
	// A client has an answer a moment before the lot counts the call as answered; the
	// connection serves another request only after that.
	c.send(post("still"))
	if got := c.read(); got.body != "here still" {
		t.Fatalf("after the last parked call: %q", got.body)
	}
	if n := s.lot.Parked(); n != 0 {
		t.Errorf("%d calls are parked after the last answer", n)
	}
}

// What comes before the answer is served behind it.
func TestRequestsBeforeTheAnswerAreServedBehindIt(t *testing.T) {
	for name, cut := range map[string]int{"with the first": -1, "all behind it": 0, "the first byte behind it": 1, "half of it behind it": 20} {
		t.Run(name, func(t *testing.T) {
			s := start(t, time.Minute)
			c := s.dial(t)
			next := post("one") + post(strings.Repeat("two", 3000)) + get("/here")
			if cut < 0 {
				c.send(get("/parked") + next)
				<-s.parked
			} else {
				c.send(get("/parked"))
				<-s.parked
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

// Whoever goes away ends the call, and the connection is told to have ended, once.
func TestAClientThatGoesAwayEndsTheCall(t *testing.T) {
	s := start(t, time.Minute)
	c := s.dial(t)
	c.send(get("/parked"))
	<-s.parked
	_ = c.Close()
	if err := <-s.ends; err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("the call ended by %v", err)
	}
	for s.closed.Load() == 0 {
		runtime.Gosched()
	}
	if n := s.closed.Load(); n != 1 {
		t.Errorf("one connection was told to have ended %d times", n)
	}
}

// A call that ends without an answer, or in a panic that says so, ends its connection.
func TestACallWithoutAnAnswerEndsItsConnection(t *testing.T) {
	s := start(t, time.Minute)
	s.panicky = true
	c := s.dial(t)
	c.send(get("/parked"))
	<-s.parked
	s.answers <- "never told"
	if !c.ended() {
		t.Error("the connection goes on")
	}
}

// A connection on which nothing comes any more ends.
// What says that it is longer must not look whole.
func TestAnAnswerThatIsCutShortEndsItsConnection(t *testing.T) {
	s := start(t, time.Minute)
	c := s.dial(t)
	c.send(get("/parked"))
	<-s.parked
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
		t.Errorf("whoever answers is told %v", err)
	}
}

func TestAConnectionWithoutARequestEnds(t *testing.T) {
	s := start(t, time.Millisecond)
	c := s.dial(t)
	c.send(get("/parked"))
	<-s.parked
	s.answers <- "last"
	if got := c.read(); got.body != "last" {
		t.Fatalf("got %q", got.body)
	}
	if !c.ended() {
		t.Error("the connection goes on")
	}
}

// Stop lets calls that are parked be answered, tells their clients that the connection
// ends, ends those without a call at once, and takes no other.
func TestStopWaitsForAnswers(t *testing.T) {
	s := start(t, time.Hour)
	idle, waiting := s.dial(t), s.dial(t)
	for _, c := range []*connection{idle, waiting} {
		c.send(get("/parked"))
		<-s.parked
		if c == idle {
			s.answers <- "answered before"
			c.read()
		}
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.lot.Stop(context.Background())
	}()
	if !idle.ended() {
		t.Error("a connection without a call goes on")
	}
	select {
	case <-stopped:
		t.Fatal("stopped while a call was parked")
	default:
	}
	s.answers <- "to the end"
	if got := waiting.read(); got.body != "to the end" || !got.closes {
		t.Errorf("got %+v, want the end of the connection announced", got)
	}
	<-stopped
	if !waiting.ended() {
		t.Error("an answered connection goes on")
	}
	late := s.dial(t)
	late.send(get("/parked"))
	if got := late.read(); got.body != "not parked" || s.refused.Load() != 1 {
		t.Errorf("behind Stop: %q", got.body)
	}
	if n := s.closed.Load(); n != 2 {
		t.Errorf("%d connections were told to have ended, want 2", n)
	}
}

// Who does not answer in time is cut off.
func TestStopCutsOff(t *testing.T) {
	s := start(t, time.Hour)
	c := s.dial(t)
	c.send(get("/parked"))
	<-s.parked
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.lot.Stop(ctx)
	if err := <-s.ends; err == nil {
		t.Error("the call goes on")
	}
	if !c.ended() {
		t.Error("the connection goes on")
	}
}

// What cannot come back is not parked: the answer is as it would be anyway.
func TestWhatEndsWithItsAnswerIsNotParked(t *testing.T) {
	s := start(t, time.Minute)
	for _, request := range []string{"GET /parked HTTP/1.0\r\n\r\n", "GET /parked HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"} {
		c := s.dial(t)
		c.send(request)
		if got := c.read(); got.body != "not parked" {
			t.Errorf("%q: %q", request, got.body)
		}
	}
}
