package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// docs/agent-defaults.md is held by the code: every option with a default has its row, every
// row of a constant names it in a comment and has its value, and no constant that limits
// something is missing.

const defaultsPage = "../docs/agent-defaults.md"

func TestDefaultsOfOptions(t *testing.T) {
	text := fileText(t, defaultsPage)
	found := regexp.MustCompile(`o\.([\w.]+) = orElse\(o\.[\w.]+, (.+)\)`).FindAllStringSubmatch(fileText(t, "new.go"), -1)
	if len(found) < 16 {
		t.Fatalf("new.go sets %d defaults", len(found))
	}
	for _, f := range found {
		if want := fmt.Sprintf("| `%s` | %s |", f[1], inWords(f[2])); !strings.Contains(text, want) {
			t.Errorf("no row begins with %q", want)
		}
	}
	options := fileText(t, "options.go")
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| off \\|").FindAllStringSubmatch(text, -1) {
		if !regexp.MustCompile(`(?m)^\t` + m[1] + ` +bool$`).MatchString(options) {
			t.Errorf("%s is not an option that is off", m[1])
		}
	}
}

func TestDefaultsOfPackages(t *testing.T) {
	rows := regexp.MustCompile(`(?m)\| ([^|]+) <!-- (\S+) (\w+) --> \|`).FindAllStringSubmatch(fileText(t, defaultsPage), -1)
	listed := map[string]bool{}
	for _, row := range rows {
		shown, file, name := row[1], row[2], row[3]
		listed[file+" "+name] = true
		value := regexp.MustCompile(`(?m)^(?:const |\t)` + name + `\s+=\s+([^/\n]+)`).FindStringSubmatch(fileText(t, file))
		if value == nil {
			t.Errorf("%s has no constant %s", file, name)
		} else if want := inWords(strings.ReplaceAll(strings.TrimSpace(value[1]), " ", "")); shown != want {
			t.Errorf("%s of %s is %s, and the page says %s", name, file, want, shown)
		}
	}
	limits := regexp.MustCompile(`(?m)^(?:const |\t)((?:max|Max|default)[A-Z]\w*)\s+=\s+\d`)
	err := filepath.WalkDir(".", func(file string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		for _, m := range limits.FindAllStringSubmatch(fileText(t, file), -1) {
			if !listed[filepath.ToSlash(file)+" "+m[1]] {
				t.Errorf("the page does not have %s of %s", m[1], file)
			}
		}
		return nil
	})
	if err != nil || len(rows) < 25 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// inWords writes an expression of the code as people read it.
func inWords(expression string) string {
	number, unit, _ := strings.Cut(expression, "*time.")
	switch {
	case expression == "time.Second", expression == "time.Minute":
		return map[string]string{"time.Second": "1 s", "time.Minute": "60 s"}[expression]
	case unit != "":
		return number + map[string]string{"Millisecond": " ms", "Second": " s", "Minute": " min"}[unit]
	case expression == "ToolsAuto":
		return "auto"
	case expression == "1000":
		return "1,000"
	}
	if word, err := strconv.Unquote(expression); err == nil {
		return word
	}
	return strings.NewReplacer("<<20", " MiB", "<<10", " KiB", "_", ",").Replace(expression)
}
