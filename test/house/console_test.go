package house_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/roles"
)

// The console that is embedded is built from the sources that lie beside it, and from the packages of clients/ that it uses.
// web/sources.ts computes the same sum.
func TestConsoleIsFresh(t *testing.T) {
	enterRoot()
	const client, hooks = "../clients/typescript", "../clients/react"
	paths := []string{client + "/package.json", client + "/tsconfig.json", hooks + "/package.json", hooks + "/tsconfig.json", "index.html", "offline.ts", "package-lock.json", "sources.ts", "tsconfig.json", "vite.config.ts"}
	for _, dir := range []string{"public", "src", client + "/src", hooks + "/src"} {
		err := filepath.WalkDir(filepath.Join("web", dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.Contains(d.Name(), ".test.") {
				path, err = filepath.Rel("web", path)
				paths = append(paths, filepath.ToSlash(path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(paths)
	sum := sha256.New()
	for _, path := range paths {
		content, err := os.ReadFile(filepath.Join("web", path))
		if err != nil {
			t.Fatal(err)
		}
		file := sha256.Sum256(content)
		_, _ = fmt.Fprintf(sum, "%s  %s\n", hex.EncodeToString(file[:]), path)
	}
	built, err := os.ReadFile("internal/console/dist/sources.txt")
	if want := hex.EncodeToString(sum.Sum(nil)); err != nil || strings.TrimSpace(string(built)) != want {
		t.Errorf("the console in internal/console/dist is not what web/ would build (%s, want %s; %v): run `make web` and commit it", strings.TrimSpace(string(built)), want, err)
	}
}

// The console asks for acts that the server knows: a misspelt one would hide its button from everybody.
func TestConsoleAsksForActsThatExist(t *testing.T) {
	listed := regexp.MustCompile(`(?m)^export type Act = (.*);$`).FindStringSubmatch(string(readFile(t, "web/src/app/console.ts")))
	if listed == nil {
		t.Fatal("web/src/app/console.ts has no type Act")
	}
	for name := range strings.SplitSeq(listed[1], " | ") {
		act := roles.Act(strings.Trim(name, `"`))
		if act != "admin" && !slices.Contains(roles.Acts(), act) { // that is a kind of key, not an act
			t.Errorf("the console asks whether the reader may %q, which internal/roles does not know", act)
		}
	}
}
