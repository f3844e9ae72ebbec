package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Try takes the lock of a file, which is made if it is missing. The lock lasts until the
// returned file is closed or the process ends; the file is nil while somebody else has
// it.
func Try(path string) (*os.File, error) { return try(path, windows.LOCKFILE_EXCLUSIVE_LOCK) }

func try(path string, how uint32) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if err == nil {
		return f, nil
	}
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		err = nil
	}
	return nil, errors.Join(err, f.Close())
}

// Held reports whether somebody has the lock of a file. While it checks, Try fails.
func Held(path string) (bool, error) {
	f, err := try(path, 0)
	if f == nil {
		return err == nil, err
	}
	return false, f.Close()
}
