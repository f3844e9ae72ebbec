package connect

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
)

// config opens a file that holds text.
func config(t testing.TB, client, text string) (*Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Open(clientOf(t, client), path)
}

// changed returns the configuration of a client with that text, and its change to
// one that has the entry.
func changed(t *testing.T, client, text string) (*Config, Change) {
	t.Helper()
	c, err := config(t, client, text)
	if err != nil {
		t.Fatal(err)
	}
	change, err := c.With("shoal", scout, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c, change
}

func written(t *testing.T, client, path string, before *Memory) Change {
	t.Helper()
	c, err := Open(clientOf(t, client), path)
	if err != nil {
		t.Fatal(err)
	}
	change, err := c.With("shoal", scout, before)
	if err == nil {
		err = change.Write()
	}
	if err != nil {
		t.Fatal(err)
	}
	return change
}

func undone(t *testing.T, client, path string, memory *Memory) {
	t.Helper()
	c, err := Open(clientOf(t, client), path)
	if err != nil {
		t.Fatal(err)
	}
	change, err := c.Without("shoal", memory)
	if err == nil {
		err = change.Write()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, path string) (text string, mode fs.FileMode) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), info.Mode().Perm()
}

// A file is as it was, byte by byte and with its mode, whatever it was.
func TestUndoRestoresTheFile(t *testing.T) {
	t.Parallel()
	for client, texts := range map[string][]string{
		"cursor": {"", " \n", "{}", "{\n}", "{ }", "{\"mcpServers\":{ }}", "{\"mcpServers\": {\n\n}, \"ü\": \"ß\"}\r\n", "\ufeff{ // c\n}"},
		"codex":  {"", "\n\n", "a = 1", "a = 1\n\n\n", "# c\n[mcp_servers.shoal2]\nurl = 'x'\n# ü"},
	} {
		for _, text := range texts {
			path := filepath.Join(t.TempDir(), "settings")
			if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
				t.Fatal(err)
			}
			change := written(t, client, path, nil)
			if _, mode := holds(t, path); mode != 0o600 || !change.Closes() {
				t.Errorf("%s %q: with a key in it its mode is %v", client, text, mode)
			}
			undone(t, client, path, &change.Undo)
			if got, mode := holds(t, path); got != text || mode != 0o640 {
				t.Errorf("%s %q: afterwards it is %q, %v", client, text, got, mode)
			}
		}
	}
}

