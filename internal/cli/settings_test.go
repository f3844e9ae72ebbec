package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/configfile"
)

const (
	operatingPage = "../../docs/operating.md"
	exampleConfig = "../../packaging/config.yaml"
)

// checkGenerated compares a generated text with the content of a file. With SHOAL_GENERATE, as
// `make generate` sets it, it writes the file instead.
func checkGenerated(t *testing.T, path, got, want string) {
	t.Helper()
	switch {
	case got == want:
	case os.Getenv("SHOAL_GENERATE") != "":
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s does not match the settings in app.Config; run `make generate`", path)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// settingFlags returns the settings of the server: the flags of serve.
func settingFlags(t *testing.T) []*kong.Flag {
	t.Helper()
	var commands struct {
		Globals
		Serve struct{ app.Config } `cmd:""`
	}
	return Settings(NewParser(&commands).Model.Node)
}

// The table of settings in the manual is generated from their declarations.
func TestTheManualHasEverySetting(t *testing.T) {
	const begin, end = "<!-- settings: begin -->\n", "<!-- settings: end -->\n"
	page := readFile(t, operatingPage)
	before, rest, begun := strings.Cut(page, begin)
	_, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		t.Fatalf("%s lacks one of the lines %q and %q", operatingPage, begin, end)
	}
	var table strings.Builder
	fmt.Fprintf(&table, "| flag | environment | default | meaning |\n| --- | --- | --- | --- |\n")
	fmt.Fprintf(&table, "| `--data` | `SHOAL_DATA` | `~/.local/share/shoal` | The directory of the database and `admin.key`. |\n")
	for _, flag := range settingFlags(t) {
		byDefault := "–"
		if flag.Default != "" {
			byDefault = "`" + flag.Default + "`"
		}
		fmt.Fprintf(&table, "| `--%s` | `%s` | %s | %s |\n", flag.Name, flag.Envs[0], byDefault, strings.ReplaceAll(valueHelp(flag.Value), "|", `\|`))
	}
	checkGenerated(t, operatingPage, page, before+begin+table.String()+end+after)
}

// The example configuration file has every setting as a comment, with its default: used as it
// is, it changes nothing.
func TestTheExampleHasEverySetting(t *testing.T) {
	var want strings.Builder
	want.WriteString("# The configuration of a Shoal server. Each setting is a flag of `shoal serve`, too,\n" +
		"# and a variable SHOAL_…: flags override the environment, and the environment\n" +
		"# overrides this file. `shoal serve --print-config` shows the effective settings.\n" +
		"# Keys of model providers do not belong here: the server reads them from its environment.\n" +
		"\n# The directory of the database and admin.key.\n# data: /var/lib/shoal\n")
	names, empty := []string{"data"}, 0
	for _, flag := range settingFlags(t) {
		names = append(names, flag.Name)
		example := flag.Default
		switch {
		case flag.IsSlice():
			example = "[]"
		case flag.Name == "database":
			example = "sqlite:///var/lib/shoal/shoal.db"
		case example == "":
			empty++
		}
		fmt.Fprintf(&want, "\n# %s\n%s\n", valueHelp(flag.Value), strings.TrimSuffix("# "+flag.Name+": "+example, " "))
	}
	checkGenerated(t, exampleConfig, readFile(t, exampleConfig), want.String())

	// It is still valid when every setting is uncommented.
	var set strings.Builder
	for line := range strings.Lines(want.String()) {
		if name, _, is := strings.Cut(strings.TrimPrefix(line, "# "), ":"); is && slices.Contains(names, name) {
			line = strings.TrimPrefix(line, "# ")
		}
		set.WriteString(line)
	}
	if f, err := configfile.Parse("config.yaml", []byte(set.String()), names); err != nil || len(f.Values) != len(names)-empty {
		t.Errorf("it sets %d of %d: %v\n%s", len(f.Values), len(names), err, set.String())
	}
	if f, err := configfile.Parse("config.yaml", []byte(want.String()), names); err != nil || len(f.Values) != 0 {
		t.Errorf("as it stands it sets %v, %v", f, err)
	}
}

// The help of a setting is one sentence, which the help, the manual and the example show.
func TestEverySettingIsExplained(t *testing.T) {
	for _, flag := range settingFlags(t) {
		if !strings.HasSuffix(flag.Help, ".") || strings.Contains(flag.Help, "\n") {
			t.Errorf("--%s: its help %q is not a sentence", flag.Name, flag.Help)
		}
		if len(flag.Envs) != 1 || flag.Envs[0] != "SHOAL_"+strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_")) {
			t.Errorf("--%s has the environment variables %v", flag.Name, flag.Envs)
		}
	}
}
