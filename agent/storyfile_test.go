package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// playStories plays every story that pattern matches, each as a subtest; fewer than
// least are a failure. play returns the story's text with what was seen. With
// update a story that came out otherwise is written anew instead of compared.
func playStories(t *testing.T, pattern string, least int, update bool, play func(t *testing.T, file, text string) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < least {
		t.Fatalf("%d stories match %s, want %d at least (%v)", len(files), pattern, least, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			switch got := play(t, file, string(text)); {
			case got == string(text):
			case update:
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("%s has another outcome; run with -update to store it, and check the difference:\n%s", file, difference(string(text), got))
			}
		})
	}
}

// playBlocks plays a story whose blocks are separated by blank lines: commands, a
// line of four dashes, and what was seen. do performs the commands of a block
// and returns what is to be seen. A block without the line must show nothing.
func playBlocks(t *testing.T, text string, do func(commands string) string) string {
	t.Helper()
	var out strings.Builder
	for i, block := range strings.Split(strings.TrimRight(text, "\n"), "\n\n") {
		if i > 0 {
			out.WriteString("\n")
		}
		commands, _, shows := strings.Cut(block, "\n----")
		out.WriteString(commands + "\n")
		seen := do(commands)
		if shows {
			out.WriteString("----\n" + seen)
		} else if seen != "" {
			t.Fatalf("block %q shows something and has no line of dashes:\n%s", commands, seen)
		}
	}
	return out.String()
}

// difference shows from where on two texts differ.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	at := 0
	for at < len(w) && at < len(g) && w[at] == g[at] {
		at++
	}
	around := func(lines []string) string {
		return strings.Join(lines[min(max(at-4, 0), len(lines)):min(at+8, len(lines))], "\n")
	}
	return fmt.Sprintf("line %d\n--- written\n%s\n--- happened\n%s", at+1, around(w), around(g))
}
