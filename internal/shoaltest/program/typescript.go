package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TypeScript compiles a program against @shoal-dev/client, built as it is published, with the
// types of Node alone, and returns the path of the result. It fails the test if the compiler
// finds an error.
func TypeScript(t testing.TB, source string) string {
	t.Helper()
	const root = "clients/typescript"
	compiler := Installed(t, root+"/node_modules/typescript-7/bin/tsc")
	dir := t.TempDir()
	client := filepath.Join(dir, "node_modules", "@shoal-dev", "client")
	compile := func(args ...string) {
		t.Helper()
		if said, err := output(dir, nil, append([]string{"node", compiler}, args...)...); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
	}
	compile("-p", Installed(t, root+"/tsconfig.build.json"), "--outDir", filepath.Join(client, "dist"))
	copyFile(t, Installed(t, root+"/package.json"), filepath.Join(client, "package.json"))
	if err := os.Symlink(Installed(t, root+"/node_modules/@types"), filepath.Join(dir, "node_modules", "@types")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type": "module"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, filepath.Base(source))
	copyFile(t, source, program)
	compile("--strict", "--module", "nodenext", "--target", "es2023", "--lib", "es2023", "--types", "node", program)
	// A cached result of a test is void when a source of the client has changed.
	sources, err := filepath.Glob(filepath.Join(Installed(t, root+"/src"), "*.ts"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("%d sources, %v", len(sources), err)
	}
	for _, file := range sources {
		if _, err := os.Stat(file); err != nil {
			t.Fatal(err)
		}
	}
	return strings.TrimSuffix(program, ".ts") + ".js"
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
