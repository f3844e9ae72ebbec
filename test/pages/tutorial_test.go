package pages

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// notRun are the commands of the tutorial that the test does otherwise, with the reason.
var notRun = map[string]string{
	"shoal up":                               "test/release and the tests of internal/background start servers in the background",
	"shoal down":                             "the same",
	"shoal tail office -n 5":                 "follows the space until it is stopped",
	"export SHOAL_URL=http://127.0.0.1:7462": "the server of the test has another port",
	"python3 scout.py":                       "runs in a second terminal: in the background here",
}

// The commands of the tutorial, in their order, bring about what the page says.
func TestTutorial(t *testing.T) {
	find(t, "python3", "apt-get install python3")
	data := t.TempDir()
	running, _ := apptest.Run(t, app.Config{Data: data})
	bin := filepath.Join(t.TempDir(), "shoal")
	if out, err := exec.Command("go", "build", "-o", bin, "../../cmd/shoal").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	dir := t.TempDir()
	write(t, dir, "buyer.yaml", programOf(t, "tutorial.md", "buyer.yaml"))
	write(t, dir, "scout.py", programOf(t, "python.md", "scout_rest.py"))
	page, err := os.ReadFile("../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	script := []string{"set -eu"}
	for _, block := range shellBlock.FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(block[1]) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
			line = strings.TrimSpace(line)
			switch _, skipped := notRun[line]; {
			case line == "python3 scout.py":
				script = append(script, "python3 scout.py & scout=$!; trap 'kill $scout' EXIT; unset SHOAL_KEY")
			case line == "shoal approvals":
				// The agent needs a moment to get to its question.
				script = append(script, "until shoal approvals -q | grep -q .; do read -rt 0.1 <> <(:) || :; done", line)
			case !skipped:
				script = append(script, line)
			}
		}
	}
	command := exec.CommandContext(t.Context(), "bash", "-c", strings.Join(script, "\n"))
	command.Dir = dir
	command.Env = append(os.Environ(), "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"), "SHOAL_DATA="+data, "SHOAL_URL="+running.URL(), "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"a box of pens", "You said: Scout, are you there?"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the commands do not print %q:\n%s", want, out)
		}
	}
}
