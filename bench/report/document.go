package report

import (
	"fmt"
	"os"
	"strings"
)

// ReplaceTables replaces the text between the begin and end marks of one kind of tables
// in a document.
func ReplaceTables(path, kind, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+kind+": begin -->\n", "<!-- "+kind+": end -->\n"
	before, rest, hasBegin := strings.Cut(string(old), begin)
	_, after, hasEnd := strings.Cut(rest, end)
	if !hasBegin || !hasEnd {
		return fmt.Errorf("%s: the line %q or %q is missing", path, begin, end)
	}
	return os.WriteFile(path, []byte(before+begin+text+end+after), 0o644)
}
