package sqlconn

import (
	"os"

	"github.com/shoal-dev/shoal/internal/filelock"
)

// fileLock is the lock of a database in a file. Only the writer uses it.
type fileLock struct {
	path string
	held *os.File
}

func (l *fileLock) try(*Conn) (bool, error) {
	if l.held != nil {
		return true, nil
	}
	f, err := filelock.Try(l.path)
	l.held = f
	return f != nil, err
}

// free releases the lock. The file stays: another process may be about to lock it.
func (l *fileLock) free() {
	if l.held != nil {
		_ = l.held.Close() // nothing was written to it
		l.held = nil
	}
}
