package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/login"
)

// The keys of the data directory are sent only to servers on this machine, and the admin key
// is used only with --admin.
func TestTheKeysOfAMachineStayOnIt(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // nobody has signed in
	dir := t.TempDir()
	for _, name := range []string{"admin", "operator"} {
		if err := os.WriteFile(filepath.Join(dir, name+".key"), []byte("shoal_"+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	empty := t.TempDir()
	for _, c := range []struct {
		globals Globals
		want    string
		local   bool
	}{
		{Globals{URL: "http://127.0.0.1:7462", Data: dir}, "shoal_operator", true},
		{Globals{URL: "http://localhost:7462", Data: dir}, "shoal_operator", true},
		{Globals{URL: "http://[::1]:7462", Data: dir}, "shoal_operator", true},
		{Globals{URL: "http://127.0.0.1:7462", Data: dir, Admin: true}, "shoal_admin", true},
		{Globals{URL: "http://127.0.0.1:7462", Data: empty, Admin: true}, "", true},
		{Globals{URL: "http://127.0.0.1:7462", Data: dir, Key: "mine"}, "mine", false},
		{Globals{URL: "http://127.0.0.1:7462", Data: empty}, "", true},
		{Globals{URL: "http://10.0.0.1:7462", Data: dir}, "", false},
		{Globals{URL: "https://shoal.example", Data: dir}, "", false},
		{Globals{URL: "http://localhost@shoal.example", Data: dir}, "", false},
		{Globals{URL: "http://127.0.0.1.shoal.example", Data: dir}, "", false},
		{Globals{URL: "http://shoal.example", Data: dir, Key: "mine"}, "mine", false},
		{Globals{URL: ":", Data: dir}, "", false},
	} {
		key, local, err := (&Shell{Globals: &c.globals}).Secret()
		if key != c.want || local != c.local || err != nil {
			t.Errorf("%+v: key %q, local %v, %v; want %q, %v", c.globals, key, local, err, c.want, c.local)
		}
	}
}

// What the operator key cannot do is refused before anything is sent.
func TestAdminIsAskedForByName(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // nobody has signed in
	scout, operator := shoal.EntityID("scout"), shoal.Operator
	for _, c := range []struct {
		globals Globals
		refused bool
	}{
		{Globals{URL: "http://127.0.0.1:7462", As: &scout}, true},
		{Globals{URL: "http://127.0.0.1:7462", As: &operator}, false},
		{Globals{URL: "http://127.0.0.1:7462", As: &scout, Admin: true}, false},
		{Globals{URL: "http://127.0.0.1:7462", As: &scout, Key: "mine"}, false},
		{Globals{URL: "http://127.0.0.1:7462", Key: "mine", Admin: true}, true},
		{Globals{URL: "https://shoal.example", Admin: true}, true},
	} {
		c.globals.Data = t.TempDir()
		if _, _, err := (&Shell{Globals: &c.globals}).Secret(); (shoal.KindOf(err) == KindUsage) != c.refused {
			t.Errorf("%+v: %v, want refused %v", c.globals, err, c.refused)
		}
	}
}

func TestWhereDataIs(t *testing.T) {
	t.Setenv("HOME", "/home-of-ann")
	for _, c := range []struct{ flag, xdg, want string }{
		{"", "", "/home-of-ann/.local/share/shoal"},
		{"", "/data", "/data/shoal"},
		{"", "relative", "/home-of-ann/.local/share/shoal"}, // which XDG says to ignore
		{"/srv/shoal", "/data", "/srv/shoal"},
	} {
		t.Setenv("XDG_DATA_HOME", c.xdg)
		if got, err := (&Globals{Data: c.flag}).DataDir(); got != c.want || err != nil {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

// A command that turns to another server, as `shoal connect --undo` does, takes no token of the first one along.
func TestATokenStaysAtItsServer(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	store := login.Open(filepath.Join(home, "shoal"))
	for url, token := range map[string]string{"https://one.example": "one", "https://two.example": "two"} {
		account := login.Account{URL: url, ClientID: "client"}
		if _, err := store.Put(t.Context(), account, login.Tokens{Access: token, Refresh: "r", Ends: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	sh := &Shell{Globals: &Globals{Data: t.TempDir()}}
	for _, c := range []struct{ url, want string }{{"https://one.example", "one"}, {"https://two.example", "two"}, {"https://other.example", ""}, {"https://one.example", "one"}} {
		sh.URL = c.url
		if key, _, err := sh.Secret(); key != c.want || err != nil {
			t.Errorf("to %s: key %q, %v; want %q", c.url, key, err, c.want)
		}
	}
}
