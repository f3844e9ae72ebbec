package wholefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/shoal-dev/shoal/internal/wholefile"
)

func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	for _, text := range []string{"one", "two and more", ""} {
		if err := wholefile.Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("the file has %q, %v; want %q", got, err, text)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v; want one that only its owner reads", info, err)
	}
	checkAlone(t, path)
}

// A file that cannot be replaced, such as a directory with files, stays as it was.
func TestReplaceFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	inside := filepath.Join(path, "kept")
	if err := os.MkdirAll(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := wholefile.Replace(path, []byte("text")); err == nil {
		t.Error("a directory was replaced")
	}
	if _, err := os.Stat(inside); err != nil {
		t.Error(err)
	}
	checkAlone(t, path)
}

func checkAlone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the file are %v, %v", entries, err)
	}
}
