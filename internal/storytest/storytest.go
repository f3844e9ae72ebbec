// Package storytest runs tests that are written as stories in text files. It iterates over
// the files and splits a story into blocks.
//
//	func TestStories(t *testing.T) { storytest.Play(t, "testdata/*.txt", 10, *update, run) }
//
// A story contains commands and their output. The test runs the commands again and compares
// the output with the file.
package storytest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Play runs every story that pattern matches as a subtest, and fails if there are fewer than
// least. run returns the story's text with the actual output. With update, a story with
// different output is rewritten instead of compared.
func Play(t *testing.T, pattern string, least int, update bool, run func(t *testing.T, file, text string) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < least {
		t.Fatalf("got %d stories for %s, want at least %d (%v)", len(files), pattern, least, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			switch got := run(t, file, string(text)); {
			case got == string(text):
			case update:
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("%s has different output; run with -update to rewrite it, and review the difference:\n%s", file, Difference(string(text), got))
			}
		})
	}
}

// Blocks runs a story whose blocks are separated by blank lines. A block consists of
// commands, a line of four dashes, and the output. do executes the commands of a block and
// returns the output. A block without the line must have no output.
func Blocks(t *testing.T, text string, do func(commands string) string) string {
	t.Helper()
	var told strings.Builder
	for i, block := range strings.Split(strings.TrimRight(text, "\n"), "\n\n") {
		if i > 0 {
			told.WriteString("\n")
		}
		commands, _, shows := strings.Cut(block, "\n----")
		told.WriteString(commands + "\n")
		seen := do(commands)
		if shows {
			told.WriteString("----\n" + seen)
		} else if seen != "" {
			t.Fatalf("block %q has output but no line of dashes:\n%s", commands, seen)
		}
	}
	return told.String()
}

// Difference shows the first lines in which two texts differ.
func Difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	at := 0
	for at < len(w) && at < len(g) && w[at] == g[at] {
		at++
	}
	around := func(lines []string) string {
		return strings.Join(lines[min(max(at-4, 0), len(lines)):min(at+8, len(lines))], "\n")
	}
	return fmt.Sprintf("line %d\n--- want\n%s\n--- got\n%s", at+1, around(w), around(g))
}
