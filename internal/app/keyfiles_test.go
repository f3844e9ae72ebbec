package app_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
)

// A revoked key is not adopted again by a start that finds its file, and a rotation
// replaces it.
func TestARevokedAdminKeyStaysRevoked(t *testing.T) {
	config := app.Config{Data: t.TempDir(), Addr: "127.0.0.1:0"}
	s := start(t, config)
	old := readAdminKey(t, config.Data)
	admin := clientOf(t, s.URL(), old)
	me, err := admin.Me(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.RevokeKey(t.Context(), me.KeyID); err != nil {
		t.Fatal(err)
	}
	s.Stop()

	s = start(t, config)
	if _, err := clientOf(t, s.URL(), old).Me(t.Context()); !errors.Is(err, shoal.Unauthenticated) {
		t.Fatalf("the revoked key answers %v after a restart", err)
	}
	if got := readAdminKey(t, config.Data); got != old {
		t.Error("the start has replaced the file of the revoked key")
	}
	if err := app.RotateAdminKey(t.Context(), config.Data, ""); err != nil {
		t.Fatal(err)
	}
	fresh := readAdminKey(t, config.Data)
	if _, err := clientOf(t, s.URL(), fresh).Me(t.Context()); err != nil {
		t.Errorf("the new key does not work beside a running server: %v", err)
	}
	if err := app.RotateAdminKey(t.Context(), config.Data, ""); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	s = start(t, config)
	if _, err := clientOf(t, s.URL(), fresh).Me(t.Context()); !errors.Is(err, shoal.Unauthenticated) {
		t.Errorf("a key that was rotated away answers %v", err)
	}
}

// A key file that other users can read is refused before anything listens.
func TestAKeyFileThatOthersCanReadIsRefused(t *testing.T) {
	config := app.Config{Data: t.TempDir(), Addr: "127.0.0.1:0"}
	start(t, config).Stop()
	path := filepath.Join(config.Data, app.KeyFile)
	for mode, refused := range map[os.FileMode]bool{0o604: true, 0o602: true, 0o640: false, 0o600: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		s, err := app.Start(t.Context(), config)
		if err == nil {
			s.Stop()
		}
		if got := errors.Is(err, shoal.InvalidArgument); got != refused {
			t.Errorf("mode %04o: the start answers %v", mode, err)
		}
		for name, read := range map[string]func(string) (string, error){app.KeyFile: app.ReadAdminKey, app.OperatorKeyFile: app.ReadOperatorKey} {
			if err := os.Chmod(filepath.Join(config.Data, name), mode); err != nil {
				t.Fatal(err)
			}
			if _, err := read(config.Data); errors.Is(err, shoal.InvalidArgument) != refused {
				t.Errorf("mode %04o of %s: reading it answers %v", mode, name, err)
			}
			if err := os.Chmod(filepath.Join(config.Data, name), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A data directory without key files, such as one of the first edition whose admin.key
// is lost, gets new ones; keys that exist keep working.
func TestMissingKeyFilesAreWrittenAgain(t *testing.T) {
	config := app.Config{Data: t.TempDir(), Addr: "127.0.0.1:0"}
	start(t, config).Stop()
	old := readAdminKey(t, config.Data)
	for _, name := range []string{app.KeyFile, app.OperatorKeyFile} {
		if err := os.Remove(filepath.Join(config.Data, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := start(t, config)
	fresh := readAdminKey(t, config.Data)
	operator, err := app.ReadOperatorKey(config.Data)
	if err != nil || fresh == old {
		t.Fatalf("the files hold the old key, or %v", err)
	}
	for key, role := range map[string]shoal.Role{old: shoal.RoleAdmin, fresh: shoal.RoleAdmin, operator: shoal.RoleEntity} {
		if me, err := clientOf(t, s.URL(), key).Me(t.Context()); err != nil || me.Role != role {
			t.Errorf("a key of role %s answers %+v, %v", role, me, err)
		}
	}
	for _, name := range []string{app.KeyFile, app.OperatorKeyFile} {
		if info, err := os.Stat(filepath.Join(config.Data, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// An admin key file elsewhere is used as it is: the operator decides about its
// permissions, and the log says so. It is not written, and none is made beside it.
func TestAnAdminKeyFileElsewhere(t *testing.T) {
	var log strings.Builder
	path := filepath.Join(t.TempDir(), "secret")
	config := app.Config{Data: t.TempDir(), Addr: "127.0.0.1:0", AdminKeyFile: path, Log: slog.New(slog.NewTextHandler(&log, nil))}
	if s, err := app.Start(t.Context(), config); !errors.Is(err, shoal.InvalidArgument) {
		s.Stop()
		t.Fatalf("a file that is not there: %v", err)
	}
	secret := "shoal_" + strings.Repeat("k", 40)
	if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	s := start(t, config)
	if me, err := clientOf(t, s.URL(), secret).Me(t.Context()); err != nil || me.Role != shoal.RoleAdmin {
		t.Errorf("the key answers %+v, %v", me, err)
	}
	s.Stop()
	if !strings.Contains(log.String(), "other users can read the admin key") || strings.Contains(log.String(), secret) {
		t.Errorf("the log says %s", log.String())
	}
	if _, err := os.Stat(filepath.Join(config.Data, app.KeyFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a key file beside it: %v", err)
	}
}

func start(t *testing.T, config app.Config) *app.Server {
	t.Helper()
	s, err := app.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

func readAdminKey(t *testing.T, data string) string {
	t.Helper()
	key, err := app.ReadAdminKey(data)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func clientOf(t *testing.T, url, key string) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{URL: url, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
