// Package natstest starts servers of NATS for tests.
package natstest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// Server is a nats-server for one test, which may kill it and start it again. It must
// not be used concurrently.
type Server struct {
	// Addr is where it listens, as host:port, across all of its starts.
	Addr string

	binary   string
	lifeline io.WriteCloser // nats-server runs while it is open; nil if it does not run
	script   *exec.Cmd
	output   strings.Builder // of the current start
}

// natsScript runs its arguments until its standard input ends, which is when the process at
// the other end is gone, and kills them.
const natsScript = `"$@" </dev/null >&2 & cat >/dev/null; kill -KILL $!; wait`

// natsStarts is the time within which a server must listen, on a busy machine.
const natsStarts = 30 * time.Second

// New starts a server of core NATS without any storage on a free port of the
// loopback address. It is killed when the test or its process ends. If nats-server is not
// built, the test fails with the command that builds it.
func New(t testing.TB) *Server {
	t.Helper()
	n := &Server{Addr: program.FreeAddr(t), binary: program.Installed(t, ".cache/bin/nats-server")}
	n.Start(t)
	t.Cleanup(n.Kill)
	return n
}

// URL returns the URL of the server.
func (n *Server) URL() string { return "nats://" + n.Addr }

// Start starts the server again, after Kill, and returns when it accepts connections.
func (n *Server) Start(t testing.TB) {
	t.Helper()
	if n.lifeline != nil {
		t.Fatal("nats-server is running already")
	}
	host, port, err := net.SplitHostPort(n.Addr)
	if err != nil {
		t.Fatal(err)
	}
	n.output.Reset()
	n.script = exec.Command("sh", "-c", natsScript, "sh", n.binary, "-a", host, "-p", port)
	n.script.Stderr = &n.output
	n.script.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C must not end the script before the server
	lifeline, err := n.script.StdinPipe()
	if err == nil {
		err = n.script.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	n.lifeline = lifeline
	for began := time.Now(); n.greets() != nil; <-time.After(5 * time.Millisecond) {
		if time.Since(began) > natsStarts {
			err := n.greets()
			n.Kill()
			t.Fatalf("nats-server does not listen on %s: %v\n%s", n.Addr, err, n.output.String())
		}
	}
}

// greets returns nil if the server accepts a connection and introduces itself.
func (n *Server) greets() error {
	c, err := net.DialTimeout("tcp", n.Addr, time.Second)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // only read
	if err := c.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err == nil && !strings.HasPrefix(line, "INFO ") {
		err = fmt.Errorf("it is not NATS: %q", line)
	}
	return err
}

// Kill kills the server, if it runs, and returns when its connections are gone.
func (n *Server) Kill() {
	if n.lifeline == nil {
		return
	}
	_ = n.lifeline.Close() // makes the script kill the server
	n.lifeline = nil
	var killed *exec.ExitError
	if err := n.script.Wait(); err != nil && !errors.As(err, &killed) {
		panic(err) // the script's output could not be read
	}
}
