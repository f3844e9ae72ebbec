package program

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// PrintedText returns a program of a page of docs, as the page prints it below a fence with file=NAME. It fails the
// test if the page has no such program.
func PrintedText(t testing.TB, page, name string) string {
	t.Helper()
	text, err := os.ReadFile(Installed(t, "docs/"+page))
	if err != nil {
		t.Fatal(err)
	}
	printed := regexp.MustCompile("(?s)```\\w+ file=" + regexp.QuoteMeta(name) + "\n(.*?)```").FindSubmatch(text)
	if printed == nil {
		t.Fatalf("docs/%s shows no program with file=%s", page, name)
	}
	return string(printed[1])
}

// Printed writes the program of [PrintedText] into a new directory below that of the test, where it finds the packages
// that the test has installed, and returns the path. The directory is removed when the test ends.
func Printed(t testing.TB, page, name string) string {
	t.Helper()
	text := PrintedText(t, page, name)
	dir, err := os.MkdirTemp(".", "page-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
