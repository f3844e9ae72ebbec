package release_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/release"
)

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		newer bool
	}{
		{"1.10.0", "1.9.9", true},
		{"v1.1.0", "1.1.0", false},
		{"1.1.0", "1.1.0-rc.1", true},
		{"1.1.0-rc.1", "1.1.0", false},
		{"1.0.0", "2.0.0", false},
	} {
		if got := release.Newer(c.a, c.b); got != c.newer {
			t.Errorf("Newer(%s, %s) = %v", c.a, c.b, got)
		}
	}
	for version, valid := range map[string]bool{"1.2.3": true, "v1.2.3-rc.1": true, "dev": false, "": false, "../x": false, "1.2.3/..": false} {
		if got := release.Valid(version); got != valid {
			t.Errorf("Valid(%q) = %v", version, got)
		}
	}
}

// What is installed comes over TLS, or from this machine.
func TestSources(t *testing.T) {
	for base, allowed := range map[string]bool{
		"https://example.org/releases": true, "http://127.0.0.1:1/": true, "http://localhost:1": true, "http://[::1]:1": true,
		"http://example.org": false, "ftp://example.org": false, "file:///tmp": false, "": false, "example.org": false,
	} {
		if _, err := release.NewSource(base, ""); (err == nil) != allowed || err != nil && !errors.Is(err, shoal.InvalidArgument) {
			t.Errorf("%q: %v", base, err)
		}
	}
	if _, err := release.NewSource("https://example.org", "no key"); !errors.Is(err, shoal.InvalidArgument) {
		t.Errorf("an invalid key: %v", err)
	}
}

func TestProgramsOfPackageManagers(t *testing.T) {
	for program, want := range map[string]string{
		"/opt/homebrew/Cellar/shoal/1.2.3/bin/shoal":                                         "brew upgrade shoal",
		"/usr/lib/node_modules/@shoal-dev/server/node_modules/@shoal-dev/server-linux/shoal": "npm install -g @shoal-dev/server@latest",
		"/srv/node_modules/shoal/bin/shoal":                                                  "npm install -g shoal@latest",
		"/nix/store/abc-shoal/bin/shoal":                                                     "nix profile upgrade shoal",
		filepath.Join(t.TempDir(), "shoal"):                                                  "",
	} {
		if got := release.ManagedBy(t.Context(), program); got != want {
			t.Errorf("%s: %q, want %q", program, got, want)
		}
	}
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Fatalf("%v; this test runs on Debian (`make setup` says how)", err)
	}
	self, err := filepath.EvalSymlinks("/usr/bin/dpkg")
	if err != nil {
		t.Fatal(err)
	}
	if got := release.ManagedBy(t.Context(), self); got == "" {
		t.Errorf("%s is a package's, and nobody knows it", self)
	}
}

// At every step of an exchange there is a program.
func TestInstallAndExchange(t *testing.T) {
	program := filepath.Join(t.TempDir(), "shoal")
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(now, previous string) {
		t.Helper()
		for name, want := range map[string]string{program: now, program + release.PreviousSuffix: previous} {
			if got, err := os.ReadFile(name); err != nil || string(got) != want {
				t.Errorf("%s holds %q, %v; want %q", name, got, err, want)
			}
		}
	}
	write(program, "one")
	if err := release.Exchange(program); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a previous program: %v", err)
	}
	for _, next := range []string{"two", "three"} {
		write(program+".download", next)
		if err := release.Install(program+".download", program); err != nil {
			t.Fatal(err)
		}
	}
	expect("three", "two")
	if err := release.Exchange(program); err != nil {
		t.Fatal(err)
	}
	expect("two", "three")
	// What an exchange leaves that was killed is in nobody's way.
	write(program+".back.new", "left")
	if err := release.Exchange(program); err != nil {
		t.Fatal(err)
	}
	expect("three", "two")
}
