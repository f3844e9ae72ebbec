package main

import (
	"fmt"
	"os"
	"strings"
)

// replaceTables puts the tables of one kind into a document, between its marks.
func replaceTables(path, kind, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+kind+": begin -->\n", "<!-- "+kind+": end -->\n"
	before, rest, begun := strings.Cut(string(old), begin)
	_, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		return fmt.Errorf("%s lacks one of the lines %q and %q", path, begin, end)
	}
	return os.WriteFile(path, []byte(before+begin+text+end+after), 0o644)
}
