package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/shoaltest/oauthtest"
)

// machine is one of a person, without a server and without a key: an empty home directory.
type machine struct {
	*testing.T
	home string
}

func newMachine(t *testing.T) *machine { return &machine{t, t.TempDir()} }

func (m *machine) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(m.Context(), "shoal", args...)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.home}
	return c
}

// run runs a command that has to end with a code, and returns what it prints.
func (m *machine) run(code int, args ...string) (out, notes string) {
	m.Helper()
	c := m.command(args...)
	return m.end(c, code)
}

func (m *machine) end(c *exec.Cmd, code int) (string, string) {
	m.Helper()
	var out, notes strings.Builder
	c.Stdout, c.Stderr = &out, &notes
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || c.ProcessState.ExitCode() != code {
		m.Fatalf("%v ended with %v, not %d\n%s%s", c.Args, err, code, &out, &notes)
	}
	return out.String(), notes.String()
}

// says reports an output without a text.
func (m *machine) says(what, output string, texts ...string) {
	m.Helper()
	for _, text := range texts {
		if !strings.Contains(output, text) {
			m.Errorf("%s says %q, without %q", what, output, text)
		}
	}
}

// loggingIn is `shoal login` that waits for a person.
type loggingIn struct {
	*machine
	*exec.Cmd
	link  string
	in    io.WriteCloser
	notes *bufio.Reader
}

var aLink = regexp.MustCompile(`https?://\S+/oauth/authorize\?\S+`)

func (m *machine) login(browser bool, args ...string) *loggingIn {
	m.Helper()
	l := &loggingIn{machine: m, Cmd: m.command(append([]string{"login"}, args...)...)}
	if browser {
		l.Env = append(l.Env, "BROWSER=true")
	}
	notes, err := l.StderrPipe()
	if err == nil {
		l.in, err = l.StdinPipe()
	}
	if err == nil {
		err = l.Start()
	}
	if err != nil {
		m.Fatal(err)
	}
	l.notes = bufio.NewReader(notes)
	for l.link == "" {
		line, err := l.notes.ReadString('\n')
		if l.link = aLink.FindString(line); err != nil && l.link == "" {
			m.Fatalf("no link: %s", line)
		}
	}
	return l
}

// ends waits for the end of the login, with a code, and returns what it has said since.
func (l *loggingIn) ends(code int) string {
	l.Helper()
	text, err := io.ReadAll(l.notes)
	if err != nil {
		l.Fatal(err)
	}
	_ = l.Wait() // the code says it
	if got := l.ProcessState.ExitCode(); got != code {
		l.Fatalf("login ended with %d, not %d: %s", got, code, text)
	}
	return string(text)
}

// decide plays the browser of a person up to the address at which the program gets the answer.
func decide(t *testing.T, at string, b *oauthtest.Browser, link string, approve bool) string {
	t.Helper()
	led := oauthtest.Do(t, http.MethodGet, link, "")
	u, err := url.Parse(led.Header.Get("Location"))
	if err != nil || led.Status != http.StatusSeeOther || u.Path != "/join" {
		t.Fatalf("the link: %d %s", led.Status, led.Header.Get("Location"))
	}
	query := u.Query().Get("request")
	page := b.Post("/oauth/request", map[string]any{"query": query}).Value("url")
	if !strings.HasPrefix(page, at+"/oauth/login?request=") {
		t.Fatalf("the page of the console leads to %q", page)
	}
	if got := oauthtest.Do(t, http.MethodGet, page, ""); got.Status != http.StatusOK || !strings.Contains(got.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
		t.Fatalf("the page: %d", got.Status)
	}
	shown := b.Post("/oauth/request", map[string]any{"query": query, "login": true})
	if shown.Body["person"] != "ann" || !strings.HasPrefix(shown.Value("client"), "Command line") {
		t.Fatalf("the page shows %s", shown.Text)
	}
	decided := b.Post("/oauth/decision", map[string]any{"query": query, "login": true, "approve": approve, "session": "default"})
	if decided.Status != http.StatusOK {
		t.Fatalf("the decision: %d %s", decided.Status, decided.Text)
	}
	return decided.Value("url")
}

