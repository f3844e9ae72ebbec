package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// usable is what a Python must be for the tests: new enough, with the library that the client uses
// and the one that builds its wheel.
const usable = "import sys, httpx, hatchling; assert sys.version_info >= (3, 10)"

// Python returns the path of a Python that can run the Python client and build its wheel. It fails
// the test if it finds none.
func Python(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		path, err := exec.LookPath(name)
		if err == nil && exec.Command(path, "-c", usable).Run() == nil {
			return path
		}
	}
	t.Fatal("no Python 3.10 or newer with the packages httpx and hatchling; run `make setup`")
	return ""
}

// PythonWheel builds the wheel of the Python client, and returns the path of the file. It fails the
// test if that is not possible.
func PythonWheel(t testing.TB) string {
	t.Helper()
	const root = "clients/python"
	// A cached result of a test is void when a source of the client has changed.
	sources, err := filepath.Glob(filepath.Join(Installed(t, root+"/src/shoal"), "*"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("%d sources, %v", len(sources), err)
	}
	for _, file := range append(sources, Installed(t, root+"/pyproject.toml"), Installed(t, root+"/README.md")) {
		if _, err := os.Stat(file); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	if said, err := output(Installed(t, root), []string{"PYTHONDONTWRITEBYTECODE=1"}, Python(t), "-m", "hatchling", "build", "-t", "wheel", "-d", dir); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	wheels, err := filepath.Glob(filepath.Join(dir, "*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("%v, %v", wheels, err)
	}
	return wheels[0]
}

// PythonClient installs the Python client as it is published, and returns the command that runs
// programs with it.
func PythonClient(t testing.TB) []string {
	t.Helper()
	site := filepath.Join(t.TempDir(), "site")
	python := Python(t)
	if said, err := output(".", nil, python, "-m", "zipfile", "-e", PythonWheel(t), site); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	env := []string{"env", "PYTHONPATH=" + site, "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1", python, "-W", "error"}
	return env[:len(env):len(env)]
}
