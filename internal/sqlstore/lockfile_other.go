//go:build !unix

package sqlstore

import "os"

// tryLockFile takes no lock where there is none that ends with its process.
func tryLockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}
