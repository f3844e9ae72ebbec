package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/cli"
)

// patience is how long a test waits for an output before it fails.
const patience = 20 * time.Second

// watched is a command in a pseudo-terminal whose screen the test reads.
type watched struct {
	t    *testing.T
	tty  *os.File
	cmd  *exec.Cmd
	done chan struct{}

	mu    sync.Mutex
	term  vt10x.Terminal
	drawn chan struct{} // the screen changed since the last read
	raw   bytes.Buffer
}

// showing starts a command on a terminal of the given size. It ends with the test.
func showing(t *testing.T, env []string, width, height uint16, args ...string) *watched {
	t.Helper()
	s := &watched{
		t: t, cmd: exec.CommandContext(t.Context(), "shoal", args...), done: make(chan struct{}), drawn: make(chan struct{}, 1),
		term: vt10x.New(vt10x.WithSize(int(width), int(height))),
	}
	s.cmd.Env = append(append(os.Environ(), "TERM=xterm-256color", "NO_COLOR=1"), env...)
	var err error
	if s.tty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Cols: width, Rows: height}); err != nil {
		t.Fatal(err)
	}
	go s.draw()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // it may have ended
		<-s.done
		_ = s.tty.Close() // it was only read and typed into
	})
	return s
}

// draw draws the output of the command until it ends.
func (s *watched) draw() {
	defer close(s.done)
	buffer := make([]byte, 4096)
	for {
		n, err := s.tty.Read(buffer)
		s.mu.Lock()
		_, _ = s.term.Write(buffer[:n]) // the terminal draws what it can
		s.raw.Write(buffer[:n])
		s.mu.Unlock()
		select {
		case s.drawn <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (s *watched) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.term.String()
}

// see waits until all the texts are on the screen at once.
func (s *watched) see(all ...string) {
	s.t.Helper()
	limit := time.After(patience)
	for {
		text, missing := s.text(), ""
		for _, want := range all {
			if !strings.Contains(text, want) {
				missing = want
			}
		}
		if missing == "" {
			return
		}
		select {
		case <-s.drawn:
		case <-limit:
			s.t.Fatalf("%q does not appear on the screen:\n%s", missing, text)
		}
	}
}

func (s *watched) press(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		if _, err := io.WriteString(s.tty, k); err != nil {
			s.t.Fatal(err)
		}
	}
}

const (
	enter = "\r"
	ctrlC = "\x03"
	ctrlF = "\x06"
	ctrlO = "\x0f"
	ctrlU = "\x15"
	ctrlX = "\x18"
	esc   = "\x1b"
)

// The first use in a terminal: a person asks for a laptop, sees the answer and the cards stream
// in, chooses one, approves the order in the other space, and reads the outcome. The server
// restarts in the middle of the answer.
func TestChatOnTheWholeTerminal(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	server := serving(t, "127.0.0.1:0", data)
	env := []string{"SHOAL_URL=" + server.URL(), "SHOAL_DATA=" + data}
	s := showing(t, env, 100, 40, "chat")
	s.see("Welcome", "● live", "Write a message")
	s.press("I need a laptop", enter)
	s.see("operator", "I need a laptop", "… writing", "I am a script")

	// The server stops and restarts while the agent writes.
	address := strings.TrimPrefix(server.URL(), "http://")
	server.Stop()
	s.see("connection lost")
	server = serving(t, address, data)
	defer func() { server.Stop() }()
	s.see("● live", "Lark Air 13", "Lark Pro 16", "! 2 for you")
	if n := strings.Count(s.text(), "I am a script"); n != 1 {
		t.Errorf("the answer is on the screen %d times, want once:\n%s", n, s.text())
	}

	s.press(ctrlO, enter)
	s.see("chosen (y or n)")
	s.press("perhaps", enter)
	s.see(`"perhaps" is not valid here`)
	s.press(ctrlU+"y", enter)
	s.see("✓ done by operator", `{"chosen":true}`, `{"chosen":false}`, "A good choice", "! 1 for you")

	// The approval is requested in another space, and takes more than one key.
	s.press(ctrlO)
	s.see("placeOrder", "! waits for you")
	s.press(enter)
	s.see("asks for permission: placeOrder", "decision")
	s.press("y", enter, "fine", enter)
	s.see("✓ done by operator", `"product":"Lark Air 13"`, "Welcome           1")
	s.press("n")
	s.see("It was approved")
	s.press(ctrlC)
	<-s.done
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("chat ended with %v", err)
	}
	for _, want := range []string{"\x1b[?1049h", "\x1b[?1049l"} {
		if !bytes.Contains(s.raw.Bytes(), []byte(want)) {
			t.Errorf("the terminal never got %q", want)
		}
	}
}

