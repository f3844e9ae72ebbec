package pages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// The agent of clients.md, compiled against the client as it is published, answers.
func TestTheTypeScriptOfClientsAnswers(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "scout.ts")
	if err := os.WriteFile(source, []byte(programOf(t, "clients.md", "scout.ts")), 0o600); err != nil {
		t.Fatal(err)
	}
	compiled := program.TypeScript(t, source)
	text, err := os.ReadFile(compiled)
	if err != nil {
		t.Fatal(err)
	}
	s := apptest.Start(t)
	start(t, s, filepath.Dir(compiled), "scout.js", string(text), find(t, "node", "apt-get install nodejs"))
	answers(t, s, "You said: Hello scout")
}

// The agents in Python, with the client as it is published, answer.
func TestThePythonOfThePagesAnswers(t *testing.T) {
	t.Parallel()
	command := program.PythonClient(t)
	for _, c := range []struct{ page, file string }{{"clients.md", "scout.py"}, {"python.md", "scout.py"}, {"python.md", "scout_async.py"}} {
		t.Run(c.page+" "+c.file, func(t *testing.T) {
			t.Parallel()
			s := apptest.Start(t)
			start(t, s, t.TempDir(), c.file, programOf(t, c.page, c.file), command...)
			answers(t, s, "You said: Hello scout")
		})
	}
}

// The recipes on the SDKs of others, which are not installed, use the client as its types say.
func TestRecipesUseTheClientRight(t *testing.T) {
	t.Parallel()
	checker := program.Installed(t, "test/python/node_modules/pyright/index.js")
	dir := t.TempDir()
	config := fmt.Sprintf(`{"extraPaths": [%q], "include": ["*.py"], "reportMissingImports": "none"}`, program.Installed(t, "clients/python/src"))
	write(t, dir, "pyrightconfig.json", config)
	check := func() (string, error) {
		c := exec.CommandContext(t.Context(), "node", checker, "--pythonpath", program.Python(t))
		c.Dir = dir
		out, err := c.CombinedOutput()
		return string(out), err
	}
	for _, file := range []string{"openai_agent.py", "langgraph_agent.py"} {
		write(t, dir, file, programOf(t, "python.md", file))
	}
	if out, err := check(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	write(t, dir, "openai_agent.py", strings.ReplaceAll(programOf(t, "python.md", "openai_agent.py"), "work.text(", "work.words("))
	if out, err := check(); err == nil || !strings.Contains(out, `"words"`) {
		t.Errorf("a wrong call is not found: %v\n%s", err, out)
	}
}
