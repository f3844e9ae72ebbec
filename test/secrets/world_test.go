// Package secrets gives a real server secrets in every place that accepts one, calls every
// interface, also through errors and crashes, and searches all output for the secrets:
// responses, streams, logs, metrics, the database with its log, and the stack traces of a
// crash.
package secrets_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// patience is the time limit for expected events.
const patience = 40 * time.Second

var shoalBinary *program.Shoal

func TestMain(m *testing.M) {
	code, err := program.WithShoal(func(built *program.Shoal) int { shoalBinary = built; return m.Run() })
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/secrets:", err)
		code = 1
	}
	os.Exit(code)
}

// world is a server, all its output, and the secrets that the output must not contain.
type world struct {
	*testing.T
	data    string
	url     string
	process *exec.Cmd
	ended   chan struct{}
	metrics string // its address

	mu      sync.Mutex
	secrets map[string]string // by description
	seen    map[string]*bytes.Buffer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{T: t, data: t.TempDir(), secrets: map[string]string{}, seen: map[string]*bytes.Buffer{}}
}

// plant registers value as a secret and returns it.
func (w *world) plant(what, value string) string {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(value) < 12 {
		w.Fatalf("the %s is %q, which is too short to search for", what, value)
	}
	w.secrets[what] = value
	return value
}

// note records output of the server.
func (w *world) note(where string, text []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[where] == nil {
		w.seen[where] = &bytes.Buffer{}
	}
	w.seen[where].Write(text)
}

// noting is a writer that records output.
type noting struct {
	*world
	where string
}

func (n noting) Write(p []byte) (int, error) { n.note(n.where, p); return len(p), nil }

// start starts the server with additional environment variables, and returns its greeting
// once it responds.
func (w *world) start(env ...string) (greeting string) {
	w.Helper()
	c := exec.CommandContext(context.WithoutCancel(w.Context()), shoalBinary.Path(), "serve", "--data", w.data, "--addr", "127.0.0.1:0", "--log-level", "debug",
		"--metrics-addr", "127.0.0.1:0", "--allow-private", "127.0.0.1/32", "--allow-env", "MCP_KEY", "--allow-env", "TOOL_KEY")
	c.Env = append([]string{"HOME=" + w.TempDir(), "PATH=" + os.Getenv("PATH")}, env...)
	c.Stderr = noting{w, "the log"}
	out, err := c.StdoutPipe()
	w.must(err)
	w.must(c.Start())
	ended := make(chan struct{})
	w.process, w.ended = c, ended
	var lines bytes.Buffer
	buffer := make([]byte, 4096)
	for !strings.Contains(lines.String(), "Ctrl-C") {
		n, err := out.Read(buffer)
		lines.Write(buffer[:n])
		if err != nil {
			w.Fatalf("the server did not start: %v\n%s\n%s", err, lines.String(), w.seen["the log"])
		}
	}
	go func() {
		_, _ = io.Copy(noting{w, "standard output"}, out) // until the process ends
		_ = c.Wait()                                      // also if a signal ended it
		close(ended)
	}()
	w.Cleanup(func() { _ = c.Process.Kill() })
	urls := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindAllString(lines.String(), -1)
	w.url = urls[0]
	w.metrics = regexp.MustCompile(`metrics (http://\S+)`).FindStringSubmatch(lines.String())[1]
	return lines.String()
}

// stop ends the server with a signal and waits for it.
func (w *world) stop(with syscall.Signal) {
	w.Helper()
	w.must(w.process.Process.Signal(with))
	select {
	case <-w.ended:
	case <-time.After(patience):
		w.Fatalf("the server did not exit after %v", with)
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// answer is the response to a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask makes a request and records the response, except for what keep excludes: the header
// Set-Cookie and the body of the one response that contains a secret.
func (w *world) ask(key, method, path, body string, header ...string) answer {
	w.Helper()
	a := w.quiet(key, method, path, body, header...)
	w.note("answers", fmt.Appendf(nil, "%s\n%v\n%s\n", method, a.header, a.body))
	return a
}

// quiet makes a request whose response may contain a secret.
func (w *world) quiet(key, method, path, body string, header ...string) answer {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, w.url+path, strings.NewReader(body))
	w.must(err)
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	w.must(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	w.must(err)
	return answer{res.StatusCode, res.Header, text}
}

// follow records a stream until the returned function is called.
func (w *world) follow(key, path string) (stop func()) {
	w.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.Context()))
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+path, http.NoBody)
	w.must(err)
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(r) //nolint:bodyclose // the goroutine below closes it
	w.must(err)
	if res.StatusCode != http.StatusOK {
		w.Fatalf("%s returned %d", path, res.StatusCode)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer res.Body.Close()
		_, _ = io.Copy(noting{w, "streams"}, res.Body) // until it is stopped
	}()
	return func() { cancel(); <-read }
}

// into decodes the body of a response, which must have the status.
func into[T any](w *world, a answer, status int) (out T) {
	w.Helper()
	if a.status != status {
		w.Fatalf("got status %d, want %d: %s", a.status, status, a.body)
	}
	w.must(json.Unmarshal(a.body, &out))
	return out
}

// found lists the disclosed secrets, as "what in where". It also searches the files of the
// data directory, except for the documented file with the admin key.
func (w *world) found() (hits []string) {
	w.Helper()
	places := map[string][]byte{}
	w.mu.Lock()
	defer w.mu.Unlock()
	for where, text := range w.seen {
		places[where] = text.Bytes()
	}
	w.must(filepath.WalkDir(w.data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "admin.key" {
			return err
		}
		text, err := os.ReadFile(path)
		places["the file "+entry.Name()] = text
		return err
	}))
	for what, secret := range w.secrets {
		forms := []string{secret, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret)), secret[len(secret)/2:]}
		for where, text := range places {
			for _, form := range forms {
				if at := bytes.Index(text, []byte(form)); at >= 0 {
					hits = append(hits, fmt.Sprintf("%s in %s: …%s…", what, where, text[max(0, at-80):min(len(text), at+len(form)+40)]))
					break
				}
			}
		}
	}
	return hits
}
