//go:build linux || darwin

package doctor

import (
	"io/fs"
	"syscall"
)

// freeBytes is how much a user other than root may still write at path.
func freeBytes(path string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	return s.Bavail * uint64(s.Bsize), nil
}
