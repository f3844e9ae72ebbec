package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// server is a real binary with its data directory. It keeps its address across all lives.
type server struct {
	binary, data, addr string
	env                []string // additional environment variables of its next life
	life               int
	process            *exec.Cmd
	ended              chan struct{}
	output             *os.File
	slowest            time.Duration // the slowest of its starts; above restartLimit, without waiting for a CPU
}

// newServer returns a server that has not been started, with a new data directory.
func newServer(t *testing.T, binary string) *server {
	t.Helper()
	return newServerIn(t, binary, t.TempDir())
}

func newServerIn(t *testing.T, binary, data string) *server {
	t.Helper()
	s := &server{binary: binary, data: data, addr: shoaltest.FreeAddr(t)}
	var err error
	if s.output, err = os.Create(filepath.Join(t.TempDir(), "server.log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("the last output of the server:\n%s", s.lastWords(8<<10))
		}
		_ = s.output.Close() // read completely
	})
	return s
}

// lastWords returns the end of the server's output on standard error.
func (s *server) lastWords(most int) string {
	output, err := os.ReadFile(s.output.Name())
	if err != nil {
		return err.Error()
	}
	return string(output[max(0, len(output)-most):])
}

func (s *server) url() string { return "http://" + s.addr }

// start starts the next life and returns the time until the server was ready.
func (s *server) start(t *testing.T) time.Duration {
	t.Helper()
	took, err := s.tryStart(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return took
}

// tryStart is like start, for a server that may refuse to start. Then the error contains
// its exit status and output.
func (s *server) tryStart(ctx context.Context) (time.Duration, error) {
	s.life++
	s.process = exec.Command(s.binary, "serve", "--addr", s.addr, "--data", s.data, "--allow-private", "127.0.0.0/8")
	s.process.Stderr = s.output
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SHOAL_") {
			s.process.Env = append(s.process.Env, v)
		}
	}
	s.process.Env = append(s.process.Env, s.env...)
	began := time.Now()
	if err := s.process.Start(); err != nil {
		return 0, err
	}
	process, ended := s.process, make(chan struct{})
	s.ended = ended
	go func() {
		defer close(ended)
		_ = process.Wait() // ProcessState has the result
	}()
	for {
		if s.ready(ctx) {
			took := time.Since(began)
			s.slowest = max(s.slowest, min(took, max(restartLimit, took-program.WaitedForCPU(process.Process))))
			return took, nil
		}
		select {
		case <-ended:
			return 0, &exitError{process.ProcessState, s.lastWords(2 << 10)}
		case <-time.After(time.Millisecond):
		}
		if time.Since(began) > settleLimit {
			return 0, fmt.Errorf("life %d of the server does not respond:\n%s", s.life, s.lastWords(2<<10))
		}
	}
}

// exitError reports that a server exited during its start.
type exitError struct {
	state  *os.ProcessState
	output string
}

func (e *exitError) Error() string {
	return fmt.Sprintf("the server exited during its start: %v\n%s", e.state, e.output)
}

// killed reports whether a server was killed.
func killed(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// probe uses a new connection for each request, so that none is left from an earlier life.
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
	_ = res.Body.Close() // only the status matters
	return res.StatusCode == http.StatusOK
}

// kill kills the server.
func (s *server) kill() {
	if s.process == nil || s.process.Process == nil {
		return
	}
	if err := s.process.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		panic(err)
	}
	<-s.ended
}

// signal sends a signal to the server, if it is still running.
func (s *server) signal(sig syscall.Signal) { _ = s.process.Process.Signal(sig) }

// stop stops the server with SIGTERM, and returns a finding, empty if there is none.
func (s *server) stop() string {
	s.signal(syscall.SIGTERM)
	select {
	case <-s.ended:
		if code := s.process.ProcessState.ExitCode(); code != 0 {
			return fmt.Sprintf("end: the stopped server exited with %d", code)
		}
		return ""
	case <-time.After(10 * time.Second):
		s.kill()
		return "end: the server did not stop within 10 s"
	}
}

// died waits until the server exits and returns its exit code, -1 if it is still running
// after limit.
func (s *server) died(limit time.Duration) int {
	select {
	case <-s.ended:
		return s.process.ProcessState.ExitCode()
	case <-time.After(limit):
		return -1
	}
}
