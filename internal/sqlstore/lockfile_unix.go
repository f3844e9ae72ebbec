//go:build unix

package sqlstore

import (
	"errors"
	"os"
	"syscall"
)

// tryLockFile takes the lock of a file, which is made if it is missing. The lock lasts
// until the returned file is closed or the process ends; the file is nil while somebody
// else has it. SQLite's own locks are of the same process and file, so this is another
// file: closing the database's file anywhere would give them up.
func tryLockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = nil
	}
	return nil, errors.Join(err, f.Close())
}
