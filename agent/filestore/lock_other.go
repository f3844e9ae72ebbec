//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package filestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/shoal-dev/shoal/agent"
)

// lockFile creates the file, which must not exist. A process that was killed does not
// remove it; then a person has to.
func lockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, agent.NewError("filestore.Open", agent.ErrConflict, fmt.Sprintf(
			"The directory %s is open already; close it there. If its process was killed, remove the file %s.", filepath.Dir(name), name))
	}
	if err != nil {
		return nil, fmt.Errorf("filestore: %w", err)
	}
	return f, nil
}

func unlockFile(f *os.File) error { return errors.Join(f.Close(), os.Remove(f.Name())) }

// syncDir does nothing: these systems cannot sync a directory.
func syncDir(string) error { return nil }
