// Package models runs complete turns of the agent runtime over the real wires of
// the vendors: OpenAI's chat completions and responses, Anthropic's messages and
// Gemini. aimock, a server of another project (server.mjs, `make setup` installs it),
// simulates the vendors; a proxy between the runtime and aimock causes failures that aimock
// itself cannot. With any failure a turn ends in a named state, repeats no text, and
// answers each tool call once.
package models_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// patience is how long a test waits for what must come. It only ends a test
// that has failed anyway, so it is long enough for a machine that is busy.
const patience = 40 * time.Second

// aimock is where the vendors are.
var aimock *url.URL

func TestMain(m *testing.M) {
	flag.Parse()
	// These tests wait more than they compute.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err) // the flag is the testing package's own
	}
	code, err := withVendors(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/models:", err)
		code = 1
	}
	os.Exit(code)
}

// withVendors runs while aimock does, and refuses to without what it needs.
func withVendors(run func() int) (code int, err error) {
	if _, err := os.Stat(filepath.Join("node_modules", "@copilotkit", "aimock")); err != nil {
		return 0, fmt.Errorf("%w; run `make setup`", err)
	}
	var said struct{ URL string }
	stop, err := program.Serve("server.mjs", &said)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if aimock, err = url.Parse(said.URL); err != nil {
		return 0, err
	}
	return run(), nil
}

// bounded returns a context that ends with the test, and at the latest when its
// patience does.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	t.Cleanup(cancel)
	return ctx
}

// journaled is what aimock remembers of one request.
type journaled struct {
	Path string
	Body struct {
		Model    string
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct {
			Function struct{ Name string }
		}
	}
	Response struct{ Status int }
}

// journal returns what aimock remembers of a test, oldest first.
func journal(t *testing.T, test string) []journaled {
	t.Helper()
	where := aimock.JoinPath("__aimock", "journal")
	where.RawQuery = url.Values{"testId": {test}}.Encode()
	req, err := http.NewRequestWithContext(bounded(t), http.MethodGet, where.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var entries []journaled
	if err := json.Unmarshal(text, &entries); err != nil {
		t.Fatalf("aimock's journal: %v in %.200s", err, text)
	}
	return entries
}

// The lock file works with every registry, so it names the downloads of none.
func TestLockFileNamesNoRegistry(t *testing.T) {
	t.Parallel()
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(lock), `"resolved"`) {
		t.Errorf("test/models/package-lock.json holds download addresses; delete it and run `npm install` in that folder, whose .npmrc leaves them out")
	}
}
