package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
)

// Somebody clones the repository, types `make run`, does what it prints, and
// stops and starts it again.
func TestFreshClone(t *testing.T) {
	t.Parallel()
	n := newcomer{clone: clone(t), home: t.TempDir()}

	// `make run` prints what to type, and typing it has an agent and a person talk.
	up := n.run(t, "127.0.0.1:0")
	typed := up.typed
	if len(typed) != 3 {
		t.Fatalf("`make run` prints the commands %q, want three", typed)
	}
	scout := ts1HTTP.connectLike(t, n.types(t, `claude() { printf '%s\n' "$@"; }`, typed[0], typed[1]))
	asked := scout.begin(t, "wait_for_mentions", args{"timeoutMs": 60000})
	up.untilWaiting(t, shoal.DefaultSession, "scout")
	send := n.shell(t, typed[2])
	var heard shoal.WaitResult
	succeeded(t, asked, &heard)
	if text := heard.Items[0].Messages[0].Text(); text != "Hello scout, who are you?" {
		t.Errorf("the agent hears %q", text)
	}
	do(t, scout, "send_message", args{"threadId": "welcome", "content": "An agent on its first day."}, nil)
	if got := printed(t, send); len(got) != 1 || got[0] != "An agent on its first day." {
		t.Errorf("the last command prints %q", got)
	}

	// Ctrl-C ends it within five seconds, despite open waits and streams.
	before := up.timeline(t)
	n.stop(t, up, scout, syscall.SIGINT)
	key := up.admin

	// A second start finds everything: messages, keys, and the agent, which does
	// not notice that its session is of another life.
	up = n.run(t, strings.TrimPrefix(up.url, "http://"))
	if up.admin != key {
		t.Error("the admin key is another one after a restart")
	}
	if diff := cmp.Diff(before, up.timeline(t)); diff != "" {
		t.Errorf("the timeline after the restart (-before +after):\n%s", diff)
	}
	var sent shoal.Message
	do(t, scout, "send_message", args{"threadId": "welcome", "content": "Still here."}, &sent)
	if sent.Seq != 4 || sent.EntityID != "scout" {
		t.Errorf("after the restart the agent posts %+v", sent)
	}
	if scout.hello().SessionID == "" {
		t.Error("the agent has no MCP session that the restart could have broken")
	}
	n.stop(t, up, scout, syscall.SIGTERM)
}

// newcomer is a clone of the repository and an empty home.
type newcomer struct{ clone, home string }

// clone copies what a clone would hold: what git knows and what it would add.
func clone(t *testing.T) string {
	t.Helper()
	const root = "../.."
	git := exec.CommandContext(bounded(t), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	git.Dir = root
	names, err := git.Output()
	if err != nil {
		t.Fatalf("%v: %v", git.Args, err)
	}
	to := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(root, name))
		if err != nil || !info.Mode().IsRegular() {
			continue // removed and not yet committed
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), text, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// shell starts a line of bash in the clone. The home is new, but what Go has
// downloaded and built for others is not thrown away.
func (n newcomer) shell(t *testing.T, line string) *process {
	t.Helper()
	env := cleanEnviron("HOME=" + n.home)
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOENV", "GOPROXY", "GOSUMDB"} {
		value, err := exec.CommandContext(bounded(t), "go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(value)))
	}
	cmd := exec.Command("bash", "-euc", line) // ended by start
	cmd.Dir, cmd.Env = n.clone, env
	return start(t, cmd)
}

// types enters lines into one terminal and returns what they print.
func (n newcomer) types(t *testing.T, lines ...string) []string {
	t.Helper()
	return printed(t, n.shell(t, strings.Join(lines, "\n")))
}

// running is a server that `make run` has started.
type running struct {
	server
	typed []string // the commands that it prints
}

// run types `make run`.
func (n newcomer) run(t *testing.T, addr string) *running {
	t.Helper()
	r := &running{server: server{process: n.shell(t, `exec make run ARGS="--addr `+addr+`"`)}}
	_, r.url, _ = strings.Cut(r.lineWith(" is up on "), " is up on ")
	command := false
	for line := r.line(); !strings.HasPrefix(line, "Ctrl-C"); line = r.line() {
		command = command || strings.HasPrefix(line, "Connect")
		if typed, indented := strings.CutPrefix(line, "  "); indented && command {
			r.typed = append(r.typed, typed)
		}
	}
	keyFile := filepath.Join(n.home, ".local", "share", "shoal", "admin.key")
	info, err := os.Stat(keyFile)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the admin key has the mode %v", info.Mode())
	}
	key, err := os.ReadFile(keyFile)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^\S+\n$`).Match(key) {
		t.Error("admin.key does not hold a key and a newline")
	}
	r.admin = strings.TrimSpace(string(key))
	return r
}

// connectLike connects with the arguments of `claude mcp add`.
func (c client) connectLike(t *testing.T, words []string) agent {
	t.Helper()
	want := []string{"mcp", "add", "--transport", "http", "shoal", "", "--header", ""}
	if len(words) != len(want) {
		t.Fatalf("the client is configured with %q", words)
	}
	url, header := words[5], words[7]
	words[5], words[7] = "", ""
	key, bearer := strings.CutPrefix(header, "Authorization: Bearer ")
	base, mcp := strings.CutSuffix(url, "/mcp")
	if diff := cmp.Diff(want, words); diff != "" || !bearer || !mcp {
		t.Fatalf("the client is configured with %s %s:\n%s", url, header, diff)
	}
	return c.connect(t, &server{url: base}, "scout", key)
}

// timeline returns what was said, from the server itself.
func (r *running) timeline(t *testing.T) (said []string) {
	t.Helper()
	var page struct{ Items []shoal.Message }
	r.rest(t, http.MethodGet, "/v1/sessions/default/spaces/welcome/messages", nil, &page)
	for _, m := range page.Items {
		said = append(said, fmt.Sprint(m.ID, " ", m.Seq, " ", m.CreatedAt, " ", m.EntityID, ": ", m.Text()))
	}
	return said
}

// stop sends a signal while an agent waits and somebody follows.
func (n newcomer) stop(t *testing.T, up *running, waiter agent, sig syscall.Signal) {
	t.Helper()
	wait := waiter.begin(t, "wait_for_messages", args{"timeoutMs": 60000})
	up.untilWaiting(t, shoal.DefaultSession, "scout")
	req, err := http.NewRequestWithContext(bounded(t), http.MethodGet, up.url+"/v1/sessions/default/spaces/welcome/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+up.admin)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	stream := bufio.NewReader(res.Body)
	if first, err := stream.ReadString('\n'); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("the stream begins with %d %q, %v", res.StatusCode, first, err)
	}

	began := time.Now()
	up.signal(sig)
	_, _ = up.end() // make reports the signal as its failure
	if took := time.Since(began); took > stopLimit {
		t.Errorf("after %v the server takes %v to end", sig, took)
	}
	if _, err := io.Copy(io.Discard, stream); err != nil {
		t.Errorf("after %v the stream ends with %v, want its end", sig, err)
	}
	var got shoal.WaitResult
	succeeded(t, wait, &got)
	if !got.TimedOut || len(got.Items) != 0 {
		t.Errorf("after %v the wait ends with %+v, want a time-out", sig, got)
	}
}
