package house_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/thirdparty"
)

// noticedLine is a line of the list: name and version, and licences.
var noticedLine = regexp.MustCompile(`^(.*?) +([A-Z0-9][\w.-]+( AND [\w.-]+)*)\n$`)

// What the program says about the works of others is about those that it is built from.
// `make verify` also compares the texts.
func TestNoticesAreAboutWhatIsLinked(t *testing.T) {
	text, err := thirdparty.Notices()
	if err != nil {
		t.Fatal(err)
	}
	list, texts, _ := strings.Cut(text, "\n"+strings.Repeat("=", 72)+"\n")
	_, list, _ = strings.Cut(list, "\n\n")
	noticed := map[string]bool{}
	for line := range strings.Lines(list) {
		works := noticedLine.FindStringSubmatch(line)
		if works == nil {
			t.Errorf("the list has the line %q", line)
			continue
		}
		noticed[works[1]] = true
		if !strings.Contains("\n"+texts, "\n"+works[1]+": ") {
			t.Errorf("%s has no licence text", works[1])
		}
	}
	linked := map[string]bool{"Go standard library": true}
	const format = "{{with .Module}}{{if not (or .Main .Replace)}}{{.Path}} {{.Version}}{{end}}{{end}}"
	for _, system := range []string{"linux", "darwin", "windows", "freebsd"} { // the architecture makes no difference
		t.Setenv("GOOS", system)
		for _, module := range runGo(t, ".", "off", "list", "-deps", "-f", format, "./cmd/shoal") {
			linked[module] = true
		}
	}
	var lock struct {
		Packages map[string]struct {
			Version          string
			Dev, DevOptional bool
		}
	}
	if err := json.Unmarshal(readFile(t, "web/package-lock.json"), &lock); err != nil {
		t.Fatal(err)
	}
	for at, p := range lock.Packages {
		parts := strings.Split(at, "node_modules/")
		name := parts[len(parts)-1]
		if at != "" && (!p.Dev && !p.DevOptional || name == "tailwindcss") { // which writes its own text into the styles
			linked[name+" "+p.Version] = true
		}
	}
	if len(linked) < 100 {
		t.Fatalf("the program is built from %d works only", len(linked))
	}
	if want, got := slices.Sorted(maps.Keys(linked)), slices.Sorted(maps.Keys(noticed)); !slices.Equal(want, got) {
		t.Errorf("the program is built from\n%q\nits notices are about\n%q\nrun `make generate`", want, got)
	}
}
