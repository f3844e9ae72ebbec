package main

import (
	"fmt"
	"os"
	"strings"
)

const (
	tablesBegin = "<!-- tables: begin -->\n"
	tablesEnd   = "<!-- tables: end -->\n"
)

// replaceTables puts the tables of a run into a document, between its marks.
func replaceTables(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, begun := strings.Cut(string(old), tablesBegin)
	_, after, ended := strings.Cut(rest, tablesEnd)
	if !begun || !ended {
		return fmt.Errorf("%s lacks one of the lines %q and %q", path, tablesBegin, tablesEnd)
	}
	return os.WriteFile(path, []byte(before+tablesBegin+text+tablesEnd+after), 0o644)
}
