package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/shoal-dev/shoal/internal/app"
)

// typed runs a script on a terminal of 100 columns and returns what the terminal showed.
func typed(t *testing.T, env []string, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Env = append(append(os.Environ(), "TERM=xterm-256color"), env...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 100, Rows: 30})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tty.Close() }() // it was only read
	shown, _ := io.ReadAll(tty)        // ends with an error when the terminal does
	_ = cmd.Wait()                     // the exit code is in what the script shows
	return strings.ReplaceAll(string(shown), "\r\n", "\n")
}

// hereServed starts a server and returns the environment of commands that call it.
func hereServed(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	server, err := app.Start(context.Background(), app.Config{Addr: "127.0.0.1:0", Data: data})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	return []string{"SHOAL_URL=" + server.URL(), "SHOAL_DATA=" + data, "HOME=" + dir, "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "XDG_CONFIG_HOME=" + dir, "NO_COLOR="}
}

// A list on a terminal has numbers, which later commands of the same shell take for the rows
// that were shown. Another shell has other numbers.
func TestRowsOfAListHaveNumbers(t *testing.T) {
	env := hereServed(t)
	shown := typed(t, env, `shoal keys create --entity scout -q >/dev/null
		shoal keys
		shoal keys create --entity later -q >/dev/null

		shoal keys revoke 2; echo exit $?
		shoal keys revoke 9; echo exit $?
		sh -c 'shoal keys revoke 1; echo exit $?; :'`)
	row := regexp.MustCompile(`(?m)^\S*2\S*  entity .* (key_\w+)\s*$`).FindStringSubmatch(shown)
	if row == nil {
		t.Fatalf("no row has the number 2:\n%s", shown)
	}
	for _, want := range []string{"note: " + row[1] + " is revoked\nexit 0\n", "Row 9 not found: `shoal keys` has listed 2 in this terminal.\n", "exit 3\n", "Row 1 not found: `shoal keys` has listed nothing in this terminal yet."} {
		if !strings.Contains(shown, want) {
			t.Errorf("the terminal does not show %q:\n%s", want, shown)
		}
	}
	if info, err := os.Stat(filepath.Join(env[2][len("HOME="):], "state", "shoal", "lists.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the lists are %v, %v; want a file that only its owner reads", info, err)
	}
}

// A terminal gets colors, ages and notes; a pipe and NO_COLOR get none of them.
func TestOutputByReader(t *testing.T) {
	env := hereServed(t)
	shown := typed(t, env, `shoal spaces; shoal sessions; shoal approvals; shoal doctor`)
	for _, want := range []string{"\x1b[32mopen\x1b[0m", " s ago", "note: there is nothing to list", "checks are fine; `shoal doctor --all` lists them."} {
		if !strings.Contains(shown, want) {
			t.Errorf("a terminal does not show %q:\n%s", want, shown)
		}
	}
	if plain := typed(t, append(env, "NO_COLOR=1"), `shoal spaces; shoal --help; shoal nonsense`); strings.Contains(plain, "\x1b") || !strings.Contains(plain, "welcome") {
		t.Errorf("with NO_COLOR a terminal shows %q", plain)
	}
	if piped := typed(t, env, `shoal spaces | cat; shoal sessions | cat; shoal runs | cat`); strings.Contains(piped, "\x1b") || strings.Contains(piped, "ago") || strings.Contains(piped, "ID") || !strings.Contains(piped, "welcome\t") {
		t.Errorf("a pipe gets %q", piped)
	}
}

// Doctor shows equal advice once, and no check that is fine.
func TestDoctorGroupsWarnings(t *testing.T) {
	env := hereServed(t)
	shown := typed(t, env, `for a in one two three four five six seven; do shoal keys create --entity $a -q >/dev/null; done
		shoal doctor; shoal doctor --all | cat`)
	person, program, _ := strings.Cut(shown, "lists them.")
	if strings.Count(person, "let it call wait_for_mentions") != 1 || strings.Count(person, "was never here") != 5 || !strings.Contains(person, "and 2 more like these") || strings.Contains(person, "migrations") {
		t.Errorf("a person gets\n%s", person)
	}
	if strings.Count(program, "\twarn\twas never here\t") != 7 || !strings.Contains(program, "migrations\tok\t") {
		t.Errorf("a program gets\n%s", program)
	}
}
