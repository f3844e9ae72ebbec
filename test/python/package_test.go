package python_test

import (
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

const root = "../../clients/python"

// run runs a command in a directory and returns what it writes.
func run(t *testing.T, dir string, command ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), command[0], command[1:]...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return string(out)
}

// What needs no server is tested by Python itself.
func TestUnits(t *testing.T) {
	t.Parallel()
	out := run(t, root, append(program.PythonClient(t), "-m", "unittest", "discover", "-s", "tests")...)
	if found := regexp.MustCompile(`Ran (\d+) tests`).FindStringSubmatch(out); found == nil || len(found[1]) < 2 {
		t.Errorf("not enough tests ran:\n%s", out)
	}
}

// The generated files are those of the OpenAPI document.
func TestGeneratedFilesAreFresh(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run(t, root, program.Python(t), "generate.py", dir)
	for _, name := range []string{"models.py", "_operations.py"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(root, "src/shoal", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("clients/python/src/shoal/%s is not what generate.py writes: run `make generate`", name)
		}
	}
}

// The first two numbers of the version are the version of the API.
func TestVersion(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "src/shoal/_version.py"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `VERSION = "`+shoal.APIVersion+`.`) {
		t.Errorf("the version of the API is %s, and _version.py has\n%s", shoal.APIVersion, text)
	}
}

// The types are complete, in strict mode: of the client, of its tests, and of programs that use it.
func TestTypes(t *testing.T) {
	t.Parallel()
	run(t, root, "node", program.Installed(t, "test/python/node_modules/pyright/index.js"), "--pythonpath", program.Python(t))
}

// A type checker refuses wrong calls of the installed client, so its types arrive with it.
func TestTypesArriveWithTheWheel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run(t, ".", program.Python(t), "-m", "zipfile", "-e", program.PythonWheel(t), filepath.Join(dir, "site"))
	files := map[string]string{
		"pyrightconfig.json": `{"typeCheckingMode": "strict", "extraPaths": ["site"], "include": ["*.py"], "pythonVersion": "3.10"}`,
		"wrong.py": `from shoal import Shoal, models
message = Shoal("http://localhost", "key").send("welcome", 7)
answer: models.PendingAnswer = {"aproved": True}
message["entityID"]
`,
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), "node", program.Installed(t, "test/python/node_modules/pyright/index.js"), "--outputjson", "--pythonpath", program.Python(t))
	c.Dir = dir
	out, _ := c.Output() // its status says that there are errors
	var found struct {
		GeneralDiagnostics []struct {
			Rule, Message string
			Range         struct{ Start struct{ Line int } }
		}
	}
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var lines []int
	for _, d := range found.GeneralDiagnostics {
		lines = append(lines, d.Range.Start.Line+1)
	}
	slices.Sort(lines)
	if lines = slices.Compact(lines); !slices.Equal(lines, []int{2, 3, 4}) {
		t.Errorf("the lines %v are wrong, want 2, 3 and 4: %+v", lines, found.GeneralDiagnostics)
	}
}

// The wheel holds the package with its types and nothing else, needs httpx alone, and has the major
// version of the API.
func TestWheel(t *testing.T) {
	t.Parallel()
	path := program.PythonWheel(t)
	wheel, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer wheel.Close()
	sources, err := filepath.Glob(filepath.Join(root, "src/shoal/*"))
	if err != nil {
		t.Fatal(err)
	}
	version := strings.TrimSpace(run(t, ".", append(program.PythonClient(t), "-c", "import shoal; print(shoal.__version__)")...))
	info := "shoal-" + version + ".dist-info/"
	want := []string{info + "METADATA", info + "RECORD", info + "WHEEL", info + "licenses/LICENSE"}
	for _, source := range sources {
		if name := filepath.Base(source); name != "__pycache__" {
			want = append(want, "shoal/"+name)
		}
	}
	slices.Sort(want)
	var got []string
	texts := map[string]string{}
	for _, f := range wheel.File {
		got = append(got, f.Name)
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close() // read completely
		texts[filepath.Base(f.Name)] = string(text)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) || texts["models.py"] == "" {
		t.Errorf("the wheel has %v, want %v", got, want)
	}
	if _, typed := texts["py.typed"]; !typed {
		t.Error("the wheel has no py.typed")
	}
	metadata := texts["METADATA"]
	if !strings.Contains(metadata, "\nName: shoal\n") || !strings.Contains(metadata, "\nRequires-Python: >=3.10\n") || !strings.Contains(metadata, "The Python client of") {
		t.Errorf("the metadata is\n%s", metadata)
	}
	if needs := regexp.MustCompile(`(?m)^Requires-Dist: (.*)$`).FindAllStringSubmatch(metadata, -1); len(needs) != 1 || !strings.HasPrefix(needs[0][1], "httpx") {
		t.Errorf("the wheel needs %v, want httpx alone", needs)
	}
	api, err := os.ReadFile("../../internal/httpapi/openapi/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct{ Info struct{ Version string } }
	if err := json.Unmarshal(api, &document); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(version, document.Info.Version+".") || !strings.Contains(metadata, "\nVersion: "+version+"\n") {
		t.Errorf("the version is %s, the API's %s, the metadata has\n%s", version, document.Info.Version, metadata)
	}
}