// A person stops the agent while it writes, finds what was said, and reads a long message whole.
func TestChatStopsSearchesAndFolds(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	server := serving(t, "127.0.0.1:0", data)
	defer server.Stop()
	var long strings.Builder
	for n := range 40 {
		fmt.Fprintf(&long, "elephant %d\n", n+1)
	}
	operator := operatorOf(t, server, data)
	if _, err := operator.Post(t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text(long.String())}, TriggerAgents: new(bool)}); err != nil {
		t.Fatal(err)
	}
	s := showing(t, []string{"SHOAL_URL=" + server.URL(), "SHOAL_DATA=" + data}, 100, 30, "chat", "welcome")
	s.see("● live", "elephant 16", "… 24 more lines")
	s.press("I need a laptop", enter)
	s.see("… writing", "Ctrl+X stops Shop Agent")
	s.press(ctrlX)
	s.see("■ canceled", "shop-agent was stopped")
	s.press("/stop", enter)
	s.see("no agent is active in this space")

	s.press(ctrlF, "elephant 33", enter)
	s.see("Search: elephant 33", "operator  Welcome, ")
	s.press(enter)
	s.see("Enter shows all")
	s.press(enter)
	s.see("Enter folds", "elephant 20")
	s.press(enter)
	s.see("Enter shows all", "… 24 more lines")
	s.press(ctrlC)
	<-s.done
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("chat ended with %v", err)
	}
}

// /stop in line mode stops the agent that is active, and says if there is none.
func TestChatInLinesStops(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	server := serving(t, "127.0.0.1:0", data)
	defer server.Stop()
	typed, keys := io.Pipe()
	chat := startWith(t, typed, []string{"SHOAL_URL=" + server.URL(), "SHOAL_DATA=" + data}, "chat", "welcome")
	defer time.AfterFunc(patience, func() { _ = chat.Process.Kill() }).Stop()
	if _, err := io.WriteString(keys, "I need a laptop\n/stop shop-agent\n/stop nobody\n"); err != nil {
		t.Fatal(err)
	}
	if err := keys.Close(); err != nil {
		t.Fatal(err)
	}
	for chat.lines.Scan() {
		continue
	}
	_ = chat.Wait() // the exit code is checked below
	if code := chat.ProcessState.ExitCode(); code != 3 || !strings.Contains(chat.notes.String(), "note: stopped shop-agent\n") || !strings.Contains(chat.notes.String(), "No agent is active in this space") {
		t.Errorf("exit code %d, want 3 for the second /stop: %s", code, chat.notes)
	}
	for run, err := range operatorOf(t, server, data).Runs(t.Context(), client.RunsOptions{Agent: app.ShopAgent}) {
		if err != nil || run.Status != shoal.RunCanceled {
			t.Errorf("the run %s is %s, %v", run.ID, run.Status, err)
		}
	}
}

// A signal ends chat like every command, and the terminal is restored.
func TestChatIsInterrupted(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	server := serving(t, "127.0.0.1:0", data)
	defer server.Stop()
	s := showing(t, []string{"SHOAL_URL=" + server.URL(), "SHOAL_DATA=" + data}, 80, 24, "chat", "welcome")
	s.see("● live")
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-s.done
	_ = s.cmd.Wait() // the exit code is checked below
	if code := s.cmd.ProcessState.ExitCode(); code != cli.Interrupted {
		t.Errorf("exit code %d, want %d", code, cli.Interrupted)
	}
	if !bytes.Contains(s.raw.Bytes(), []byte("\x1b[?1049l")) {
		t.Error("chat did not restore the terminal")
	}
}

