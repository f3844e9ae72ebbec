package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/hub"
)

// The files in a data directory that hold keys, each the secret and a newline: the
// admin key, which may do everything, and the key of the operator, the owner of the
// session default.
const (
	KeyFile         = "admin.key"
	OperatorKeyFile = "operator.key"
)

// othersMode are the permission bits that let other users of the machine at a file.
const othersMode fs.FileMode = 0o007

// adopt makes the key in a file of the data directory work as n, and writes the file
// with a new key if there is none. A key that was revoked stays revoked; the log then
// says how to get another one. InvalidArgument for a file that other users can read.
func (s *Server) adopt(ctx context.Context, name string, n shoal.NewKey) error {
	path := filepath.Join(s.config.Data, name)
	err := checkMode(path)
	secret := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		secret = auth.NewSecret()
		err = writeKey(path, secret)
	case err == nil:
		secret, err = readKey(path)
	}
	if err != nil {
		return unusable(path, err)
	}
	return s.adoptSecret(ctx, path, secret, n)
}

// adminKey makes the admin key work: the one of the data directory, or the one of the
// file that replaces it, which the server neither writes nor refuses for its mode.
func (s *Server) adminKey(ctx context.Context) error {
	n := shoal.NewKey{Role: shoal.RoleAdmin, Name: "data directory"}
	path := s.config.AdminKeyFile
	if path == "" {
		return s.adopt(ctx, KeyFile, n)
	}
	secret, err := readKey(path)
	if err != nil {
		return unusable(path, err)
	}
	if err := checkMode(path); err != nil {
		s.config.Log.Warn("other users can read the admin key", "file", path, "error", err)
	}
	n.Name = "admin key file"
	return s.adoptSecret(ctx, path, secret, n)
}

func unusable(path string, err error) error {
	return shoal.E("app.adopt", shoal.InvalidArgument, fmt.Sprintf("The file %s cannot be used: %v.", path, err))
}

func (s *Server) adoptSecret(ctx context.Context, path, secret string, n shoal.NewKey) error {
	works, err := s.Hub.Keys.Adopt(ctx, n, auth.Hash(secret))
	if err == nil && !works {
		s.config.Log.Warn("the key in this file was revoked and stays revoked; `shoal keys rotate` with --admin writes a new admin key, deleting the file and starting again a new key of the operator", "file", path)
	}
	return err
}

// operatorKey makes sure that the operator has a key in the data directory. An
// operator that somebody deleted gets none.
func (s *Server) operatorKey(ctx context.Context) error {
	_, err := s.Hub.Entities.Get(ctx, local, shoal.DefaultSession, shoal.Operator)
	if errors.Is(err, shoal.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.adopt(ctx, OperatorKeyFile, shoal.NewKey{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: shoal.Operator, Name: "data directory"})
}

// checkMode returns an error for a key file that other users can read or change.
func checkMode(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&othersMode != 0 {
		return fmt.Errorf("it has mode %04o, so other users of this machine can read or change it; run `chmod 600 %s`, and replace the key if somebody may have read it", mode, path)
	}
	return nil
}

// readKey returns the secret in a key file.
func readKey(path string) (string, error) {
	raw, err := os.ReadFile(path)
	secret := strings.TrimSpace(string(raw))
	if err == nil && len(secret) < sha256.Size {
		err = errors.New("it does not hold a key, which has at least 32 characters; delete a file of the data directory to get a new one")
	}
	return secret, err
}

// writeKey makes a key file. After a power cut it is there with the key in it, or
// not at all: half a file would keep the server from starting.
func writeKey(path, secret string) error {
	made, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = made.WriteString(secret + "\n")
	if err = errors.Join(err, made.Sync(), made.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// ReadAdminKey returns the admin key of a data directory. The error is of kind
// NotFound if the caller cannot read one, and of kind InvalidArgument if other users can
// read it.
func ReadAdminKey(data string) (string, error) { return readKeyOf(data, KeyFile) }

// ReadOperatorKey is ReadAdminKey for the key of the operator.
func ReadOperatorKey(data string) (string, error) { return readKeyOf(data, OperatorKeyFile) }

func readKeyOf(data, name string) (string, error) {
	path := filepath.Join(data, name)
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", &shoal.Error{Op: "app.readKeyOf", Kind: shoal.NotFound, Msg: fmt.Sprintf("%s not found in %s, or not readable.", name, data), Err: err}
	}
	if err := checkMode(path); err != nil {
		return "", unusable(path, err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// RotateAdminKey writes a new admin key into a data directory and revokes the one that
// was there. It opens the database itself, also beside a running server, which lets
// the old key go within two seconds.
func RotateAdminKey(ctx context.Context, data, database string) error {
	return offline(ctx, data, database, func(h *hub.Hub) error {
		path := filepath.Join(data, KeyFile)
		old, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read the old key: %w", err)
		}
		secret := auth.NewSecret()
		n := shoal.NewKey{Role: shoal.RoleAdmin, Name: "data directory"}
		if _, _, err := h.Keys.Create(ctx, local, n, auth.Hash(secret), ""); err != nil {
			return err
		}
		// The new key works before the file has it, and the old one until it does.
		if err := writeKey(path, secret); err != nil {
			return fmt.Errorf("write the new key: %w", err)
		}
		key, _, err := h.Keys.ByHash(ctx, auth.Hash(strings.TrimSpace(string(old))))
		if errors.Is(err, shoal.NotFound) {
			return nil // it was revoked before
		}
		if err != nil {
			return err
		}
		return h.Keys.Revoke(ctx, local, key.ID)
	})
}
