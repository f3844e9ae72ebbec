package natstest_test

import (
	"net"
	"testing"

	"github.com/shoal-dev/shoal/internal/shoaltest/natstest"
)

// A killed server is gone, with its connections, and starts again on the same port.
func TestServer(t *testing.T) {
	n := natstest.New(t)
	first := n.Addr
	for range 2 {
		c, err := net.Dial("tcp", n.Addr)
		if err != nil {
			t.Fatal(err)
		}
		n.Kill()
		for buffer := make([]byte, 4096); err == nil; {
			_, err = c.Read(buffer) // its greeting, then the end
		}
		_ = c.Close() // it has ended already
		if again, err := net.Dial("tcp", n.Addr); err == nil {
			_ = again.Close() // nothing was sent
			t.Fatalf("a server listens on %s after Kill", n.Addr)
		}
		n.Start(t)
	}
	if n.Addr != first || n.URL() != "nats://"+first {
		t.Errorf("got address %s and URL %s, want %s for all starts", n.Addr, n.URL(), first)
	}
}
