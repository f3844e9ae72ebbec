//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filestore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/shoal-dev/shoal/agent"
)

// lockFile takes the lock, which the system gives free when the process ends,
// however it does.
func lockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("filestore: %w", err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	_ = f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, agent.NewError("filestore.Open", agent.ErrConflict, fmt.Sprintf(
			"The directory %s is open already; close it there, or take another directory.", filepath.Dir(name)))
	}
	return nil, fmt.Errorf("filestore: %w", err)
}

func unlockFile(f *os.File) error { return f.Close() }

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return finish(f, nil)
}
