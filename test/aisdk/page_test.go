package aisdk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// The programs of docs/ai-sdk.md are run, or built, as they are printed.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "ai-sdk.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(".", "page-") // below node_modules
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"chat.mjs", "chat.jsx"} {
		printed := regexp.MustCompile("(?s)```jsx? file=" + regexp.QuoteMeta(name) + "\n(.*?)```").FindSubmatch(page)
		if printed == nil {
			t.Fatalf("docs/ai-sdk.md shows no %s", name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), printed[1], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, app.Config{})
	ann := s.key("ann")
	s.host("poet", "[]", "call sendSpaceMessage {\"spaceId\":\"here\",\"text\":\"Which one?\"}\n---\nsay over")
	command := exec.CommandContext(t.Context(), program.Node(t), filepath.Join(dir, "chat.mjs"))
	command.Env = append(os.Environ(), "SHOAL_URL="+s.URL(), "SHOAL_KEY="+ann, "SPACE=poet")
	out, err := command.CombinedOutput()
	if text := string(out); err != nil || !strings.HasSuffix(text, "text Which one?\n") {
		t.Errorf("the program ends with %v and prints\n%s", err, text)
	}
	built := exec.CommandContext(t.Context(), filepath.Join("node_modules", ".bin", "esbuild"), filepath.Join(dir, "chat.jsx"), "--bundle", "--jsx=automatic", "--format=esm", "--outfile="+filepath.Join(dir, "out.js"))
	if out, err := built.CombinedOutput(); err != nil {
		t.Errorf("the page is not built: %v\n%s", err, out)
	}
}
