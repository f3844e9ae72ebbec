package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal/internal/cli"
)

const (
	unitFile   = "../../packaging/shoal.service"
	dockerFile = "../../packaging/Dockerfile"
)

// understood parses a command line as the program would.
func understood(t *testing.T, args []string) {
	t.Helper()
	if _, err := cli.NewParser(new(commands), kong.Writers(io.Discard, io.Discard)).Parse(args); err != nil {
		t.Errorf("shoal %s: %v", strings.Join(args, " "), err)
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// unit returns the lines of a unit by their names.
func unit(t *testing.T) map[string][]string {
	t.Helper()
	lines := map[string][]string{}
	for line := range strings.Lines(readText(t, unitFile)) {
		if name, value, is := strings.Cut(strings.TrimSpace(line), "="); is && !strings.HasPrefix(line, "#") {
			lines[name] = append(lines[name], value)
		}
	}
	return lines
}

// systemd reads the unit as it would be installed, alone and with the addition that docs/deploy.md shows
// for TLS, and has nothing to say about them. That it can see a mistake in each, it shows with one.
func TestSystemdUnderstandsTheUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Fatalf("%v; install it with: apt-get install systemd (`make setup` does)", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path, addition := filepath.Join(dir, "shoal.service"), filepath.Join(dir, "shoal.service.d", "override.conf")
	if err := os.Mkdir(filepath.Dir(addition), 0o700); err != nil {
		t.Fatal(err)
	}
	verify := func(path, text string) string {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", filepath.Join(dir, "shoal.service"))
		c.Env = append(os.Environ(), "SYSTEMD_UNIT_PATH="+dir+":")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return string(out)
	}
	// It looks for the program, which is not installed here.
	whole := strings.ReplaceAll(readText(t, unitFile), "/usr/local/bin/shoal", self)
	_, after, found := strings.Cut(readText(t, "../../docs/deploy.md"), "```ini file=override.conf\n")
	forTLS, _, _ := strings.Cut(after, "```")
	if !found || forTLS == "" {
		t.Fatal("docs/deploy.md does not show override.conf")
	}
	if out := verify(path, strings.Replace(whole, "NoNewPrivileges=yes", "NoNewPrivilege=yes", 1)); !strings.Contains(out, "NoNewPrivilege") {
		t.Errorf("a mistake is not seen: %q", out)
	}
	if out := verify(path, whole); strings.Contains(out, "shoal.service") {
		t.Error(out)
	}
	if out := verify(addition, strings.Replace(forTLS, "PrivateUsers=", "PrivateUser=", 1)); !strings.Contains(out, "PrivateUser") {
		t.Errorf("a mistake in the addition is not seen: %q", out)
	}
	if out := verify(addition, forTLS); strings.Contains(out, "shoal.service") || strings.Contains(out, "override.conf") {
		t.Error(out)
	}
}

// The unit starts the server anew after a disk fault, which ends with 70, and leaves
// it alone after a configuration that cannot work.
func TestTheUnitRestartsWhatCanWork(t *testing.T) {
	lines := unit(t)
	one := func(name string) string {
		if len(lines[name]) != 1 {
			t.Fatalf("%s is %q", name, lines[name])
		}
		return lines[name][0]
	}
	if one("Restart") != "always" || one("RestartPreventExitStatus") != "2" || cli.ExitCode(cli.KindDisk) != 70 || cli.ExitCode(cli.KindUsage) != 2 {
		t.Errorf("Restart=%s, not for %s", one("Restart"), one("RestartPreventExitStatus"))
	}
	command := strings.Fields(one("ExecStart"))
	understood(t, command[1:])
	for name, want := range map[string]string{
		"DynamicUser": "yes", "StateDirectory": "shoal", "StateDirectoryMode": "0700", "ProtectSystem": "strict", "NoNewPrivileges": "yes", "ProtectHome": "yes",
	} {
		if one(name) != want {
			t.Errorf("%s=%s, want %s", name, one(name), want)
		}
	}
	if !slices.Contains(lines["Environment"], "SHOAL_DATA=%S/shoal") {
		t.Errorf("the data is not kept in the state directory: %q", lines["Environment"])
	}
}

// instructions returns the instructions of the Dockerfile, each in one line.
func instructions(t *testing.T) (all []string) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(strings.ReplaceAll(readText(t, dockerFile), "\\\n", "")))
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

func TestTheImageIsMadeOfWhatIsHere(t *testing.T) {
	var module struct{ Go string }
	out, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	goVersion := strings.Join(strings.Split(module.Go, ".")[:2], ".")
	all := instructions(t)
	want := func(part string) {
		t.Helper()
		if !slices.ContainsFunc(all, func(line string) bool { return strings.Contains(line, part) }) {
			t.Errorf("no instruction has %q", part)
		}
	}
	want("FROM golang:" + goVersion + " AS build")
	want("CGO_ENABLED=0 go build")
	want("-X main.version=${VERSION}")
	want(":nonroot")
	want("VOLUME /data")
	args := map[string][]string{}
	for _, line := range all {
		name, list, is := strings.Cut(line, " [")
		if fields := strings.Fields(name); is {
			var words []string
			if err := json.Unmarshal([]byte("["+list), &words); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			args[fields[0]] = words
		}
	}
	if !slices.Equal(args["ENTRYPOINT"], []string{"/shoal"}) || len(args["HEALTHCHECK"]) < 2 {
		t.Fatalf("got %q", args)
	}
	understood(t, args["CMD"])
	understood(t, args["HEALTHCHECK"][1:])
}

// What the program is built from is sent to the builder, all of it.
func TestTheBuilderGetsEveryFile(t *testing.T) {
	var allowed, denied []string
	for line := range strings.Lines(readText(t, dockerFile+".dockerignore")) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "!") {
			allowed = append(allowed, line[1:])
		} else if pattern, is := strings.CutPrefix(line, "**/"); is {
			denied = append(denied, pattern)
		}
	}
	matches := func(patterns []string, name string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			is, err := filepath.Match(p, name)
			if err != nil {
				t.Fatal(err)
			}
			return is
		})
	}
	c := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", `{{if not .Standard}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{range .EmbedFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}`, ".")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for file := range strings.Lines(string(out)) {
		path, err := filepath.Rel(root, strings.TrimSpace(file))
		if err != nil || strings.HasPrefix(path, "..") {
			continue
		}
		seen++
		parts := strings.Split(filepath.ToSlash(path), "/")
		if !matches(allowed, parts[0]) || slices.ContainsFunc(parts, func(p string) bool { return matches(denied, p) }) {
			t.Errorf("%s is kept from the builder", path)
		}
	}
	if seen < 100 {
		t.Errorf("only %d files were looked at", seen)
	}
	// A key or a database that lies about is not sent.
	for _, name := range []string{"admin.key", "shoal.db"} {
		if !matches(denied, name) {
			t.Errorf("%s would be sent", name)
		}
	}
}
