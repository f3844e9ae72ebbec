package house_test

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// apart are the modules that are not in go.work, by their directories: they pin programs
// of others, whose requirements must not choose the versions of ours.
var apart = []string{"bench/compare", "bench/compare/agents/adk", "bench/peers", "build", "test/otlp/receiver", "tools"}

// runGo runs the go command in a directory and returns the lines of its output.
func runGo(t *testing.T, dir, work string, args ...string) []string {
	t.Helper()
	enterRoot()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK="+work, "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	var problem strings.Builder
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: go %q: %v\n%s", dir, args, err, &problem)
	}
	return slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool { return line == "" })
}

// workspace returns the directories of the modules in go.work, seen from the root.
func workspace(t *testing.T) []string {
	t.Helper()
	enterRoot()
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, dir := range runGo(t, ".", filepath.Join(root, "go.work"), "list", "-m", "-f", "{{.Dir}}") {
		inside, err := filepath.Rel(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, filepath.ToSlash(inside))
	}
	return dirs
}

// A module outside of the workspace is neither linted nor tested: nobody would notice.
func TestEveryModuleIsInTheWorkspace(t *testing.T) {
	joined := workspace(t)
	for _, f := range repoFiles(t) {
		if dir := path.Dir(f.path); path.Base(f.path) == "go.mod" && !slices.Contains(joined, dir) && !slices.Contains(apart, dir) {
			t.Errorf("%s is not in go.work: add it, or name its directory in test/house/modules_test.go with the reason", f.path)
		}
	}
	for i, line := range strings.Split(string(readFile(t, "Makefile")), "\n") {
		if strings.HasPrefix(line, "\t") && strings.Contains(line, "./...") {
			t.Errorf("Makefile:%d takes ./..., which is one module; take $(PACKAGES), which is all of go.work", i+1)
		}
	}
}

// Each module builds without the workspace, as it does for its importers.
func TestModulesBuildAlone(t *testing.T) {
	for _, dir := range workspace(t) {
		if dir != "." { // which TestWorkspaceChoosesTheVersionsOfTheModule loads
			runGo(t, dir, "off", "build", "./...")
		}
	}
}

// What is built in the tree is what is built of the module alone: the workspace's
// other modules choose no version of it.
func TestWorkspaceChoosesTheVersionsOfTheModule(t *testing.T) {
	enterRoot()
	root, err := filepath.Abs("go.work")
	if err != nil {
		t.Fatal(err)
	}
	const format = "{{with .Module}}{{if not .Main}}{{if not .Replace}}{{.Path}} {{.Version}}{{end}}{{end}}{{end}}"
	linked := func(work string) []string {
		list := runGo(t, ".", work, "list", "-deps", "-f", format, "./cmd/shoal")
		slices.Sort(list)
		return slices.Compact(list)
	}
	if alone, together := linked("off"), linked(root); !slices.Equal(alone, together) {
		t.Errorf("go.mod says\n%q\nthe workspace\n%q\nrun `go work sync`", alone, together)
	}
}

// A program with an agent and a provider gets few modules, and none that it has no use
// for.
func TestAgentNeedsFewModules(t *testing.T) {
	const most = 10
	enterRoot()
	agent, err := filepath.Abs("agent")
	if err != nil {
		t.Fatal(err)
	}
	for provider, model := range map[string]string{
		"anthropic": `New("model")`, "google": `New("model")`, "openai": `Chat("model")`,
		"azure": `Chat("model", azure.Options{})`, "bedrock": `Claude("model", bedrock.Options{})`, "vertex": `Gemini("model", vertex.Options{})`,
	} {
		t.Run(provider, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("go.mod", fmt.Sprintf("module example.com/program\n\ngo 1.26.0\n\nrequire %[1]s/agent v0.0.0\n\nreplace %[1]s/agent => %[2]s\n", modulePath, agent))
			write("main.go", fmt.Sprintf(`package main

import (
	"context"
	"fmt"

	"%[1]s/agent"
	"%[1]s/agent/provider/%[2]s"
)

func main() {
	a, err := agent.New(%[2]s.%[3]s, agent.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(a.Run(context.Background(), agent.NewConversation(), agent.Say("Hello.")))
}
`, modulePath, provider, model))
			runGo(t, dir, "off", "mod", "tidy")
			runGo(t, dir, "off", "build", "-o", os.DevNull, ".")
			if all := runGo(t, dir, "off", "list", "-m", "all"); len(all) > most {
				t.Errorf("%d modules, at most %d are wanted:\n%s", len(all), most, strings.Join(all, "\n"))
			} else {
				t.Logf("%d modules: %s", len(all), strings.Join(all, ", "))
			}
		})
	}
}