// pasted is the text that the page of a code shows.
func pasted(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil || u.Path != "/oauth/code" {
		t.Fatalf("the browser is led to %s", address)
	}
	return u.Query().Get("code") + "." + u.Query().Get("state") + "\n"
}

func team(t *testing.T) (s *app.Server, ann *oauthtest.Browser) {
	t.Helper()
	s, _ = apptest.Run(t, app.Config{})
	return s, oauthtest.SignIn(t, s.URL(), apptest.PersonKey(t, s, "ann", shoal.DoorInvite))
}

// A person signs in from an empty home directory, once in a browser of the machine and once with a code, at two
// servers, works there without flags, and signs out.
func TestLogin(t *testing.T) {
	one, ann := team(t)
	two, ann2 := team(t)
	m := newMachine(t)
	_, notes := m.run(4, "whoami", "--url", one.URL())
	m.says("a command without a key", notes, "shoal login")

	l := m.login(true, one.URL())
	back := decide(t, one.URL(), ann, l.link, true)
	u, err := url.Parse(back)
	if err != nil {
		t.Fatal(err)
	}
	foreign := u.Query()
	foreign.Set("state", "another")
	if got := oauthtest.Do(t, http.MethodGet, "http://"+u.Host+u.Path+"?"+foreign.Encode(), ""); got.Status != http.StatusNotFound {
		t.Errorf("an answer with another state: %d %s", got.Status, got.Text)
	}
	if got := oauthtest.Do(t, http.MethodGet, back, ""); got.Status != http.StatusOK {
		t.Errorf("the answer: %d %s", got.Status, got.Text)
	}
	l.ends(0)
	kept := filepath.Join(m.home, ".config", "shoal", "logins.json")
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file: %v %v", info, err)
	}
	out, _ := m.run(0, "whoami")
	m.says("whoami", out, one.URL(), "ann", "shoal login")
	m.run(0, "spaces", "create", "Yard", "--id", "yard")
	m.run(0, "send", "yard", "hello")
	out, _ = m.run(0, "spaces", "ls")
	m.says("the spaces", out, "yard")
	out, _ = m.run(0, "search", "hello", "--json")
	m.says("the message", out, `"entityId":"ann"`)

	l = m.login(false, two.URL())
	code := pasted(t, decide(t, two.URL(), ann2, l.link, true))
	for _, line := range []string{"\n", "nonsense\n", "x.another\n", code} {
		if _, err := io.WriteString(l.in, line); err != nil {
			t.Fatal(err)
		}
	}
	m.says("login", l.ends(0), "This is not the code", "another sign-in")
	out, _ = m.run(0, "contexts")
	m.says("contexts", out, one.URL()+"\tann\tdefault\tfile\t\n", two.URL()+"\tann\tdefault\tfile\tcurrent\n")
	if out, _ = m.run(0, "spaces", "ls"); strings.Contains(out, "yard") {
		t.Errorf("the other server has %s", out)
	}
	out, _ = m.run(0, "spaces", "ls", "--url", one.URL())
	m.says("the first server", out, "yard")
	m.run(0, "contexts", "use", one.URL())
	m.run(3, "contexts", "use", "https://shoal.example")

	l = m.login(true, one.URL())
	oauthtest.Do(t, http.MethodGet, decide(t, one.URL(), ann, l.link, true), "")
	l.ends(0)
	out, _ = m.run(0, "sign-ins", "--json")
	if n := strings.Count(out, `"device":"Command line`); n != 1 {
		t.Errorf("after a second login there are %d: %s", n, out)
	}

	renews(m, one.URL(), kept)

	text, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	_, notes = m.run(0, "logout")
	m.says("logout", notes, "signed out of "+one.URL())
	_, notes = m.run(4, "whoami", "--url", one.URL())
	m.says("after the logout", notes, "shoal login")
	if err := os.WriteFile(kept, text, 0o600); err != nil { // what a thief has copied
		t.Fatal(err)
	}
	_, notes = m.run(4, "whoami", "--url", one.URL())
	m.says("a copy after the logout", notes, "does not count any more", "shoal login "+one.URL())
	two.Stop()
	_, notes = m.run(6, "logout", two.URL())
	m.says("a logout without the server", notes, "but not there")
	if out, _ = m.run(0, "contexts", "--json"); strings.Contains(out, two.URL()) {
		t.Errorf("it is still there: %s", out)
	}
}

