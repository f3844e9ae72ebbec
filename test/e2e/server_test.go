package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
)

// server is a running `shoal serve` with a data directory of its own.
type server struct {
	*process
	url   string
	data  string
	admin string // the admin key
}

// serve starts a server over data on a free port.
func serve(t *testing.T, data string, flags ...string) *server {
	t.Helper()
	cmd := exec.Command(shoalBinary.Path(), append([]string{"serve", "--addr", "127.0.0.1:0", "--data", data}, flags...)...) // ended by start
	cmd.Env = cleanEnviron()
	s := &server{process: start(t, cmd), data: data}
	_, s.url, _ = strings.Cut(s.lineWith(" is up on "), " is up on ")
	key, err := os.ReadFile(filepath.Join(data, "admin.key"))
	if err != nil {
		t.Fatal(err)
	}
	s.admin = strings.TrimSpace(string(key))
	return s
}

// cleanEnviron is the environment without what would configure the command line
// or make.
func cleanEnviron(more ...string) []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "SHOAL_") && !strings.HasPrefix(name, "XDG_") && !strings.HasPrefix(name, "MAKE") && name != "MFLAGS" {
			env = append(env, v)
		}
	}
	return append(env, more...)
}

// stopLimit is the time within which a server must end in order. The contract gives it five
// seconds, of its own: a machine that runs other tests may take part of them away.
const stopLimit = 15 * time.Second

// stop ends the server in order.
func (s *server) stop() {
	s.t.Helper()
	began := time.Now()
	s.signal(syscall.SIGTERM)
	if _, err := s.end(); err != nil {
		s.t.Errorf("after SIGTERM the server ends with %v", err)
	}
	if took := time.Since(began); took > stopLimit {
		s.t.Errorf("after SIGTERM the server takes %v to end", took)
	}
}

// response is what a server answered over HTTP.
type response struct {
	status int
	header http.Header
	body   []byte
}

// request sends one, as it is, and reads the whole answer.
func request(t *testing.T, method, url string, header http.Header, body io.Reader) response {
	t.Helper()
	req, err := http.NewRequestWithContext(bounded(t), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	if host := header.Get("Host"); host != "" {
		req.Host = host
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return response{res.StatusCode, res.Header, text}
}

// rest calls the REST API as the admin; the call must succeed. It decodes the answer
// into out, unless that is nil.
func (s *server) rest(t *testing.T, method, path string, in, out any) {
	t.Helper()
	s.restAs(t, http.Header{"Authorization": {"Bearer " + s.admin}}, method, path, in, out)
}

// restAs is rest with a caller's headers.
func (s *server) restAs(t *testing.T, header http.Header, method, path string, in, out any) {
	t.Helper()
	var body io.Reader
	header = header.Clone()
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		body = bytes.NewReader(text)
		header.Set("Content-Type", "application/json")
	}
	res := request(t, method, s.url+path, header, body)
	if res.status/100 != 2 {
		t.Fatalf("%s %s: %d %s", method, path, res.status, res.body)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(res.body, out); err != nil {
		t.Fatalf("%s %s: %v in %s", method, path, err, res.body)
	}
}

// newSession makes a session for one test.
func (s *server) newSession(t *testing.T, id shoal.SessionID) shoal.SessionID {
	t.Helper()
	s.rest(t, http.MethodPost, "/v1/sessions", shoal.NewSession{ID: id}, nil)
	return id
}

// key creates an entity and its key.
func (s *server) key(t *testing.T, session shoal.SessionID, entity shoal.EntityID) string {
	t.Helper()
	var made shoal.Key
	s.rest(t, http.MethodPost, "/v1/keys", shoal.NewKey{Role: shoal.RoleEntity, SessionID: session, EntityID: entity}, &made)
	return *made.Secret
}

// untilWaiting returns when the entity has an open wait.
func (s *server) untilWaiting(t *testing.T, session shoal.SessionID, entity shoal.EntityID) {
	t.Helper()
	s.until(t, session, entity, shoal.Waiting)
}

// until returns when the entity is in the state.
func (s *server) until(t *testing.T, session shoal.SessionID, entity shoal.EntityID, state shoal.State) {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	deadline := time.After(patience)
	for {
		var e shoal.Entity
		s.rest(t, http.MethodGet, "/v1/sessions/"+string(session)+"/entities/"+string(entity), nil, &e)
		if e.State == state {
			return
		}
		select {
		case <-look.C:
		case <-deadline:
			t.Fatalf("%s is %s and was not %s within %v", entity, e.State, state, patience)
		}
	}
}
