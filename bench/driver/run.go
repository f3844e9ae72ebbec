// Package driver holds what all tables of one run of the benchmarks share.
package driver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
)

// Run is one run of the driver.
type Run struct {
	Self, Shoal string // the driver's program, and the server's
	Dir         string // contains everything that the servers write
	Rounds      int
	Rows        string // the row to measure, all if empty
	Report      report.Report
	Log         *log.Logger

	paths int
}

// Wants reports whether a row is to be measured.
func (r *Run) Wants(row string) bool { return r.Rows == "" || r.Rows == row }

// NewPath returns a path in the run's directory that has not been used before.
func (r *Run) NewPath(name string) string {
	r.paths++
	return filepath.Join(r.Dir, name+"-"+strconv.Itoa(r.paths))
}

// peerModule is the Go module that pins the versions of NATS and openai-go, separate from
// Shoal's own dependencies.
var peerModule = filepath.Join("bench", "peers")

// BuildPeer builds a program of the module bench/peers, once in a run, and returns its
// path. Go's build cache makes later runs fast.
func (r *Run) BuildPeer(ctx context.Context, name, pkg string) (string, error) {
	program := filepath.Join(r.Dir, name)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	build := exec.CommandContext(ctx, "go", "-C", peerModule, "build", "-o", program, pkg)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if output, err := build.CombinedOutput(); err != nil {
		return "", process.MissingError(fmt.Sprintf("%s cannot be built, so its rows are not measured; `GOWORK=off go -C %s mod download` downloads its modules: %v\n%s",
			name, peerModule, err, bytes.TrimSpace(output)))
	}
	return program, nil
}

// Serve serves until ctx ends, and then closes all connections immediately.
func Serve(ctx context.Context, addr string, h http.Handler) error {
	server := &http.Server{Addr: addr, Handler: h, ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })() // the process ends then
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
