package aisdk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// The programs of docs/ai-sdk.md are run, or built, as they are printed.
func TestPage(t *testing.T) {
	t.Parallel()
	s := serve(t, app.Config{})
	ann := s.key("ann")
	s.host("poet", "[]", "call sendSpaceMessage {\"spaceId\":\"here\",\"text\":\"Which one?\"}\n---\nsay over")
	command := exec.CommandContext(t.Context(), program.Node(t), program.Printed(t, "ai-sdk.md", "chat.mjs"))
	command.Env = append(os.Environ(), "SHOAL_URL="+s.URL(), "SHOAL_KEY="+ann, "SPACE=poet")
	out, err := command.CombinedOutput()
	if text := string(out); err != nil || !strings.HasSuffix(text, "text Which one?\n") {
		t.Errorf("the program ends with %v and prints\n%s", err, text)
	}
	page := program.Printed(t, "ai-sdk.md", "chat.jsx")
	built := exec.CommandContext(t.Context(), filepath.Join("node_modules", ".bin", "esbuild"), page, "--bundle", "--jsx=automatic", "--format=esm", "--outfile="+filepath.Join(filepath.Dir(page), "out.js"))
	if out, err := built.CombinedOutput(); err != nil {
		t.Errorf("the page is not built: %v\n%s", err, out)
	}
}
