package detach_test

import (
	"net"
	"runtime"
	"testing"
	"time"
)

// So it is over TLS.
func TestDetachedCallsOverTLSHoldOneGoroutineEach(t *testing.T) {
	overTLS = true
	defer func() { overTLS = false }()
	TestDetachedCallsHoldOneGoroutineEach(t)
}

// A detached call holds one goroutine: all connections are watched by one.
func TestDetachedCallsHoldOneGoroutineEach(t *testing.T) {
	s := start(t, time.Minute)
	const n = 100
	before := runtime.NumGoroutine()
	var clients []net.Conn
	for range n {
		c := s.dial(t)
		c.send(get("/detached"))
		<-s.detached
		clients = append(clients, c)
	}
	for began := time.Now(); runtime.NumGoroutine() > before+n+10; runtime.Gosched() { // the handlers are returning
		if time.Since(began) > 20*time.Second {
			t.Fatalf("%d goroutines for %d detached calls", runtime.NumGoroutine()-before, n)
		}
	}
	for _, c := range clients {
		_ = c.Close()
	}
	for range n {
		if err := <-s.ends; err == nil {
			t.Error("a call ended without the disconnect as its cause")
		}
	}
}
