package program

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
)

// RestartLimit is the time within which a server must respond after its start. More
// counts only without the time for which other processes had the processors.
const RestartLimit = 2 * time.Second

// startTimeout ends a start that does not succeed.
const startTimeout = 30 * time.Second

// Server is a real binary with its data directory, which is started and killed any number
// of times. It keeps its address across all lives. It must not be used concurrently, except
// for URL and Ready.
type Server struct {
	Binary, Data, Addr string
	Args               []string // additional flags of its next life
	Env                []string // additional environment variables of its next life

	Life    int           // the number of its starts
	Process *exec.Cmd     // of its last life
	Ended   chan struct{} // closed when its last life has ended
	Slowest time.Duration // the slowest of its starts; above RestartLimit, without waiting for a CPU

	output *os.File
}

// NewServer returns a server that has not been started, with a new data directory.
func NewServer(t *testing.T, binary string) *Server {
	t.Helper()
	return NewServerIn(t, binary, t.TempDir())
}

// NewServerIn is like NewServer, with a data directory that exists or not.
func NewServerIn(t *testing.T, binary, data string) *Server {
	t.Helper()
	s := &Server{Binary: binary, Data: data, Addr: FreeAddr(t)}
	var err error
	if s.output, err = os.Create(filepath.Join(t.TempDir(), "server.log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			t.Logf("the last output of the server:\n%s", s.lastWords(8<<10))
		}
		_ = s.output.Close() // read completely
	})
	return s
}

// lastWords returns the end of the server's output on standard error.
func (s *Server) lastWords(most int) string {
	output, err := os.ReadFile(s.output.Name())
	if err != nil {
		return err.Error()
	}
	return string(output[max(0, len(output)-most):])
}

// URL returns the URL of the server, without a slash at its end.
func (s *Server) URL() string { return "http://" + s.Addr }

// Start starts the next life and returns the time until the server was ready.
func (s *Server) Start(t *testing.T) time.Duration {
	t.Helper()
	took, err := s.TryStart(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return took
}

// TryStart is like Start, for a server that may refuse to start. Then the error contains
// its exit status and output.
func (s *Server) TryStart(ctx context.Context) (time.Duration, error) {
	s.Life++
	s.Process = exec.Command(s.Binary, append([]string{"serve", "--addr", s.Addr, "--data", s.Data, "--allow-private", "127.0.0.0/8"}, s.Args...)...)
	s.Process.Stderr = s.output
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SHOAL_") {
			s.Process.Env = append(s.Process.Env, v)
		}
	}
	s.Process.Env = append(s.Process.Env, s.Env...)
	began := time.Now()
	if err := s.Process.Start(); err != nil {
		return 0, err
	}
	process, ended := s.Process, make(chan struct{})
	s.Ended = ended
	go func() {
		defer close(ended)
		_ = process.Wait() // ProcessState has the result
	}()
	for {
		if s.Ready(ctx) {
			took := time.Since(began)
			s.Slowest = max(s.Slowest, min(took, max(RestartLimit, took-WaitedForCPU(process.Process))))
			return took, nil
		}
		select {
		case <-ended:
			return 0, &ExitError{State: process.ProcessState, output: s.lastWords(2 << 10)}
		case <-time.After(time.Millisecond):
		}
		if time.Since(began) > startTimeout {
			return 0, fmt.Errorf("life %d of the server does not respond:\n%s", s.Life, s.lastWords(2<<10))
		}
	}
}

// ExitError reports that a server exited during its start.
type ExitError struct {
	State *os.ProcessState

	output string
}

// Error implements error.
func (e *ExitError) Error() string {
	return fmt.Sprintf("the server exited during its start: %v\n%s", e.State, e.output)
}

// Killed reports whether a server was killed.
func Killed(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// Probe uses a new connection for each request, so that none is left from an earlier life.
var Probe = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}

// Ready reports whether the server says that it is ready.
func (s *Server) Ready(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+"/readyz", nil)
	if err != nil {
		return false
	}
	res, err := Probe.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close() // only the status matters
	return res.StatusCode == http.StatusOK
}

// Kill kills the server, also a stopped one, and returns when it has ended.
func (s *Server) Kill() {
	if s.Process == nil || s.Process.Process == nil {
		return
	}
	if err := s.Process.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		panic(err)
	}
	<-s.Ended
}

// Signal sends a signal to the server, if it is still running.
func (s *Server) Signal(sig syscall.Signal) { _ = s.Process.Process.Signal(sig) }

// Stop stops the server with SIGTERM, and returns a finding, empty if there is none.
func (s *Server) Stop() string {
	s.Signal(syscall.SIGTERM)
	select {
	case <-s.Ended:
		if code := s.Process.ProcessState.ExitCode(); code != 0 {
			return fmt.Sprintf("end: the stopped server exited with %d", code)
		}
		return ""
	case <-time.After(10 * time.Second):
		s.Kill()
		return "end: the server did not stop within 10 s"
	}
}

// Died waits until the server exits and returns its exit code, -1 if it is still running
// after limit.
func (s *Server) Died(limit time.Duration) int {
	select {
	case <-s.Ended:
		return s.Process.ProcessState.ExitCode()
	case <-time.After(limit):
		return -1
	}
}

// Goroutines ends a server that hangs, and returns what each of its goroutines was doing.
func (s *Server) Goroutines() string {
	s.Signal(syscall.SIGQUIT)
	s.Died(10 * time.Second)
	return s.lastWords(256 << 10)
}
