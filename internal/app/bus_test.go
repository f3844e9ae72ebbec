package app

import (
	"net/http"
	"testing"

	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
)

// A server that stops is not ready at first, so that callers go to other servers, and still
// serves those that come. One without others does not wait for that.
func TestDrain(t *testing.T) {
	database := postgrestest.Database(t)
	start := func(name string) *Server {
		t.Helper()
		s, err := Start(t.Context(), Config{Data: t.TempDir(), Addr: "127.0.0.1:0", Database: database, Node: name})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	status := func(s *Server, path string) int {
		t.Helper()
		r, err := http.Get(s.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		return r.StatusCode
	}
	alone := start("one")
	defer alone.Stop()
	alone.drain()
	if got := status(alone, "/readyz"); got != http.StatusOK {
		t.Errorf("a server without others drains: /readyz answers %d", got)
	}

	other := start("two")
	defer other.Stop()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		other.drain()
	}()
	refused := 0
	for ended := false; !ended; {
		select {
		case <-drained:
			ended = true
		default:
			if status(other, "/readyz") == http.StatusServiceUnavailable && status(other, "/healthz") == http.StatusOK {
				refused++
			}
		}
	}
	if refused == 0 {
		t.Error("a server that stops was ready until it ended, or did not serve")
	}
}
