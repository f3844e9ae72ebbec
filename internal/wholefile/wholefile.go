// Package wholefile replaces small files at once, so that readers see the old or the new
// content:
//
//	err := wholefile.Replace(path, text)
//
// Guarantees:
//   - A failure leaves the old file as it was, and no other file beside it.
//   - Only the owner can read a new file.
//   - It does not wait for the disk: after a power cut the old file, or an empty one, may be
//     there.
package wholefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace writes text into a file beside path and renames it to path.
func Replace(path string, text []byte) error {
	part, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".") // mode 0600
	if err != nil {
		return err
	}
	_, err = part.Write(text)
	if err = errors.Join(err, part.Close()); err == nil {
		err = os.Rename(part.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}
