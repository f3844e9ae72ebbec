package house_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

// runnersOnly are the fields of report lines that only the runner of this repository sends.
var runnersOnly = []string{"known"}

// Lines of reports are in no schema of the API, so that what generates the types of the clients does not
// see them.
func TestReportLinesOfTheClients(t *testing.T) {
	for file, form := range map[string]struct{ block, field *regexp.Regexp }{
		"clients/typescript/src/report.ts":    {regexp.MustCompile(`(?s)interface WorkLine \{.*?\n\}`), regexp.MustCompile(`readonly (\w+)\??:`)},
		"clients/python/src/shoal/_report.py": {regexp.MustCompile(`(?s)class WorkLine\(.*?\n\n\n`), regexp.MustCompile(`(?m)^    (\w+): `)},
	} {
		var known []string
		for _, found := range form.field.FindAllStringSubmatch(form.block.FindString(string(readFile(t, file))), -1) {
			known = append(known, found[1])
		}
		line := reflect.TypeFor[shoal.WorkLine]()
		for i := range line.NumField() {
			name, _, _ := strings.Cut(line.Field(i).Tag.Get("json"), ",")
			if name != "n" && !slices.Contains(runnersOnly, name) && !slices.Contains(known, name) {
				t.Errorf("%s: WorkLine has no field %q", file, name)
			}
		}
		if len(known) < 20 {
			t.Errorf("%s: found the fields %q; WorkLine is not declared as this test reads it", file, known)
		}
	}
}
