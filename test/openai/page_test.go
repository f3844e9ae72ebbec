package openai_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// The program of docs/openai.md is run as it is printed.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "openai.md"))
	if err != nil {
		t.Fatal(err)
	}
	printed := regexp.MustCompile("(?s)```js file=chat.mjs\n(.*?)```").FindSubmatch(page)
	if printed == nil {
		t.Fatal("docs/openai.md shows no program")
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
	if err := os.WriteFile(filepath.Join(dir, "chat.mjs"), printed[1], 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t)
	s.host("bot", "[]", "call sendSpaceMessage {\"spaceId\":\"here\",\"text\":\"Which one?\"}\n---\nsay over")
	secret := apptest.PersonKey(t, s.Server, "ann", shoal.DoorOpenAI)
	command := exec.CommandContext(t.Context(), program.Node(t), filepath.Join(dir, "chat.mjs"))
	command.Env = append(os.Environ(), "SHOAL_URL="+s.URL(), "SHOAL_KEY="+secret, "AGENT=bot")
	out, err := command.CombinedOutput()
	if text := string(out); err != nil || !strings.Contains(text, "model bot\n") || !strings.HasSuffix(text, "\nWhich one?\n") {
		t.Errorf("the program ends with %v and prints\n%s", err, text)
	}
}
