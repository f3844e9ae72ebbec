package attack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

var shoalBinary *program.Shoal

func TestMain(m *testing.M) {
	code, err := program.WithShoal(func(built *program.Shoal) int { shoalBinary = built; return m.Run() })
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/attack:", err)
		code = 1
	}
	os.Exit(code)
}

// world is a server with the bystanders ann and bob, both members of the space hall.
type world struct {
	*testing.T
	url             string
	admin, ann, bob string // keys
	process         *exec.Cmd
	calm, crowd     *http.Client // of the bystanders and of the attackers
}

func start(t *testing.T) *world {
	t.Helper()
	data := t.TempDir()
	c := exec.CommandContext(context.WithoutCancel(t.Context()), shoalBinary.Path(), "serve", "--data", data, "--addr", "127.0.0.1:0", "--log-level", "error")
	c.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=attack"}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait() // ended by the signal
	})
	var said strings.Builder
	buffer := make([]byte, 4096)
	for !strings.Contains(said.String(), "Ctrl-C") {
		n, err := out.Read(buffer)
		said.Write(buffer[:n])
		if err != nil {
			t.Fatalf("the server did not start: %v\n%s", err, said.String())
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // until the process ends
	key, err := os.ReadFile(filepath.Join(data, "admin.key"))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		T: t, process: c, url: regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(said.String()), admin: strings.TrimSpace(string(key)),
		calm: &http.Client{Transport: &http.Transport{}}, crowd: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024}},
	}
	t.Cleanup(w.calm.CloseIdleConnections)
	t.Cleanup(w.crowd.CloseIdleConnections)
	w.ann, w.bob = w.key("ann"), w.key("bob")
	w.ask(w.ann, "POST", "/v1/sessions/default/spaces", `{"id":"hall","name":"hall","members":["bob"]}`, 201)
	return w
}

// ask makes a call, which must return status, and returns the response. A server that has
// more to do than its machine can is asked again when it says so, as every client does: the
// time passes for the caller. Nothing was done until then.
func (w *world) ask(key, method, path, body string, status int) string {
	w.Helper()
	for end := time.Now().Add(patience); ; {
		code, again, text := w.once(key, method, path, body)
		if code == status {
			return text
		}
		if code != http.StatusServiceUnavailable || again == 0 || time.Now().Add(again).After(end) {
			w.Fatalf("%s %s: %d %s, want %d", method, path, code, text, status)
		}
		<-time.After(again)
	}
}

// patience limits for how long a call is repeated.
const patience = 30 * time.Second

// once makes a call, and returns the status of the response, after which time to ask again,
// and the text.
func (w *world) once(key, method, path, body string) (status int, again time.Duration, text string) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
	res, err := w.calm.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		w.Fatal(err)
	}
	seconds, _ := strconv.Atoi(res.Header.Get("Retry-After")) // 0 without one
	return res.StatusCode, time.Duration(seconds) * time.Second, string(all)
}

// createKey creates a key and returns its id and its secret.
func (w *world) createKey(of string) (id, secret string) {
	w.Helper()
	var made struct{ ID, Key string }
	if err := json.Unmarshal([]byte(w.ask(w.admin, "POST", "/v1/keys", of, 201)), &made); err != nil {
		w.Fatal(err)
	}
	return made.ID, made.Key
}

// key creates a key of an entity of the session default.
func (w *world) key(entity string) string {
	w.Helper()
	_, secret := w.createKey(fmt.Sprintf(`{"role":"entity","sessionId":"default","entityId":%q}`, entity))
	return secret
}

// rss returns the resident memory of the server in bytes.
func (w *world) rss() int {
	w.Helper()
	return w.memory("VmRSS")
}

// memory returns a value from the status of the server's process, in bytes.
func (w *world) memory(figure string) int {
	w.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.process.Process.Pid))
	if err != nil {
		w.Fatal(err)
	}
	found := regexp.MustCompile(figure + `:\s+(\d+) kB`).FindSubmatch(text)
	if found == nil {
		w.Fatalf("the process has no %s:\n%s", figure, text)
	}
	kib, err := strconv.Atoi(string(found[1]))
	if err != nil {
		w.Fatal(err)
	}
	return kib << 10
}
