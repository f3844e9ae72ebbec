package detach_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/detach"
)

// stopping is a response whose server is stopped while it hands its connection over: the server closes
// its listeners, of which the pool is one, and gives no connection away before it has done so.
type stopping struct {
	*httptest.ResponseRecorder
	t    *testing.T
	pool *detach.Pool
	conn net.Conn
}

func (s *stopping) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = s.pool.Close() // it never fails
	}()
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		s.t.Error("Close waits for a connection that is detached")
	}
	return s.conn, bufio.NewReadWriter(bufio.NewReader(s.conn), bufio.NewWriter(s.conn)), nil
}

// A server can be stopped while a call is being detached: Stop waits for it, and nothing for Stop.
func TestCloseDuringADetachment(t *testing.T) {
	pool := detach.New(detach.Options{Idle: time.Minute})
	near, far := net.Pipe()
	defer func() { _ = far.Close() }() // it was only read
	w := &stopping{ResponseRecorder: httptest.NewRecorder(), t: t, pool: pool, conn: near}
	c, ok := pool.Detach(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	if !ok {
		t.Fatal("the call was not detached")
	}
	c.Go(func() {})
	pool.Stop(context.Background())
	if pool.Count() != 0 {
		t.Error("a call is left")
	}
}
