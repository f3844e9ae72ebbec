package shoaltest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/shoal-dev/shoal/internal/storytest"
)

func TestParse(t *testing.T) {
	for line, want := range map[string]string{
		`advance 10s`: `advance [10s] map[]`,
		`post ann shop "hello, world" mentions=bot,zoe`: `post [ann shop hello, world] map[mentions:bot,zoe]`,
		`post  ann   shop "a=b" once="two words"`:       `post [ann shop a=b] map[once:two words]`,
		`post ann shop "a \"b\" \x00"`:                  "post [ann shop a \"b\" \x00] map[]",
		`set ann shop admin= name=x`:                    `set [ann shop] map[admin: name:x]`,
		`post ann shop "open`:                           `error`,
	} {
		got := "error"
		if c, err := parse(line); err == nil {
			got = fmt.Sprint(c.verb, " ", c.words, " ", c.options)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", line, got, want)
		}
	}
}

// A misspelt word makes a scenario fail.
func TestCommandsAreComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		defer s.stop()
		for _, line := range []string{"entity ann humane", "space shop by ann member=bot", "spaec shop by ann", "space shop ann", "events f1", "written w1", "advance soon"} {
			if err := s.do(line); err == nil {
				t.Errorf("%q was accepted as a command", line)
			}
		}
	})
}

// Playing a scenario returns its text with the actual outputs, and -update writes it.
func TestPlay(t *testing.T) {
	const scenario = "# A story.\n\nentity ann human\nspaces ann\n----\nann human offline\nnone\n\n# The end.\n"
	blank := strings.Replace(scenario, "ann human offline\nnone\n", "", 1)
	wrong := strings.Replace(scenario, "offline", "connected", 1)
	file := filepath.Join(t.TempDir(), "story.txt")
	for name, text := range map[string]string{"as expected": scenario, "without outcome": blank, "with another one": wrong} {
		synctest.Test(t, func(t *testing.T) {
			if got := play(t, file, text); got != scenario {
				t.Errorf("%s: it plays as\n%s", name, storytest.Difference(scenario, got))
			}
		})
	}
	if err := os.WriteFile(file, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	Play(t, file, true)
	if got, err := os.ReadFile(file); err != nil || string(got) != scenario {
		t.Errorf("with -update the file holds %q, %v", got, err)
	}
}
