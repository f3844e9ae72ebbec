package app_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What cannot work is refused before anything is opened, with what to do.
func TestRefusesWhatCannotWork(t *testing.T) {
	for name, c := range map[string]struct {
		config app.Config
		says   string
	}{
		"no data directory":        {app.Config{Data: ""}, "--data"},
		"an unknown database":      {app.Config{Database: "mysql://x"}, "sqlite:// or postgres://"},
		"NATS with SQLite":         {app.Config{Bus: "nats://x"}, "set --database postgres://"},
		"a bus in SQLite":          {app.Config{Bus: "postgres"}, "set --database postgres://"},
		"a NATS bus without host":  {app.Config{Bus: "nats://ann:secret@x,nats://", Database: "postgres://x"}, "nats://HOST:PORT"},
		"an unknown bus":           {app.Config{Bus: "memories"}, "auto, memory, postgres or nats://"},
		"an invalid name":          {app.Config{Node: "\u202e"}, "--node"},
		"no address":               {app.Config{Addr: "nonsense"}, "host:port"},
		"auth off for the network": {app.Config{Addr: "0.0.0.0:0", Auth: "off"}, "loopback"},
		"an invalid network":       {app.Config{AllowPrivate: []string{"10.0.0.0/8", "10.0.0.1"}}, "--allow-private 10.0.0.1"},
		"an invalid variable name": {app.Config{AllowEnv: []string{"A B"}}, "--allow-env"},
		"a vendor's key":           {app.Config{AllowEnv: []string{"OPENAI_API_KEY"}}, "--allow-env OPENAI_API_KEY"},
		"the server's variable":    {app.Config{AllowEnv: []string{"shoal_x"}}, "--allow-env shoal_x"},
		"an invalid host":          {app.Config{Addr: "127.0.0.1:0", AllowHosts: []string{"a/b"}}, "a/b"},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "no data directory" {
				c.config.Data = t.TempDir()
			}
			_, err := app.Start(t.Context(), c.config)
			if !errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an invalid_argument that names %q", err, c.says)
			}
		})
	}
}

// A second server on a database would not hear what the first one stores: it is refused
// in words that say what to do.
func TestASecondServerIsRefused(t *testing.T) {
	t.Parallel()
	config := app.Config{Data: t.TempDir(), Addr: "127.0.0.1:0"}
	first, err := app.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Stop()
	if _, err := app.Start(t.Context(), config); !errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), "--bus memory") {
		t.Errorf("a second server gets %v", err)
	}
	if _, err := app.CreateKey(t.Context(), config.Data, "", shoal.NewKey{Role: shoal.RoleAdmin}); err != nil {
		t.Errorf("a tool beside the server gets %v", err)
	}
}

// The admin key outlives a restart, is for its owner's eyes only, and works;
// what the first start makes is there once.
func TestRestartKeepsTheKey(t *testing.T) {
	data := filepath.Join(t.TempDir(), "new", "folder")
	var keys []string
	for range 2 {
		s, err := app.Start(t.Context(), app.Config{Data: data, Addr: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		key, err := app.ReadAdminKey(data)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
		expectOperator(t, s.URL(), key)
		s.Stop()
	}
	if keys[0] != keys[1] {
		t.Error("the second start made another admin key")
	}
	info, err := os.Stat(filepath.Join(data, "admin.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("admin.key: %v %v, want mode 0600", info.Mode(), err)
	}
}

// expectOperator checks that the key is the admin's and that the operator and the
// first agent are in the space welcome.
func expectOperator(t *testing.T, url, key string) {
	t.Helper()
	idle := client.Options{URL: url, Key: key, As: shoal.Operator}
	c, err := client.New(idle)
	if err != nil {
		t.Fatal(err)
	}
	me, err := c.Me(t.Context())
	if err != nil || me.Role != shoal.RoleAdmin || me.EntityID == nil || *me.EntityID != shoal.Operator {
		t.Errorf("the admin key says %+v, %v", me, err)
	}
	space, err := c.Session(shoal.DefaultSession).Space(t.Context(), app.Welcome)
	if err != nil || len(space.Members) != 2 || space.Members[0].EntityID != shoal.Operator || space.Members[1].EntityID != app.ShopAgent {
		t.Errorf("welcome is %+v, %v", space, err)
	}
}

// A key file that holds no key is not overwritten, and an address that is taken
// is named.
func TestStartSaysWhatIsInTheWay(t *testing.T) {
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "admin.key"), []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := app.Start(t.Context(), app.Config{Data: data, Addr: "127.0.0.1:0"})
	if !errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), "admin.key") {
		t.Errorf("a damaged key file: %v", err)
	}
	first, err := app.Start(t.Context(), app.Config{Data: t.TempDir(), Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Stop()
	taken := strings.TrimPrefix(first.URL(), "http://")
	_, err = app.Start(t.Context(), app.Config{Data: t.TempDir(), Addr: taken})
	if !errors.Is(err, shoal.Conflict) || !strings.Contains(err.Error(), "--addr") {
		t.Errorf("a taken address: %v", err)
	}
}

// A key can be created without calling a running server, which then accepts it.
func TestCreatesAKeyWithoutTheServer(t *testing.T) {
	data := t.TempDir()
	s, err := app.Start(t.Context(), app.Config{Data: data, Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	key, err := app.CreateKey(t.Context(), data, "", shoal.NewKey{Role: shoal.RoleAdmin, Name: "second"})
	if err != nil {
		t.Fatal(err)
	}
	expectOperator(t, s.URL(), *key.Secret)
	if _, err := app.CreateKey(t.Context(), filepath.Join(data, "nowhere"), "", shoal.NewKey{Role: shoal.RoleAdmin}); !errors.Is(err, shoal.NotFound) {
		t.Errorf("a key for a directory that is not there: %v", err)
	}
}
