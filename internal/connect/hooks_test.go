package connect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hooked are the settings with the hooks of one server, and nothing else.
func hooked(t *testing.T) string {
	t.Helper()
	one := func(event, rest string) string {
		return `    "` + event + `": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/bin/shoal",
            "args": [
              "wake-hook",
              "claude",
              "--entry",
              "shoal"
            ],
` + rest + `
          }
        ]
      }
    ]`
	}
	const (
		wakes     = "            \"async\": true,\n            \"asyncRewake\": true,\n            \"timeout\": 604800"
		asks      = "            \"timeout\": 604800"
		remembers = "            \"async\": true,\n            \"timeout\": 60"
	)
	return "{\n  \"hooks\": {\n" + strings.Join([]string{
		one("SessionStart", wakes), one("UserPromptSubmit", wakes), one("Stop", wakes),
		one("PermissionRequest", asks), one("PostToolUse", remembers), one("PostToolUseFailure", remembers),
	}, ",\n") + "\n  }\n}\n"
}

// The hooks are added beside those of the person, and removing them restores the file.
func TestHooksGoInAndOut(t *testing.T) {
	t.Parallel()
	const others = `{
  // mine
  "model": "opus",
  "hooks": {
    "Stop": [
      {
        "hooks": [{"type": "command", "command": "say done"}] // loud
      }
    ],
    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "shoal wake-hook"}]}],
  },
}
`
	for name, before := range map[string]string{
		"nothing": "", "an empty object": "{}\n", "no hooks": "{\n  \"model\": \"opus\"\n}\n", "hooks of the person": others,
		"empty lists": "{\n  \"hooks\": {\n    \"Stop\": [],\n    \"SessionStart\": []\n  }\n}\n", "lines of Windows": strings.ReplaceAll(others, "\n", "\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "settings.json")
			if before != "" {
				write(t, path, before)
			}
			c := openHooks(t, path)
			if entry, found, err := c.Entry("shoal"); err != nil || found {
				t.Errorf("before, the entry is %+v, %v, %v", entry, found, err)
			}
			change, err := c.With("shoal", Target{Program: "/bin/shoal"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := change.Write(); err != nil {
				t.Fatal(err)
			}
			after := read(t, path)
			if before == "" && after != hooked(t) {
				t.Errorf("alone they are (-want +got):\n%s", cmp.Diff(hooked(t), after))
			}
			if n := strings.Count(after, `"asyncRewake": true`); n != 3 {
				t.Errorf("there are %d hooks in\n%s", n, after)
			}
			with := openHooks(t, path)
			if _, found, err := with.Entry("shoal"); err != nil || !found {
				t.Errorf("they are not found: %v", err)
			}
			if _, found, err := with.Entry("other"); err != nil || found {
				t.Errorf("those of another server are found: %v", err)
			}
			if again, err := with.With("shoal", Target{Program: "/bin/shoal"}, &change.Undo); err != nil || !again.None() {
				t.Errorf("a second time they change: %v\n%s", err, again.Diff())
			}
			takesHooksOut(t, path, before, &change.Undo)
		})
	}
}

// takesHooksOut removes the hooks, once from the file as it is and once from one that was changed since.
func takesHooksOut(t *testing.T, path, before string, undo *Memory) {
	t.Helper()
	after := read(t, path)
	changed := *undo
	changed.After = ""
	for _, memory := range []*Memory{undo, &changed} {
		write(t, path, after)
		change, err := openHooks(t, path).Without("shoal", memory)
		if err != nil {
			t.Fatal(err)
		}
		if err := change.Write(); err != nil {
			t.Fatal(err)
		}
		if before == "" {
			if _, err := os.Stat(path); !os.IsNotExist(err) {
				t.Errorf("the file is still there: %v", err)
			}
			continue
		}
		if diff := cmp.Diff(before, read(t, path)); diff != "" {
			t.Errorf("afterwards (-want +got):\n%s", diff)
		}
	}
}

// A hook that a person has put among others, or that names an old program, is changed where it is.
func TestHooksAreReplacedInPlace(t *testing.T) {
	t.Parallel()
	const before = `{"hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "a"}, {"type": "command", "command": "/old/shoal", "args": ["wake-hook", "claude", "--entry", "shoal"], "timeout": 5}]}]}}`
	path := filepath.Join(t.TempDir(), "settings.json")
	write(t, path, before)
	change, err := openHooks(t, path).With("shoal", Target{Program: "/new/shoal"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := change.Write(); err != nil {
		t.Fatal(err)
	}
	after := read(t, path)
	if strings.Contains(after, "/old/shoal") || strings.Count(after, "/new/shoal") != 6 || strings.Contains(after, `"timeout": 5}`) {
		t.Errorf("the hooks are\n%s", after)
	}
	if change, err = openHooks(t, path).Without("shoal", nil); err != nil {
		t.Fatal(err)
	}
	if err := change.Write(); err != nil {
		t.Fatal(err)
	}
	const want = `{"hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "a"}]}], "SessionStart": [], "UserPromptSubmit": [], "PermissionRequest": [], "PostToolUse": [], "PostToolUseFailure": []}}`
	if diff := cmp.Diff(want, read(t, path)); diff != "" {
		t.Errorf("without a record (-want +got):\n%s", diff)
	}
}

// Hooks of a version that had fewer of them are completed, and all go, also from a file that was changed since.
func TestHooksOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "settings.json")
	earlier := hookFiles["claude-code"]
	earlier.events = wakeEvents
	c, err := open(earlier, path)
	if err != nil {
		t.Fatal(err)
	}
	first, err := c.With("shoal", Target{Program: "/bin/shoal"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Write(); err != nil {
		t.Fatal(err)
	}
	second, err := openHooks(t, path).With("shoal", Target{Program: "/bin/shoal"}, &first.Undo)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Write(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(hooked(t), read(t, path)); diff != "" {
		t.Errorf("completed they are (-want +got):\n%s", diff)
	}
	takesHooksOut(t, path, "", &second.Undo)
}

// Who does not want to be asked in Shoal has the hooks that wake alone, and may change that. In the end the
// file is as it was.
func TestHooksThatOnlyWake(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{"nothing": "", "an own hook": `{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "fmt"}]}]}}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "settings.json")
			if before != "" {
				write(t, path, before)
			}
			var memory *Memory
			for _, c := range []struct{ only, again bool }{{only: true}, {only: true, again: true}, {}, {only: true}} {
				change, err := openHooks(t, path).With("shoal", Target{Program: "/bin/shoal", WakeOnly: c.only}, memory)
				if err != nil || change.None() != c.again {
					t.Fatalf("%+v: nothing changes: %v; %v", c, change.None(), err)
				}
				if err := change.Write(); err != nil {
					t.Fatal(err)
				}
				memory = &change.Undo
				after, asks := read(t, path), 3
				if c.only {
					asks = 0
				}
				if strings.Count(after, `"asyncRewake": true`) != 3 || strings.Count(after, "/bin/shoal") != 3+asks || strings.Contains(after, "PermissionRequest") == c.only {
					t.Errorf("%+v: the hooks are\n%s", c, after)
				}
			}
			takesHooksOut(t, path, before, memory)
		})
	}
}

// Settings in another form are refused and stay as they are.
func TestHooksInAnotherForm(t *testing.T) {
	t.Parallel()
	for text, why := range map[string]string{
		`{"hooks": []}`:           "an object was expected at hooks",
		`{"hooks": {"Stop": {}}}`: "an array was expected at hooks.Stop",
		`{"hooks": {`:             "it is not JSON",
	} {
		path := filepath.Join(t.TempDir(), "settings.json")
		write(t, path, text)
		c, err := OpenHooks(clientOf(t, "claude-code"), path)
		if err == nil {
			_, err = c.With("shoal", Target{Program: "/bin/shoal"}, nil)
		}
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", text, err, why)
		}
	}
}

// The hooks of Codex are commands of a shell, in a file of their own.
func TestHooksOfCodex(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "hooks.json")
	codex := clientOf(t, "codex")
	c, err := OpenHooks(codex, path)
	if err != nil {
		t.Fatal(err)
	}
	change, err := c.With("shoal", Target{Program: "/opt/o'neill tools/shoal"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := change.Write(); err != nil {
		t.Fatal(err)
	}
	if text := read(t, path); strings.Count(text, `"command": "'/opt/o'\\''neill tools/shoal' wake-hook codex --entry shoal"`) != 3 {
		t.Errorf("the hooks are\n%s", text)
	}
	if c, err = OpenHooks(codex, path); err != nil {
		t.Fatal(err)
	}
	if change, err = c.Without("shoal", &change.Undo); err != nil {
		t.Fatal(err)
	}
	if err := change.Write(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

func openHooks(t *testing.T, path string) *Config {
	t.Helper()
	c, err := OpenHooks(clientOf(t, "claude-code"), path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