// serving starts a server as on its first start, with an agent that plays a script.
func serving(t *testing.T, addr, data string) *app.Server {
	t.Helper()
	server, err := app.Start(t.Context(), app.Config{Data: data, Addr: addr, Keys: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// The same story in line mode: every part is printed once, even after the server was down, and
// pending actions are answered by their number, at once or field by field.
func TestChatInLines(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	server := serving(t, "127.0.0.1:0", data)
	env := []string{"SHOAL_URL=" + server.URL(), "SHOAL_DATA=" + data}
	typed, keys := io.Pipe()
	chat := startWith(t, typed, env, "chat")
	write := func(line string) {
		t.Helper()
		if _, err := io.WriteString(keys, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	var seen []string
	defer time.AfterFunc(patience, func() { _ = chat.Process.Kill() }).Stop()
	see := func(text string) {
		t.Helper()
		for chat.lines.Scan() {
			seen = append(seen, chat.lines.Text())
			if strings.Contains(chat.lines.Text(), text) {
				return
			}
		}
		t.Fatalf("no line contains %q; got\n%s\n%s", text, strings.Join(seen, "\n"), chat.notes)
	}
	write("I need a laptop")
	see("operator: I need a laptop")
	address := strings.TrimPrefix(server.URL(), "http://")
	server.Stop()
	server = serving(t, address, data)
	defer func() { server.Stop() }()
	see("! 2 ")
	write("/approve 1")
	write("/answer 1")
	see("? chosen (y or n)")
	write("maybe")
	see("? \"maybe\" is not valid here")
	write("y")
	see("! 3 [purchasing] shop-agent asks for permission: placeOrder")
	write("/approve 3 looks right")
	see("It was approved")
	write("/answer 3 again")
	if err := keys.Close(); err != nil {
		t.Fatal(err)
	}
	for chat.lines.Scan() {
		seen = append(seen, chat.lines.Text())
	}
	_ = chat.Wait() // the exit code is checked below
	if code := chat.ProcessState.ExitCode(); code != 2 {
		t.Errorf("exit code %d, want 2 for the first line that failed: %s", code, chat.notes)
	}
	for _, want := range []string{
		"operator: I need a laptop", "shop-agent: I am a script", "shop-agent: [tool showProductCard {\"name\":\"Lark Air 13\"", "! 1 shop-agent waits",
		"shop-agent: [tool showProductCard {\"name\":\"Lark Pro 16\"", "shop-agent: A good choice", "shop-agent: It was approved", "! 3 pnd_",
	} {
		n := 0
		for _, line := range seen {
			if strings.HasPrefix(line, want) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%q is printed %d times, want once:\n%s", want, n, strings.Join(seen, "\n"))
		}
	}
	// The printed texts are exactly those that the server stores.
	for _, said := range agentTexts(t, server, data) {
		if n := strings.Count("\n"+strings.Join(seen, "\n")+"\n", "\nshop-agent: "+said+"\n"); n != 1 {
			t.Errorf("%q is printed %d times, want once", said, n)
		}
	}
	for _, want := range []string{"trying again", "reconnected", "is not a permission", "is answered by operator"} {
		if !strings.Contains(chat.notes.String()+strings.Join(seen, "\n"), want) {
			t.Errorf("the output lacks %q:\n%s", want, chat.notes)
		}
	}
}

// operatorOf returns the session default of a server as the operator sees it.
func operatorOf(t *testing.T, server *app.Server, data string) *client.Session {
	t.Helper()
	key, err := app.ReadAdminKey(data)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.Options{URL: server.URL(), Key: key, As: shoal.Operator})
	if err != nil {
		t.Fatal(err)
	}
	return c.Session(shoal.DefaultSession)
}

// agentTexts returns the texts of the agent in the space welcome as the server stores them.
func agentTexts(t *testing.T, server *app.Server, data string) (texts []string) {
	t.Helper()
	for m, err := range operatorOf(t, server, data).Timeline(t.Context(), app.Welcome, 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Parts {
			if p.Type == shoal.TextPart && m.EntityID == app.ShopAgent {
				texts = append(texts, p.Text)
			}
		}
	}
	if len(texts) < 3 {
		t.Fatalf("the agent posted only %q", texts)
	}
	return texts
}
