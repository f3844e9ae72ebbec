package faultproxy_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/faultproxy"
)

// echo starts a server that returns what it receives.
func echo(t *testing.T, network, address string) string {
	t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c) // until it is cut
			}()
		}
	}()
	return listener.Addr().String()
}

func newProxy(t *testing.T) *faultproxy.Proxy {
	t.Helper()
	return faultproxy.New(t, "tcp", echo(t, "tcp", "127.0.0.1:0"))
}

func dial(t *testing.T, p *faultproxy.Proxy) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// answered reads text from the connection, or fails the test.
func answered(t *testing.T, c net.Conn, text string) {
	t.Helper()
	got := make([]byte, len(text))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != text {
		t.Fatalf("got %q %v, want %q", got, err, text)
	}
}

// wasReset checks that c returns text and is then reset.
func wasReset(t *testing.T, c net.Conn, text string) {
	t.Helper()
	got, err := io.ReadAll(c)
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection ended with %v, want a reset", err)
	}
	if len(got) > len(text) || string(got) != text[:len(got)] {
		t.Errorf("got %q before the reset, want %q or a prefix of it", got, text)
	}
}

func TestWhatIsCarriedIsNotChanged(t *testing.T) {
	p := newProxy(t)
	c := dial(t, p)
	text := bytes.Repeat([]byte("all of this, "), 100_000)
	go func() { _, _ = c.Write(text) }()
	answered(t, c, string(text))
}

func TestAServerOnAUnixSocket(t *testing.T) {
	p := faultproxy.New(t, "unix", echo(t, "unix", filepath.Join(t.TempDir(), "socket")))
	c := dial(t, p)
	send(t, c, "hello")
	answered(t, c, "hello")
}

func TestADelayHoldsForOpenConnectionsToo(t *testing.T) {
	p := newProxy(t)
	c := dial(t, p)
	send(t, c, "fast")
	answered(t, c, "fast")
	const late = 50 * time.Millisecond
	p.Harm(faultproxy.Fault{}, faultproxy.Fault{Delay: late})
	began := time.Now()
	send(t, c, "slow")
	answered(t, c, "slow")
	if took := time.Since(began); took < late {
		t.Errorf("the response took %v, want at least %v", took, late)
	}
}

func TestARateIsKept(t *testing.T) {
	p := newProxy(t)
	p.Harm(faultproxy.Fault{}, faultproxy.Fault{Rate: 100})
	c := dial(t, p)
	began := time.Now()
	send(t, c, "0123456789012345678901234567890") // the pause after the 30th byte is the third
	answered(t, c, "0123456789012345678901234567890")
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("31 bytes at 100 bytes/s took %v", took)
	}
}

// For a slow reader, the proxy does not read bytes that it cannot pass on.
func TestWhatIsNotPassedOnIsNotRead(t *testing.T) {
	p := newProxy(t)
	p.Harm(faultproxy.Fault{}, faultproxy.Fault{Rate: 1})
	c := dial(t, p)
	if err := c.SetWriteDeadline(time.Now().Add(2 * time.Second)); err != nil {
		t.Fatal(err)
	}
	const most = 64 << 20
	var err error
	sent := 0
	for n := 0; err == nil && sent < most; sent += n {
		n, err = c.Write(make([]byte, 1<<20))
	}
	if sent >= most {
		t.Errorf("%d bytes went to a reader of one byte a second", sent)
	}
}

func TestSilenceHoldsBackUntilItIsHealed(t *testing.T) {
	for name, harm := range map[string][2]faultproxy.Fault{
		"requests": {{Silent: true}, {}}, "answers": {{}, {Silent: true}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProxy(t)
			c := dial(t, p)
			send(t, c, "before ")
			answered(t, c, "before ")
			p.Harm(harm[0], harm[1])
			send(t, c, "meanwhile")
			if err := c.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			if n, err := c.Read(make([]byte, 1)); n != 0 || !errors.Is(err, syscall.EAGAIN) && !isTimeout(err) {
				t.Errorf("got %d bytes and error %v from a silent connection", n, err)
			}
			if err := c.SetReadDeadline(time.Time{}); err != nil {
				t.Fatal(err)
			}
			p.Heal()
			answered(t, c, "meanwhile")
		})
	}
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

func TestACutBehindSoManyBytes(t *testing.T) {
	p := newProxy(t)
	p.Harm(faultproxy.Fault{}, faultproxy.Fault{Gate: faultproxy.After(4)})
	for range 2 { // each connection counts separately
		c := dial(t, p)
		send(t, c, "whole")
		wasReset(t, c, "whol")
	}
	if n := p.Cuts(); n != 2 {
		t.Errorf("Cuts = %d", n)
	}
}

func TestACutBehindAPattern(t *testing.T) {
	gate := faultproxy.On([]byte("event: b"))()
	for _, piece := range []string{"event: a\n\neve", "nt", ": ", "a event: "} {
		if n, cut := gate([]byte(piece)); n != len(piece) || cut {
			t.Fatalf("%q: %d %v", piece, n, cut)
		}
	}
	if n, cut := gate([]byte("b and more")); n != 1 || !cut {
		t.Errorf("end of the pattern: %d bytes passed, cut %v", n, cut)
	}
	if n, cut := faultproxy.On([]byte("b"))()([]byte("abc")); n != 2 || !cut {
		t.Errorf("pattern in one piece: %d bytes passed, cut %v", n, cut)
	}
}

func TestRequestsCanBeCutToo(t *testing.T) {
	p := newProxy(t)
	p.Harm(faultproxy.Fault{Gate: faultproxy.On([]byte("bad"))}, faultproxy.Fault{})
	c := dial(t, p)
	send(t, c, "good, ")
	answered(t, c, "good, ")
	send(t, c, "bad")
	wasReset(t, c, "bad")
}

func TestACutRefusesUntilItIsHealed(t *testing.T) {
	p := newProxy(t)
	c := dial(t, p)
	send(t, c, "x")
	answered(t, c, "x")
	p.Cut()
	wasReset(t, c, "")
	if refused, err := net.Dial("tcp", p.Addr()); err == nil { // or the reset came first
		if n, err := refused.Read(make([]byte, 1)); err == nil {
			t.Errorf("got %d bytes after Cut", n)
		}
		_ = refused.Close()
	}
	p.Heal()
	c = dial(t, p)
	send(t, c, "again")
	answered(t, c, "again")
}

func TestNothingIsLeftBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("a test that leaves everything open", func(t *testing.T) {
		p := newProxy(t)
		for range 10 {
			c := dial(t, p)
			send(t, c, "x")
			answered(t, c, "x")
		}
		if n := p.Open(); n != 10 {
			t.Errorf("%d connections are open", n)
		}
		p.Harm(faultproxy.Fault{Silent: true}, faultproxy.Fault{Rate: 1})
	})
	for began := time.Now(); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Since(began) > time.Minute {
			t.Fatalf("%d goroutines, %d before the test", runtime.NumGoroutine(), before)
		}
	}
}
