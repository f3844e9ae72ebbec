package crash

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // to look at the database from outside
)

// server is the real binary with its data directory. It keeps one address over
// all of its lives.
type server struct {
	binary, data, addr string
	life               int
	process            *exec.Cmd
	ended              chan struct{}
	said               *os.File
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{binary: filepath.Join(t.TempDir(), "shoal"), data: t.TempDir(), addr: freeAddr(t)}
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", s.binary, "./cmd/shoal")
	build.Dir, build.Env = filepath.Join("..", ".."), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build ./cmd/shoal: %v\n%s", err, out)
	}
	var err error
	if s.said, err = os.Create(filepath.Join(t.TempDir(), "server.log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.kill()
		if said, err := os.ReadFile(s.said.Name()); err == nil && t.Failed() {
			t.Logf("the server said at last:\n%s", said[max(0, len(said)-8<<10):])
		}
		_ = s.said.Close() // it was read
	})
	return s
}

// freeAddr returns an address that stays free while the server is down: its port
// is below those that the system gives to connections.
func freeAddr(t *testing.T) string {
	t.Helper()
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", 12000+rand.IntN(18000))
		if l, err := net.Listen("tcp", addr); err == nil {
			_ = l.Close() // it was only asked whether it is free
			return addr
		}
	}
	t.Fatal("found no free port")
	return ""
}

func (s *server) url() string { return "http://" + s.addr }

// start starts the next life and returns how long it took until the server was
// ready.
func (s *server) start(t *testing.T) time.Duration {
	t.Helper()
	s.life++
	s.process = exec.Command(s.binary, "serve", "--addr", s.addr, "--data", s.data)
	s.process.Stderr = s.said
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SHOAL_") {
			s.process.Env = append(s.process.Env, v)
		}
	}
	began := time.Now()
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	process, ended := s.process, make(chan struct{})
	s.ended = ended
	go func() {
		defer close(ended)
		_ = process.Wait() // how it ended is asked of ProcessState
	}()
	for {
		if s.ready(t.Context()) {
			return time.Since(began)
		}
		select {
		case <-ended:
			t.Fatalf("life %d of the server ended at its start: %v", s.life, process.ProcessState)
		case <-time.After(time.Millisecond):
		}
		if time.Since(began) > settleLimit {
			t.Fatalf("life %d of the server does not answer", s.life)
		}
	}
}

// probe opens a connection for each question: none is left from an earlier life.
var probe = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}

func (s *server) ready(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url()+"/readyz", nil)
	if err != nil {
		return false
	}
	res, err := probe.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close() // only the status counts
	return res.StatusCode == http.StatusOK
}

// kill ends this life without a warning.
func (s *server) kill() {
	if s.process == nil {
		return
	}
	if err := s.process.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		panic(err)
	}
	<-s.ended
}

// stop ends this life as an operator does.
func (s *server) stop(t *testing.T) {
	t.Helper()
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.ended:
		if code := s.process.ProcessState.ExitCode(); code != 0 {
			t.Errorf("the stopped server exited with %d", code)
		}
	case <-time.After(5 * time.Second):
		t.Error("the server does not stop within 5 s")
	}
}

// checkDatabase asks SQLite whether the database that all the kills left is
// sound.
func (s *server) checkDatabase(t *testing.T) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(s.data, "shoal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // nothing was written
	rows, err := db.QueryContext(t.Context(), "PRAGMA integrity_check")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var finding string
		if err := rows.Scan(&finding); err != nil {
			t.Fatal(err)
		}
		if finding != "ok" {
			t.Errorf("integrity_check: %s", finding)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
