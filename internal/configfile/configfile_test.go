package configfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/configfile"
)

var known = []string{"addr", "data", "database", "allow-host", "allow-private"}

func TestSettings(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want map[string]configfile.Value
	}{
		"nothing":       {"", map[string]configfile.Value{}},
		"only comments": {"# addr: x\n\n  # more\n", map[string]configfile.Value{}},
		"a marker":      {"---\n", map[string]configfile.Value{}},
		"values": {
			"# mine\naddr: 0.0.0.0:80\n\ndata: '/srv/a b' # here\n",
			map[string]configfile.Value{"addr": {Text: "0.0.0.0:80", Line: 2}, "data": {Text: "/srv/a b", Line: 4}},
		},
		"lists": {
			"allow-private: [10.0.0.0/8, 127.0.0.1/32]\nallow-host:\n- a\n- b\n",
			map[string]configfile.Value{"allow-private": {List: []string{"10.0.0.0/8", "127.0.0.1/32"}, Line: 1}, "allow-host": {List: []string{"a", "b"}, Line: 3}},
		},
		"what looks like something else stays text": {"addr: 1_000\ndata: yes\n", map[string]configfile.Value{"addr": {Text: "1_000", Line: 1}, "data": {Text: "yes", Line: 2}}},
		"a key without a value":                     {"addr:\ndata: ~\n", map[string]configfile.Value{}},
		"windows' ends of lines":                    {"addr: a:1\r\ndata: b\r\n", map[string]configfile.Value{"addr": {Text: "a:1", Line: 1}, "data": {Text: "b", Line: 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := configfile.Parse("shoal.yaml", []byte(c.text), known)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, f.Values); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsWrongIsNamedWithItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"addr: a\nadr: b\n":                     `shoal.yaml:2: unknown setting "adr"; did you mean addr?`,
		"allowHost: b\n":                        `shoal.yaml:1: unknown setting "allowHost"; did you mean allow-host?`,
		"allow_private: b\n":                    `shoal.yaml:1: unknown setting "allow_private"; did you mean allow-private?`,
		"colour: b\n":                           "shoal.yaml:1: unknown setting \"colour\"; `shoal serve --print-config` lists all settings",
		"addr: a\ndata: x\naddr: b\n":           "shoal.yaml:3: addr is set twice; it is already set in line 1",
		"addr: {host: a}\n":                     "shoal.yaml:1: addr must be a value or a list of values",
		"allow-host:\n- a\n- [b]\n":             "shoal.yaml:3: allow-host must be a list of words",
		"addr: &a x\ndata: *a\n":                "shoal.yaml:2: data must be a value or a list of values",
		"- addr\n":                              "shoal.yaml:1: the file must contain settings, such as `addr: 127.0.0.1:7462`",
		"just words\n":                          "shoal.yaml:1: the file must contain settings, such as `addr: 127.0.0.1:7462`",
		"[a]: b\n":                              "shoal.yaml:1: the name of a setting must be one word",
		"adr: a\ndatta: b\n":                    "shoal.yaml:1: unknown setting \"adr\"; did you mean addr?; shoal.yaml:2: unknown setting \"datta\"; did you mean data?",
		strings.Repeat("#", 64<<10) + "\n# x\n": "shoal.yaml:1: the file has more than 65536 bytes",
	} {
		_, err := configfile.Parse("shoal.yaml", []byte(text), known)
		var e *shoal.Error
		if !errors.As(err, &e) || e.Kind != shoal.InvalidArgument || e.Msg != want {
			t.Errorf("%.60q: got %v\nwant %s", text, err, want)
		}
	}
}

func TestBrokenYAMLNamesTheLineAndNoValue(t *testing.T) {
	_, err := configfile.Parse("shoal.yaml", []byte("addr: a\ndatabase: \"postgres://ann:hunter2@db\n"), known)
	if !errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), "shoal.yaml:3:1: the file is not YAML: ") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

func TestReadTellsNoFileFromABadOne(t *testing.T) {
	dir := t.TempDir()
	if _, err := configfile.Read(filepath.Join(dir, "none.yaml"), known); !errors.Is(err, shoal.NotFound) {
		t.Errorf("no file: %v", err)
	}
	if _, err := configfile.Read(dir, known); !errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), dir+" cannot be read: is a directory.") {
		t.Errorf("a directory: %v", err)
	}
	path := filepath.Join(dir, "shoal.yaml")
	if err := os.WriteFile(path, []byte("\naddr: a:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := configfile.Read(path, known)
	if err != nil || f.Source("addr") != path+":2" {
		t.Errorf("got %+v, %v", f, err)
	}
}

func TestClosest(t *testing.T) {
	for word, want := range map[string]string{
		"addr": "addr", "adr": "addr", "ADDR": "addr", "databse": "database", "data-base": "database", "x": "", "": "",
		"allow-hosts": "allow-host", "allowprivate": "allow-private",
	} {
		if got := configfile.Closest(word, known); got != want {
			t.Errorf("Closest(%q) = %q, want %q", word, got, want)
		}
	}
}

// Every file is either accepted, with known keys only, or rejected with a line.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"addr: a\n", "allow-host: [a, b]\n", "a: &x [*x]\n", "? a\n: b\n", "---\n...\n---\n", "\xff\xfe", "addr: !!binary aGk=\n", "<<: {addr: x}\n", "%YAML 9.9\n", "addr: |\n  x\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := configfile.Parse("f", text, known)
		if err != nil {
			if !errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), "f:") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		for key, value := range file.Values {
			if !slices.Contains(known, key) || value.Line < 1 || value.Line > strings.Count(string(text), "\n")+strings.Count(string(text), "\r")+strings.Count(string(text), "\u0085")+strings.Count(string(text), "\u2028")+strings.Count(string(text), "\u2029")+1 {
				t.Errorf("%q: %s is %+v", text, key, value)
			}
		}
	})
}
