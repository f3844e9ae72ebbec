//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Try takes the lock of a file, which is made if it is missing. The lock lasts until the
// returned file is closed or the process ends; the file is nil while somebody else has
// it. The file should hold nothing else: closing another handle of a file that SQLite
// has open would give up SQLite's own locks.
func Try(path string) (*os.File, error) { return try(path, syscall.LOCK_EX) }

func try(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = nil
	}
	return nil, errors.Join(err, f.Close())
}

// Held reports whether somebody has the lock of a file. While it checks, Try fails.
func Held(path string) (bool, error) {
	f, err := try(path, syscall.LOCK_SH)
	if f == nil {
		return err == nil, err
	}
	return false, f.Close()
}
