// Package console_test drives the console of the real server in a real Chromium:
// each *.test.mjs is a file of stories for node:test and Playwright.
// `make setup` installs what they need.
//
// SHOAL_PICTURES names a folder for pictures of every page; review them after a
// change. SHOAL_STORY runs only the files whose name contains it.
package console_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
	"github.com/shoal-dev/shoal/internal/shoaltest/tlstest"
)

// fileTime bounds one file of stories. Each story has a limit of its own (stage/watch.mjs)
// and fails first.
const fileTime = 10 * time.Minute

var (
	shoalBinary *program.Shoal
	browser     string
)

func TestMain(m *testing.M) {
	code, err := prepared(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/console:", err)
		code = 1
	}
	os.Exit(code)
}

// prepared runs with a built binary and refuses to without a browser.
func prepared(run func() int) (code int, err error) {
	if _, err := os.Stat(filepath.Join("node_modules", "playwright-core")); err != nil {
		return 0, fmt.Errorf("%w; run `make setup`", err)
	}
	if browser, err = program.Browser(); err != nil {
		return 0, err
	}
	return program.WithShoal(func(built *program.Shoal) int { shoalBinary = built; return run() })
}

func TestConsole(t *testing.T) {
	stories, err := filepath.Glob("*.test.mjs")
	if err != nil || len(stories) == 0 {
		t.Fatalf("no stories were found: %v", err)
	}
	for _, file := range stories {
		name := strings.TrimSuffix(file, ".test.mjs")
		if !strings.Contains(name, os.Getenv("SHOAL_STORY")) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			out, err := play(t, file)
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			} else {
				t.Logf("%s", out)
			}
		})
	}
}

// A story that waits for what never comes fails with its name and the line that waits, and
// the story after it runs.
func TestAHangingStoryIsNamed(t *testing.T) {
	out, err := play(t, filepath.Join("testdata", "hanging.mjs"))
	if err == nil {
		t.Error("the file passed")
	}
	for _, want := range []string{
		`no progress within 4000 ms in "the page never answers"; the pages show:`,
		"| Sign in to Shoal",
		"hanging.mjs:11:",
		"✔ the next one has a browser",
		`"nothing ever answers" does not wait for the browser; ending this file`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

// Chromium drops the request to close a page that commits a navigation.
func TestAPageThatNavigatesIsClosed(t *testing.T) {
	if out, err := play(t, filepath.Join("testdata", "closing.mjs")); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// play runs a file of stories and returns its output.
func play(t *testing.T, file string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(t.Context(), fileTime)
	defer cancel()
	node := exec.CommandContext(ctx, "node", "--test", "--test-reporter=spec", "--test-concurrency=1", file)
	push := tlstest.New(t, "127.0.0.1") // of the push service of push.test.mjs
	node.Env = append(os.Environ(), "SHOAL_BIN="+shoalBinary.Path(), "CHROMIUM="+browser, "SHOAL_TLS_CERT="+push.CertFile, "SHOAL_TLS_KEY="+push.KeyFile)
	node.WaitDelay = 10 * time.Second
	return node.CombinedOutput()
}