// renews checks that a token that ends soon is renewed, once by all processes that need it.
func renews(m *machine, at, kept string) {
	m.Helper()
	var c struct {
		Current  string `json:"current"`
		Accounts []map[string]any
	}
	read := func() map[string]any {
		text, err := os.ReadFile(kept)
		if err == nil {
			err = json.Unmarshal(text, &c)
		}
		if err != nil {
			m.Fatal(err)
		}
		for _, a := range c.Accounts {
			if a["url"] == at {
				return a["tokens"].(map[string]any)
			}
		}
		m.Fatalf("%s is not in %s", at, text)
		return nil
	}
	tokens := read()
	old := tokens["access"].(string)
	tokens["ends"] = time.Now().Add(time.Minute)
	text, err := json.Marshal(c)
	if err == nil {
		err = os.WriteFile(kept, text, 0o600)
	}
	if err != nil {
		m.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if text, err := m.command("whoami").CombinedOutput(); err != nil {
				m.Errorf("%v: %s", err, text)
			}
		})
	}
	group.Wait()
	if read()["access"] == old {
		m.Error("the token was not renewed")
	}
	if got := oauthtest.Do(m, http.MethodGet, at+"/v1/me", "", "Authorization", "Bearer "+old); got.Status != http.StatusUnauthorized {
		m.Errorf("the old token: %d %s", got.Status, got.Text)
	}
	m.run(0, "spaces", "ls")
}

// What goes wrong is said with what to do, and changes nothing.
func TestLoginsThatFail(t *testing.T) {
	s, ann := team(t)
	m := newMachine(t)
	open, _ := apptest.Run(t, app.Config{Auth: "off"})
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + closed.Addr().String()
	_ = closed.Close() // nobody listens there
	for what, c := range map[string]struct {
		code int
		url  string
		says string
	}{
		"no server":                {6, nobody, "No server answers at " + nobody},
		"a server without sign-in": {3, open.URL(), "--auth off"},
		"something else":           {1, other.URL, "does not seem to be a Shoal server"},
		"no address":               {2, "ftp://shoal.example", "is not the address of a server"},
		"a path":                   {2, s.URL() + "/console", "is not the address of a server"},
	} {
		c2 := m.command("login", c.url)
		_, notes := m.end(c2, c.code)
		m.says(what, notes, c.says)
	}

	l := m.login(true, s.URL())
	oauthtest.Do(t, http.MethodGet, decide(t, s.URL(), ann, l.link, false), "")
	m.says("a refusal", l.ends(4), "You have refused")
	l = m.login(false, s.URL())
	_, state, _ := strings.Cut(pasted(t, decide(t, s.URL(), ann, l.link, true)), ".")
	if _, err := io.WriteString(l.in, "expired."+state); err != nil {
		t.Fatal(err)
	}
	m.says("a code that does not count", l.ends(4), "does not count", "shoal login "+s.URL())
	l = m.login(false, s.URL())
	_ = l.in.Close() // nobody pastes anything
	m.says("no code", l.ends(4), "No code was given")
	l = m.login(true, s.URL(), "--timeout", "1ms")
	m.says("no answer", l.ends(124), "in time")

	fixed := newMachine(t) // root may write everywhere, but not into a directory as into a file
	if err := os.MkdirAll(filepath.Join(fixed.home, ".config", "shoal", "logins.json.lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, notes := fixed.run(4, "login", s.URL())
	m.says("a home that cannot be written", notes, "cannot be kept", "XDG_CONFIG_HOME")
	if out, _ := m.run(0, "contexts", "--json"); out != `{"items":[],"nextCursor":null}`+"\n" {
		t.Errorf("afterwards there is %s", out)
	}
	if keys, err := s.Hub.Keys.SignIns(context.Background(), shoal.Principal{Role: shoal.RoleAdmin, KeyID: "test"}, "", 100); err != nil || len(keys) != 2 {
		t.Errorf("the sign-ins are %v, %v", keys, err) // that of the browser, and the code that nobody has exchanged
	}
}
