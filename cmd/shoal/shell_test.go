package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The admin key of this machine is for servers on this machine. Another one
// would only have to be named to get it.
func TestTheAdminKeyStaysOnItsMachine(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "admin.key"), []byte("shoal_admin\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	for _, c := range []struct {
		globals globals
		want    string
		local   bool
	}{
		{globals{URL: "http://127.0.0.1:7462", Data: dir}, "shoal_admin", true},
		{globals{URL: "http://localhost:7462", Data: dir}, "shoal_admin", true},
		{globals{URL: "http://[::1]:7462", Data: dir}, "shoal_admin", true},
		{globals{URL: "http://127.0.0.1:7462", Data: dir, Key: "mine"}, "mine", false},
		{globals{URL: "http://127.0.0.1:7462", Data: empty}, "", true},
		{globals{URL: "http://10.0.0.1:7462", Data: dir}, "", false},
		{globals{URL: "https://shoal.example", Data: dir}, "", false},
		{globals{URL: "http://localhost@shoal.example", Data: dir}, "", false},
		{globals{URL: "http://127.0.0.1.shoal.example", Data: dir}, "", false},
		{globals{URL: "http://shoal.example", Data: dir, Key: "mine"}, "mine", false},
		{globals{URL: ":", Data: dir}, "", false},
	} {
		key, local, err := c.globals.secret()
		if key != c.want || local != c.local || err != nil {
			t.Errorf("%+v: key %q, local %v, %v; want %q, %v", c.globals, key, local, err, c.want, c.local)
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
		if got, err := (&globals{Data: c.flag}).dataDir(); got != c.want || err != nil {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}