// A second key does not make the first state be forgotten, and what somebody
// else writes meanwhile stays.
func TestUndoAfterOtherChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "settings")
	first := written(t, "cursor", path, nil)
	again := written(t, "cursor", path, &first.Undo)
	undone(t, "cursor", path, &again.Undo)
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file or its directory is still there: %v", err)
	}

	first = written(t, "cursor", path, nil)
	text, _ := holds(t, path)
	if err := os.WriteFile(path, []byte(strings.Replace(text, "{\n", "{\n  \"mine\": 1,\n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	undone(t, "cursor", path, &first.Undo)
	if got, _ := holds(t, path); got != "{\n  \"mine\": 1\n}\n" {
		t.Errorf("afterwards it is %q", got)
	}
}

// A file changes while the person reads the diff. The change is made to the new text if the entry
// is as it was; an entry that somebody else has changed stays.
func TestWriteInAFileThatChanged(t *testing.T) {
	t.Parallel()
	const entry = `"shoal": {"url": "http://127.0.0.1:7462/mcp", "timeout": 1}`
	for _, tt := range []struct{ name, before, now, want string }{
		{"another field", `{}`, `{"startups": 2}`, `"startups": 2`},
		{"another entry", `{"mcpServers": {` + entry + `}}`, `{"mcpServers": {"mine": {"url": "http://a"}, ` + entry + `}}`, `"mine"`},
		{"no file before", "", `{"startups": 2}`, `"startups": 2`},
		{"the entry", `{"mcpServers": {` + entry + `}}`, `{"mcpServers": {"shoal": {"url": "http://b/mcp"}}}`, ""},
		{"the entry made", `{}`, `{"mcpServers": {"shoal": {}}}`, ""},
		{"the entry removed", `{"mcpServers": {` + entry + `}}`, `{}`, ""},
		{"what cannot be read", `{}`, `{"startups": `, ""},
	} {
		c, change := changed(t, "cursor", tt.before)
		if tt.before == "" {
			if err := os.Remove(c.Path); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(c.Path, []byte(tt.now), 0o600); err != nil {
			t.Fatal(err)
		}
		err := change.Write()
		got, _ := holds(t, c.Path)
		switch {
		case tt.want == "" && (!errors.Is(err, shoal.Conflict) && !errors.Is(err, shoal.InvalidArgument) || got != tt.now):
			t.Errorf("%s: the error is %v, and the file %q", tt.name, err, got)
		case tt.want != "" && (err != nil || !strings.Contains(got, tt.want) || !strings.Contains(got, scout.Key)):
			t.Errorf("%s: the error is %v, and the file %q; want one with %s and the key", tt.name, err, got, tt.want)
		}
		if tt.want != "" {
			undone(t, "cursor", c.Path, &change.Undo)
			if got, _ := holds(t, c.Path); got != tt.now && tt.name != "another entry" {
				t.Errorf("%s: without the entry the file is %q, want %q", tt.name, got, tt.now)
			}
		}
		left, err := os.ReadDir(filepath.Dir(c.Path))
		if err != nil || len(left) != 1 {
			t.Errorf("%s: beside it are %v (%v)", tt.name, left, err)
		}
	}
}

// A link stays one, and the file that it leads to changes; a link to nothing is an error.
func TestLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link := filepath.Join(dir, "dotfiles"), filepath.Join(dir, "config.toml")
	if err := os.Symlink("dotfiles", link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(clientOf(t, "codex"), link); !errors.Is(err, shoal.InvalidArgument) {
		t.Errorf("a link to nothing: %v", err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	written(t, "codex", link, nil)
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link has been replaced: %v", err)
	}
	if text, _ := holds(t, file); !strings.Contains(text, "[mcp_servers.shoal]") {
		t.Errorf("the file holds %q", text)
	}
	if Shared(link) {
		t.Error("no work tree of git is near")
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if !Shared(link) {
		t.Error("the file lies in a work tree of git")
	}
}

// The diff shows what changes, without the key.
func TestDiff(t *testing.T) {
	t.Parallel()
	c, change := changed(t, "codex", "a = 1\n")
	want := strings.ReplaceAll(`--- FILE
+++ FILE
@@ -1,1 +1,6 @@
 a = 1
+
+[mcp_servers.shoal]
+url = "http://127.0.0.1:7462/mcp"
+http_headers = { Authorization = "Bearer shoal_…" }
+tool_timeout_sec = 660
`, "FILE", c.Path)
	if diff := cmp.Diff(want, change.Diff(scout.Key)); diff != "" {
		t.Error(diff)
	}
}

// What is remembered holds no key, and is found again.
func TestRecords(t *testing.T) {
	t.Parallel()
	r := Records{filepath.Join(t.TempDir(), "state", "connect")}
	if rec, err := r.Of("/f", "shoal"); rec != nil || err != nil {
		t.Errorf("before: %v, %v", rec, err)
	}
	_, change := changed(t, "cursor", `{"ü": "Grüße"}`)
	want := Record{Client: "cursor", Path: "/f", Entry: "shoal", URL: scout.URL, Session: "default", Agent: "scout", KeyID: "key_1", Undo: change.Undo}
	if err := r.Keep(want); err != nil {
		t.Fatal(err)
	}
	got, err := r.Of("/f", "shoal")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Error(diff)
	}
	files, err := filepath.Glob(filepath.Join(r.Dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v %v", files, err)
	}
	if text, mode := holds(t, files[0]); strings.Contains(text, scout.Key) || mode != 0o600 {
		t.Errorf("the record is %v and holds the key, or others can read it:\n%s", mode, text)
	}
	if err := errors.Join(r.Forget("/f", "shoal"), r.Forget("/f", "shoal")); err != nil {
		t.Error(err)
	}
	if rec, err := r.Of("/f", "shoal"); rec != nil || err != nil {
		t.Errorf("after: %v, %v", rec, err)
	}
}
