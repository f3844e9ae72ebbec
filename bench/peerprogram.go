package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// peerModule holds which NATS and which openai-go are measured, apart from what Shoal
// itself is made of.
var peerModule = filepath.Join("bench", "peers")

// peerProgram builds a program of that module, once in a run, and returns its path. The
// cache of Go keeps it for the next one.
func (r *run) peerProgram(ctx context.Context, name, pkg string) (string, error) {
	program := filepath.Join(r.dir, name)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	build := exec.CommandContext(ctx, "go", "-C", peerModule, "build", "-o", program, pkg)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if output, err := build.CombinedOutput(); err != nil {
		return "", missingError(fmt.Sprintf("%s cannot be built, its rows are left out (`GOWORK=off go -C %s mod download` gets what it needs, from a module proxy): %v\n%s",
			name, peerModule, err, bytes.TrimSpace(output)))
	}
	return program, nil
}
