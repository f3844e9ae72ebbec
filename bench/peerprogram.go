package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// peerModule is the Go module that pins the versions of NATS and openai-go, separate from
// Shoal's own dependencies.
var peerModule = filepath.Join("bench", "peers")

// peerProgram builds a program of that module, once in a run, and returns its path. Go's
// build cache makes later runs fast.
func (r *run) peerProgram(ctx context.Context, name, pkg string) (string, error) {
	program := filepath.Join(r.dir, name)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	build := exec.CommandContext(ctx, "go", "-C", peerModule, "build", "-o", program, pkg)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if output, err := build.CombinedOutput(); err != nil {
		return "", missingError(fmt.Sprintf("%s cannot be built, its rows are left out; `GOWORK=off go -C %s mod download` downloads its modules: %v\n%s",
			name, peerModule, err, bytes.TrimSpace(output)))
	}
	return program, nil
}
