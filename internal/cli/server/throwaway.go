package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/shoal-dev/shoal/internal/app"
)

// throwawayServer is a server in a child process with an empty database. It gets neither the
// SHOAL variables nor the configuration file of this process.
type throwawayServer struct {
	url, key string
	dir      string
	cmd      *exec.Cmd
	drained  chan struct{} // closed when standard output has ended
}

// throwawayGrace is how long the server may take to shut down before it is killed. A server
// shuts down within five seconds.
const throwawayGrace = 10 * time.Second

// startThrowaway starts a server and returns when it is ready. The server also ends with ctx.
func startThrowaway(ctx context.Context) (t *throwawayServer, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "shoal-bench-")
	if err != nil {
		return nil, err
	}
	t = &throwawayServer{dir: dir, drained: make(chan struct{}), cmd: exec.CommandContext(ctx, program, "serve", "--addr", "127.0.0.1:0", "--data", dir)}
	t.cmd.Args[0] = os.Args[0]
	t.cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "SHOAL_") || strings.HasPrefix(v, "XDG_CONFIG_HOME=")
	}), "XDG_CONFIG_HOME="+dir)
	t.cmd.Cancel = func() error { return t.cmd.Process.Signal(syscall.SIGTERM) }
	t.cmd.WaitDelay = throwawayGrace
	var complaint strings.Builder
	t.cmd.Stderr = &complaint
	said, err := t.cmd.StdoutPipe()
	if err == nil {
		err = t.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	greeting := bufio.NewReader(said)
	first, err := greeting.ReadString('\n')
	go func() { // ends with the server
		defer close(t.drained)
		_, _ = io.Copy(io.Discard, greeting)
	}()
	if err == nil {
		t.key, err = app.ReadAdminKey(dir)
	}
	var found bool
	if _, t.url, found = strings.Cut(strings.TrimSpace(first), " is up on "); err != nil || !found {
		ended := t.stop()
		return nil, fmt.Errorf("the throw-away server did not start: %w", errors.Join(context.Cause(ctx), err, ended, errors.New(strings.TrimSpace(complaint.String()))))
	}
	return t, nil
}

// stop shuts the server down, waits for its end, and deletes its data.
func (t *throwawayServer) stop() error {
	_ = t.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	late := time.AfterFunc(throwawayGrace, func() { _ = t.cmd.Process.Kill() })
	<-t.drained      // before Wait, which closes the pipe
	_ = t.cmd.Wait() // its exit code does not matter
	late.Stop()
	return os.RemoveAll(filepath.Clean(t.dir))
}
