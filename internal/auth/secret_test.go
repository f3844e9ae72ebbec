package auth_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// No byte of what the database writes holds a secret, not even the part of it
// that is random; the hash is there, so the right files were read.
func TestSecretsAreNotStored(t *testing.T) {
	dir := t.TempDir()
	store, err := sqlstore.Open(context.Background(), sqlstore.Options{URL: "sqlite://" + filepath.Join(dir, "shoal.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	d := open(t, store, auth.Options{})
	var secrets []string
	for _, n := range []shoal.NewKey{
		{Role: shoal.RoleAdmin, Name: "admin"},
		{Role: shoal.RoleService},
		{Role: shoal.RoleEntity, EntityID: "bot"},
		{Role: shoal.RoleEntity, EntityID: "ann", Kind: shoal.Human},
	} {
		key, err := d.CreateKey(context.Background(), root, n, "once-"+string(n.Role)+string(n.EntityID))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Principal(request(*key.Secret)); err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, *key.Secret)
	}
	hashes := 0
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		for _, secret := range secrets {
			random := strings.TrimPrefix(secret, "shoal_")
			if bytes.Contains(data, []byte(random)) || bytes.Contains(data, []byte(random[8:24])) {
				t.Errorf("%s holds a secret", filepath.Base(name))
			}
			hashes += bytes.Count(data, []byte(auth.Hash(secret)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if hashes < len(secrets) {
		t.Errorf("the database holds %d of %d hashes: these are not its files", hashes, len(secrets))
	}
}

// Secrets do not repeat and reveal nothing about each other.
func TestNewSecret(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		s := auth.NewSecret()
		if seen[s] || len(s) != len("shoal_")+43 || !strings.HasPrefix(s, "shoal_") {
			t.Fatalf("the secret %q of %d characters", s, len(s))
		}
		seen[s] = true
	}
	if auth.Hash("a") != "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb" || auth.Hash("b") == auth.Hash("a") {
		t.Error("a hash does not name its secret")
	}
}
