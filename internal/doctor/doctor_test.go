package doctor_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/doctor"
	"github.com/shoal-dev/shoal/internal/shoaltest/natstest"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
)

// world is a server that runs, and what is asked about it.
type world struct {
	*testing.T
	server *app.Server
	o      doctor.Options
}

func newWorld(t *testing.T) *world {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	s, key := apptest.Run(t, app.Config{Data: data, Version: "1.2.3"})
	return &world{t, s, doctor.Options{
		URL: s.URL(), Key: key, Session: shoal.DefaultSession, Here: true, Config: app.Config{Data: data}, Version: "1.2.3", Wait: 300 * time.Millisecond,
	}}
}

// examine returns what is found, by the names of the checks.
func (w *world) examine() map[string]doctor.Finding {
	w.Helper()
	found := map[string]doctor.Finding{}
	doctor.Examine(w.Context(), w.o, func(f doctor.Finding) {
		if _, twice := found[f.Check]; twice {
			w.Errorf("%s is reported twice", f.Check)
		}
		if strings.ContainsAny(f.Check+f.Detail+f.Try, "\n\t") || f.Detail == "" || (f.Status == doctor.OK) != (f.Try == "") {
			w.Errorf("%+v is not one line that says what to do", f)
		}
		if w.o.Key != "" && strings.Contains(f.Detail+f.Try, w.o.Key) {
			w.Errorf("%+v holds the key", f)
		}
		found[f.Check] = f
	})
	return found
}

// expect runs the checks and compares one finding.
func (w *world) expect(check string, status doctor.Status, says string) map[string]doctor.Finding {
	w.Helper()
	found := w.examine()
	if f := found[check]; f.Status != status || !strings.Contains(f.Detail, says) {
		w.Errorf("%s: got %+v, want %s with %q", check, f, status, says)
	}
	return found
}

func TestAllIsWell(t *testing.T) {
	w := newWorld(t)
	found := w.examine()
	for _, check := range []string{
		"program", "configuration", "data directory", "admin key", "operator key", "disk", "database", "migrations", "model keys", "server", "version", "clock", "transport", "key",
		"MCP 2026-07-28", "MCP 2025-11-25", "events", "wait", "agents",
	} {
		if found[check].Status != doctor.OK {
			t.Errorf("%s: %+v", check, found[check])
		}
		delete(found, check)
	}
	if len(found) > 0 {
		t.Errorf("unexpected findings: %+v", found)
	}
}

