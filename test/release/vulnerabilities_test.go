package release_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A vulnerability in what is called fails the check. One that is not called does not, and
// neither does a database that cannot be reached, which is said.
func TestVulnerabilities(t *testing.T) {
	t.Parallel()
	planted := func(symbol string) string {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "GO-2000-0001.json"), `{"schema_version": "1.3.1", "id": "GO-2000-0001", "database_specific": {"url": "https://example.com"}, "modified": "2000-01-01T00:00:00Z", "published": "2000-01-01T00:00:00Z",
			"affected": [{"package": {"name": "go.yaml.in/yaml/v4", "ecosystem": "Go"}, "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}],
				"ecosystem_specific": {"imports": [{"path": "go.yaml.in/yaml/v4", "symbols": ["`+symbol+`"]}]}}]}`, 0o644)
		return "file://" + dir
	}
	for _, c := range []struct {
		name, database, want string
		fails                bool
	}{
		{"called", planted("NewLoader"), "Vulnerability #1: GO-2000-0001", true},
		{"not called", planted("NewDumper"), "No vulnerabilities found.", false},
		{"no database", "http://127.0.0.1:1", "NOT CHECKED for known vulnerabilities: http://127.0.0.1:1 cannot be reached", false},
		{"a wrong database", "ftp://127.0.0.1", "ftp://127.0.0.1", true},
	} {
		check := exec.CommandContext(bounded(t), filepath.Join(repository, "scripts", "vulnerabilities.sh"), "./internal/yamltext")
		check.Env = append(os.Environ(), "GOVULNDB="+c.database)
		if printed, code := ran(t, check); !strings.Contains(printed, c.want) || (code != 0) != c.fails {
			t.Errorf("%s: exit code %d\n%s", c.name, code, printed)
		}
	}
}
