package agui_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// The program of docs/ag-ui.md runs as it is printed, with the agent that a new server has.
func TestPage(t *testing.T) {
	t.Parallel()
	s := serve(t)
	secret := apptest.PersonKey(t, s.Server, "ann", shoal.DoorAGUI)
	if _, err := s.Hub.Spaces.Join(t.Context(), person, shoal.DefaultSession, app.Welcome, "ann"); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "node", program.Printed(t, "ag-ui.md", "chat.mjs"))
	command.Env = append(os.Environ(), "SHOAL_URL="+s.URL(), "SHOAL_KEY="+secret)
	out, err := command.CombinedOutput()
	if text := string(out); err != nil || !strings.HasPrefix(text, "I am a script") || strings.Count(text, "\nshowProductCard {") != 2 {
		t.Errorf("the program ends with %v and prints\n%s", err, text)
	}
}
