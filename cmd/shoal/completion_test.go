package main

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/completion"
)

// inShell is a directory with shoal on its PATH, beside a server that runs.
func inShell(t *testing.T) (dir string, env []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	// The test binary is the command when it is called so: see TestMain.
	if err := os.Symlink(self, filepath.Join(dir, "shoal")); err != nil {
		t.Fatal(err)
	}
	s := apptest.Start(t)
	return dir, []string{
		"PATH=" + dir + ":" + os.Getenv("PATH"), "HOME=" + dir, "ZDOTDIR=" + dir, "TERM=xterm", "LANG=C.UTF-8",
		"SHOAL_URL=" + s.URL, "SHOAL_KEY=" + s.Agent("scout"), "SHOAL_COMPLETE_WITHIN=30s",
	}
}

// shellNamed returns the program of a shell.
func shellNamed(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%v; install it with: apt-get install %s (`make setup` does)", err, name)
	}
	return path
}

// People press the key in a shell of theirs; so does this, in the shells themselves.
func TestTheKeyIsPressedInRealShells(t *testing.T) {
	dir, env := inShell(t)
	for name, program := range map[string]struct {
		args   []string
		source string
	}{
		"bash": {[]string{"--norc", "--noprofile", "-i"}, "source <(shoal completion bash)"},
		"zsh":  {[]string{"-f", "-i"}, "autoload -Uz compinit && compinit -u -D; source <(shoal completion zsh)"},
	} {
		t.Run(name, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), shellNamed(t, name), program.args...)
			c.Env, c.Dir = env, dir
			terminal, err := pty.StartWithSize(c, &pty.Winsize{Rows: 40, Cols: 200})
			if err != nil {
				t.Fatal(err)
			}
			screen := &screenText{t: t, to: terminal, pieces: make(chan []byte), seen: vt10x.New(vt10x.WithSize(200, 40))}
			go screen.read() // ends with the shell
			defer func() {
				_ = c.Process.Kill()
				for range screen.pieces { // what it still writes
				}
				_ = c.Wait()
				_ = terminal.Close()
			}()
			screen.write(program.source + "\n")
			screen.write("echo is-\"ready\"\n")
			screen.until("is-ready")
			// The one answer is written out, after what was typed …
			for typed, done := range map[string]string{
				"echo a; shoal spaces sho\twel\t":               "echo a; shoal spaces show welcome",
				"echo b; shoal tail --ses\tdef\t":               "echo b; shoal tail --session default",
				"echo c; shoal --session=def\t":                 "echo c; shoal --session=default",
				"echo d; shoal --url=" + env[5][10:] + " ver\t": "echo d; shoal --url=" + env[5][10:] + " version",
			} {
				screen.write(typed)
				screen.until(done)
				screen.write("\x15") // takes the line away
			}
			// … and runs.
			screen.write("shoal spaces show wel\t--json | tr '{' '\\n'\n")
			screen.until(`"id":"welcome"`)
		})
	}
}

// fish lists what it would offer.
func TestFishOffers(t *testing.T) {
	dir, env := inShell(t)
	if err := os.WriteFile(filepath.Join(dir, "page.html"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"shoal spaces sho":          "show\tShow a space and its members.",
		"shoal spaces show ":        "welcome\tWelcome",
		"shoal tail --session=":     "--session=default\topen",
		"shoal send welcome -m sco": "scout\tagent, connected",
		"shoal send welcome -f pag": "page.html",
		"shoal serve --config=pag":  "--config=page.html",
	} {
		c := exec.CommandContext(t.Context(), shellNamed(t, "fish"), "--no-config", "-c", "shoal completion fish | source; complete -C "+"'"+line+"'")
		c.Env, c.Dir = env, dir
		out, err := c.CombinedOutput()
		if err != nil || !strings.Contains("\n"+string(out), "\n"+want+"\n") && !strings.HasPrefix(string(out), want) {
			t.Errorf("%q: %v, got\n%s\nwant %q", line, err, out, want)
		}
	}
}

// screenText is what a shell writes.
type screenText struct {
	t      *testing.T
	to     *os.File
	pieces chan []byte
	seen   vt10x.Terminal
}

// read passes on the output of the shell until it ends.
func (s *screenText) read() {
	defer close(s.pieces)
	for {
		piece := make([]byte, 4096)
		n, err := s.to.Read(piece)
		if err != nil {
			return
		}
		s.pieces <- piece[:n]
	}
}

func (s *screenText) write(keys string) {
	s.t.Helper()
	if _, err := s.to.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// until reads until the shell has written a text.
func (s *screenText) until(text string) {
	s.t.Helper()
	late := time.After(20 * time.Second)
	for !strings.Contains(s.seen.String(), text) {
		select {
		case piece, more := <-s.pieces:
			if _, err := s.seen.Write(piece); err != nil {
				s.t.Fatal(err)
			}
			if !more {
				s.t.Fatalf("the shell ended before %q; it shows\n%s", text, s.seen.String())
			}
		case <-late:
			s.t.Fatalf("%q does not come; it shows\n%s", text, s.seen.String())
		}
	}
}

// Completion does not wait for a server that does not answer.
func TestASilentServerIsNotWaitedFor(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	dir, env := inShell(t)
	c := exec.CommandContext(t.Context(), filepath.Join(dir, "shoal"), "__complete", "--url", "http://"+silent.Addr().String(), "spaces", "show", "")
	c.Env = append(env, "SHOAL_COMPLETE_WITHIN=")
	const patience = 300 * time.Millisecond // as long as a server may take without SHOAL_COMPLETE_WITHIN
	began := time.Now()
	out, err := c.CombinedOutput()
	if took := time.Since(began); err != nil || len(out) > 0 || took < patience || took > patience+10*time.Second {
		t.Errorf("%v after %s: %q", err, took, out)
	}
}

// Commands, flags and values are those of --help, because they are the same ones.
func TestEveryCommandIsCompleted(t *testing.T) {
	root := cli.NewParser(new(commands)).Model.Node
	for _, leaf := range root.Leaves(true) {
		path := strings.Fields(strings.TrimSuffix(leaf.Path(), ")"))
		var words []string
		for _, word := range path {
			if !strings.HasPrefix(word, "(") {
				words = append(words, word)
			}
		}
		for i := range words {
			if !slices.Contains(offered(t, words[:i+1]...), words[i]) {
				t.Errorf("%q is not offered after %q", words[i], words[:i])
			}
		}
		for _, flag := range leaf.Flags {
			if !flag.Hidden && !slices.Contains(offered(t, append(words, "--")...), "--"+flag.Name) {
				t.Errorf("--%s of %q is not offered", flag.Name, words)
			}
		}
	}
}

// offered returns what is offered in the place of the last of the words.
func offered(t *testing.T, words ...string) (values []string) {
	t.Helper()
	var out strings.Builder
	sh := &cli.Shell{Globals: new(cli.Globals), Output: &cli.Output{Out: &out, Notes: io.Discard}, Grammar: newCommands}
	_, chosen, err := sh.Parse("version")
	if err != nil {
		t.Fatal(err)
	}
	if err := (&completion.CompleteCommand{Words: words}).Run(t.Context(), sh, chosen); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		value, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		values = append(values, value)
	}
	return values
}
