package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The page that `make bench` writes into has its marks.
func TestPageHasMarks(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, mark := range []string{ofServers + ": begin", ofServers + ": end", ofModels + ": begin", ofModels + ": end"} {
		line := "<!-- " + mark + " -->\n"
		if strings.Count(string(text), line) != 1 {
			t.Errorf("docs/benchmarks.md has the line %q %d times, want once", strings.TrimSpace(line), strings.Count(string(text), line))
		}
	}
}
