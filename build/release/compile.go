package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// buildBinaries compiles the program for every target. The version control stamp of
// the go command is off: it depends on which tags a clone has and on untracked files.
// The variables state the same.
func (r *release) buildBinaries(ctx context.Context) error {
	flags := fmt.Sprintf("-s -w -X main.version=%s -X main.commit=%s -X main.date=%s",
		r.version, r.commit, r.date.Format("2006-01-02T15:04:05Z"))
	switch key, err := os.ReadFile(filepath.Join(r.root, "packaging", "release.pub")); {
	case err == nil: // `shoal upgrade` then refuses releases without its signature
		lines := strings.Fields(string(key))
		flags += " -X main.releaseKey=" + lines[len(lines)-1]
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	npm, err := r.readNPMComponents()
	if err != nil {
		return err
	}
	if r.notices, err = r.readNotices(); err != nil {
		return err
	}
	for _, t := range r.targets {
		path := filepath.Join(r.scratch(), t.os+"_"+t.arch, t.program())
		if _, err := output(ctx, r.root, t.env(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", path, "./cmd/shoal"); err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		all, err := r.readGoComponents(ctx, t)
		if err != nil {
			return err
		}
		all = append(all, npm...)
		if err := r.checkNotices(all); err != nil {
			return err
		}
		r.binaries = append(r.binaries, binary{target: t, content: content, components: all})
	}
	return nil
}

// env is the environment in which the go command builds for the target. Settings of the
// machine that change the program are reset.
func (t target) env() []string {
	return []string{"CGO_ENABLED=0", "GOOS=" + t.os, "GOARCH=" + t.arch, "GOFLAGS=", "GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT="}
}

// stem is the name of a file of the release without its extension.
func (r *release) stem(t target) string {
	return strings.Join([]string{"shoal", r.version, t.os, t.arch}, "_")
}