func TestPostgreSQL(t *testing.T) {
	w := newWorld(t)
	w.o.Config.Database = postgrestest.Database(t)
	found := w.expect("database", doctor.OK, "synchronous_commit=on, fsync=on")
	if found["migrations"].Status != doctor.Warn {
		t.Errorf("an empty database: %+v", found["migrations"])
	}
	s, err := app.Start(t.Context(), app.Config{Data: t.TempDir(), Addr: "127.0.0.1:0", Database: w.o.Config.Database, Keys: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	w.expect("migrations", doctor.OK, "")
}

// Servers that share a database hear each other, or the operator learns that they do not.
func TestServersThatShareADatabase(t *testing.T) {
	w := newWorld(t)
	database, nats := postgrestest.Database(t), natstest.New(t)
	var first *app.Server
	for _, name := range []string{"one", "two"} {
		s, err := app.Start(t.Context(), app.Config{Data: t.TempDir(), Addr: "127.0.0.1:0", Database: database, Bus: nats.URL(), Node: name, Keys: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Stop()
		if first == nil {
			first = s
		}
	}
	key, err := app.CreateKey(t.Context(), t.TempDir(), database, shoal.NewKey{Role: shoal.RoleAdmin})
	if err != nil {
		t.Fatal(err)
	}
	w.o.URL, w.o.Key, w.o.Here = first.URL(), *key.Secret, false
	w.expect("servers", doctor.OK, "one, two share the database")
	nats.Kill()
	for range 20 { // a server records its state every two seconds; each look takes as long as a wait
		if w.examine()["servers"].Status == doctor.Warn {
			break
		}
	}
	w.expect("servers", doctor.Warn, "it is not connected")
}

// The checks change nothing: what was delivered to the operator stays unacknowledged.
func TestNothingIsAcknowledged(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	c, err := client.New(client.Options{URL: w.o.URL, Key: w.o.Key, As: shoal.Operator})
	if err != nil {
		t.Fatal(err)
	}
	operator := c.Session(shoal.DefaultSession)
	if _, err := c.CreateKey(ctx, shoal.NewKey{Role: shoal.RoleEntity, EntityID: "scout"}); err != nil {
		t.Fatal(err)
	}
	if _, err := operator.AddMember(ctx, app.Welcome, "scout"); err != nil {
		t.Fatal(err)
	}
	as, err := client.New(client.Options{URL: w.o.URL, Key: w.o.Key, As: "scout"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = as.Session(shoal.DefaultSession).Post(ctx, app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text("hello")}, Mentions: []shoal.EntityID{shoal.Operator}})
	if err != nil {
		t.Fatal(err)
	}
	unread := func() shoal.WaitResult {
		got, err := operator.Wait(ctx, shoal.Operator, client.WaitRequest{Redeliver: true})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	before := unread()
	w.expect("wait", doctor.OK, "")
	if after := unread(); len(before.Items) != 1 || len(after.Items) != 1 {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

func TestWithoutAServerTheRestIsStillLookedAt(t *testing.T) {
	w := newWorld(t)
	w.server.Stop()
	w.o.Config.Addr = "127.0.0.1:0"
	found := w.expect("server", doctor.Fail, "no server answers at http://127.0.0.1:")
	for _, check := range []string{"database", "migrations", "admin key", "port"} {
		if found[check].Status != doctor.OK {
			t.Errorf("%s: %+v", check, found[check])
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	w.o.Config.Addr = taken.Addr().String()
	w.expect("port", doctor.Fail, "address already in use")
}

func TestWhatIsNotThereYet(t *testing.T) {
	dir := t.TempDir()
	w := &world{T: t, o: doctor.Options{URL: "http://127.0.0.1:1", Here: true, Config: app.Config{Data: filepath.Join(dir, "none"), Addr: "127.0.0.1:0"}}}
	found := w.expect("data directory", doctor.Warn, "is not there yet")
	if found["database"].Status != doctor.Warn || found["admin key"].Status != doctor.Warn || found["disk"].Status != doctor.OK {
		t.Errorf("%+v", found)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it made %v, %v", left, err)
	}
}

func TestFilesThatOthersMayRead(t *testing.T) {
	w := newWorld(t)
	data := w.o.Config.Data
	for path, mode := range map[string]os.FileMode{data: 0o755, filepath.Join(data, "admin.key"): 0o640, filepath.Join(data, "operator.key"): 0o604} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	w.expect("data directory", doctor.Warn, "mode 0755")
	w.expect("admin key", doctor.Fail, "mode 0640")
	w.expect("operator key", doctor.Fail, "mode 0604")

	w.o.File = filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(w.o.File, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	w.expect("configuration", doctor.OK, w.o.File)
	w.o.Config.Database = "postgres://ann:hunter2@127.0.0.1:1/shoal"
	found := w.expect("configuration", doctor.Warn, "other users may read it")
	if text := fmt.Sprint(found); strings.Contains(text, "hunter2") || found["database"].Status != doctor.Fail {
		t.Errorf("got %s", text)
	}
	w.o.FileErr = shoal.E("", shoal.InvalidArgument, "config.yaml:3: there is no setting \"adr\"")
	w.expect("configuration", doctor.Fail, "config.yaml:3")
	w.o.FileErr, w.o.Config.Addr = nil, "nonsense"
	w.expect("configuration", doctor.Fail, "nonsense is not a host:port")
}

func TestADamagedDatabase(t *testing.T) {
	w := newWorld(t)
	w.server.Stop()
	file, err := os.OpenFile(filepath.Join(w.o.Config.Data, "shoal.db"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt(bytes.Repeat([]byte{0xfd}, 16<<10), 20<<10); err != nil {
		t.Fatal(err)
	}
	w.expect("database", doctor.Fail, "")
}

func TestKeysThatDoNot(t *testing.T) {
	w := newWorld(t)
	w.o.Key = "shoal_wrong"
	found := w.expect("key", doctor.Fail, "unknown or was revoked")
	if _, asked := found["wait"]; asked {
		t.Error("it asks on without a key")
	}
	w.o.Key = ""
	w.expect("key", doctor.Fail, "no key is set")
}

func TestAnEntityLooksAfterItself(t *testing.T) {
	w := newWorld(t)
	made := w.mint("scout")
	w.mint("never")
	w.o.Key, w.o.Here = made, false
	found := w.expect("key", doctor.OK, "role entity, acts as scout")
	if found["wait"].Status != doctor.OK || found["MCP 2026-07-28"].Status != doctor.OK {
		t.Errorf("%+v", found)
	}
	if f := found["agent scout"]; f.Status != doctor.OK || !strings.Contains(f.Detail, "is connected and does not wait; was last here 0 s ago") {
		t.Errorf("scout: %+v", f)
	}
	if f := found["agent never"]; f.Status != doctor.Warn || f.Detail != "was never here" {
		t.Errorf("never: %+v", f)
	}
	if _, local := found["database"]; local {
		t.Error("it checks this machine for a server elsewhere")
	}
}

func (w *world) mint(id shoal.EntityID) string {
	w.Helper()
	admin, err := client.New(client.Options{URL: w.o.URL, Key: w.o.Key})
	if err != nil {
		w.Fatal(err)
	}
	return apptest.Key(w.T, admin, id)
}

func TestAnAgentThatWaits(t *testing.T) {
	w := newWorld(t)
	c, err := client.New(client.Options{URL: w.o.URL, Key: w.mint("scout")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { // ends with ctx
		defer close(ended)
		_, _ = c.Session(shoal.DefaultSession).Wait(ctx, "scout", client.WaitRequest{Timeout: time.Minute})
	}()
	defer func() { cancel(); <-ended }()
	for !strings.HasPrefix(w.examine()["agent scout"].Detail, "waits, for another ") {
		if t.Context().Err() != nil {
			t.Fatal("the wait is never seen")
		}
	}
}

// An agent that a program wakes is well although it is offline, and a key that expires soon is not.
func TestAgentThatIsWoken(t *testing.T) {
	w := newWorld(t)
	w.mint("scout")
	admin, err := client.New(client.Options{URL: w.o.URL, Key: w.o.Key})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Session(shoal.DefaultSession).HoldWakeLease(t.Context(), "scout", shoal.WakeLease{Via: "runner", Runner: "ada-mbp"}); err != nil {
		t.Fatal(err)
	}
	w.expect("agent scout", doctor.OK, "will be woken (runner ada-mbp)")
	session, scout := shoal.DefaultSession, shoal.EntityID("scout")
	for in, want := range map[time.Duration]string{50 * time.Hour: "that of scout expires in 2 days", 73 * time.Hour: ""} {
		at := shoal.At(time.Now().Add(in))
		made, err := admin.CreateKey(t.Context(), shoal.NewKey{Role: shoal.RoleEntity, SessionID: session, EntityID: scout, ExpiresAt: &at})
		if err != nil {
			t.Fatal(err)
		}
		if got := w.examine()["key "+string(made.ID)]; got.Detail != want || want != "" && got.Status != doctor.Warn {
			t.Errorf("a key for %v: %+v, want %q", in, got, want)
		}
	}
}
