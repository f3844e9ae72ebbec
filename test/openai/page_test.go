package openai_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// The programs of docs/openai.md are run as they are printed.
func TestPage(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{"chat.mjs": "model bot\n", "responses.mjs": "Which one?\nWhich one?\n"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			path := program.Printed(t, "openai.md", file)
			s := serve(t)
			s.host("bot", "[]", "call sendSpaceMessage {\"spaceId\":\"here\",\"text\":\"Which one?\"}\n---\nsay over")
			secret := apptest.PersonKey(t, s.Server, "ann", shoal.DoorOpenAI)
			command := exec.CommandContext(t.Context(), program.Node(t), path)
			command.Env = append(os.Environ(), "SHOAL_URL="+s.URL(), "SHOAL_KEY="+secret, "AGENT=bot")
			out, err := command.CombinedOutput()
			if text := string(out); err != nil || !strings.Contains(text, want) || !strings.HasSuffix(text, "\nWhich one?\n") {
				t.Errorf("the program ends with %v and prints\n%s", err, text)
			}
		})
	}
}
