package app_test

import (
	"errors"
	"os"
	"path/filepath"
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
