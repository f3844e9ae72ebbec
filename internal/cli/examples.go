package cli

import (
	_ "embed"
	"strings"
)

// exampleText has a section for each command: its words on a line that ends with a colon, and
// below it one example per line.
//
//go:embed examples.txt
var exampleText string

// Examples returns the examples of a command, such as "runs get". The empty command is the
// program itself.
func Examples(command string) (all []string) {
	inside := false
	for line := range strings.Lines(exampleText) {
		line = strings.TrimRight(line, "\n")
		switch words, isHead := strings.CutSuffix(line, ":"); {
		case strings.HasPrefix(line, "  "):
			if inside {
				all = append(all, line[2:])
			}
		case isHead:
			inside = words == command || words == "shoal" && command == ""
		}
	}
	return all
}
