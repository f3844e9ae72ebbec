package e2e_test

import (
	"net"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
)

// The parent of the server may forward a signal that the server has received already
// with its whole process group: make does so with SIGTERM, npm with SIGINT. The two
// signals count as one request, and clients are not disconnected.
func TestSignalIsForwarded(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := serve(t, t.TempDir())
			scout := ts1HTTP.connect(t, s, "scout", s.key(t, shoal.DefaultSession, "scout"))
			wait := scout.begin(t, "wait_for_messages", args{"timeoutMs": 60000})
			s.untilWaiting(t, shoal.DefaultSession, "scout")
			s.signal(sig)
			for s.listens() {
				runtime.Gosched()
			}
			s.signal(sig)
			if _, err := s.end(); err != nil {
				t.Errorf("the server ends with %v", err)
			}
			var got shoal.WaitResult
			if succeeded(t, wait, &got); !got.TimedOut {
				t.Errorf("the wait ends with %+v, want a time-out", got)
			}
		})
	}
}

func (s *server) dial() (net.Conn, error) {
	return net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
}

// listens reports whether the server takes connections.
func (s *server) listens() bool {
	conn, err := s.dial()
	if err == nil {
		_ = conn.Close() // nothing was sent over it
	}
	return err == nil
}

// A busy client does not wait for clients that are slow to end.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	slow, err := s.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	halfSent := "POST /v1/sessions/default/spaces/welcome/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + s.admin +
		"\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n"
	if _, err := slow.Write([]byte(halfSent)); err != nil {
		t.Fatal(err)
	}
	if _, err := slow.Read(make([]byte, 1)); err != nil { // it asks for the body
		t.Fatal(err)
	}
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for ended := false; !ended; {
		s.signal(syscall.SIGTERM)
		select {
		case <-s.ended:
			ended = true
		case <-again.C:
		}
	}
	if _, err := s.end(); err == nil || err.Error() != "signal: terminated" {
		t.Errorf("the server ends with %v, want it ended by the signal", err)
	}
}
