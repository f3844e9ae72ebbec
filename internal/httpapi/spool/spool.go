// Package spool keeps an answer in a temporary file until it is complete, so that a slow reader
// holds no transaction of the database open and a failure can still be reported.
package spool

import (
	"bufio"
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/shoal-dev/shoal"
)

// Spool is a temporary file without a name. It belongs to one goroutine.
type Spool struct {
	*bufio.Writer
	file *os.File
}

// New returns an empty spool in a directory, which may be "" for the one of the system. The caller
// must close it.
func New(dir string) (*Spool, error) {
	file, err := os.CreateTemp(dir, "export-*.tmp")
	if err != nil {
		return nil, Error(err)
	}
	// A file without a name disappears with the process, however that ends. On systems
	// that cannot remove an open file, Close removes it.
	_ = os.Remove(file.Name())
	return &Spool{bufio.NewWriterSize(file, 256<<10), file}, nil
}

// Rewind returns what was written, from its beginning, and its size. Nothing may be written
// afterwards.
func (s *Spool) Rewind() (io.Reader, int64, error) {
	if err := s.Flush(); err != nil {
		return nil, 0, err
	}
	size, err := s.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, 0, err
	}
	_, err = s.file.Seek(0, io.SeekStart)
	return s.file, size, err
}

// Close removes the file.
func (s *Spool) Close() {
	_ = s.file.Close()
	_ = os.Remove(s.file.Name()) // fails where New has removed it
}

// Error returns an error of kind StorageFull if err means that the disk is full, else err.
func Error(err error) error {
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	return &shoal.Error{Op: "httpapi.exportSession", Kind: shoal.StorageFull, Msg: "The server's disk is full, so it cannot write the export. Ask the operator to free space.", Err: err}
}
