// Package auditlog copies the records of the audit log to a file, one line of JSON each, for programs
// that collect them.
package auditlog

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
)

const (
	// retryAfter is how long after a failure the file is written again.
	retryAfter = time.Second
	// maxPending bounds the lines that wait for the file, in bytes; the others are in the database
	// only.
	maxPending = 8 << 20
)

// File is a file that records are appended to. If it was moved, as programs that rotate logs do, the
// next record begins a new one. It is safe for concurrent use.
type File struct {
	path string
	log  *slog.Logger

	mu      sync.Mutex
	file    *os.File
	pending []byte // what could not be written
	dropped int    // records for which there was no room
	err     error
	retry   *time.Timer // nil unless err is set
	closed  bool
}

// Open opens a file, which only its owner can read if it is new, and creates it if it does not exist.
func Open(path string, log *slog.Logger) (*File, error) {
	f := &File{path: path, log: log}
	return f, f.open()
}

func (f *File) open() (err error) {
	f.file, err = os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return err
}

// Write appends records and waits until the disk has them. What cannot be written is written later, in
// the same order.
func (f *File) Write(records []audit.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range records {
		line, err := shoal.EncodeJSON(r)
		if err != nil || len(f.pending)+len(line) > maxPending {
			f.dropped++
			continue
		}
		f.pending = append(append(f.pending, line...), '\n')
	}
	if f.err == nil {
		f.write()
	}
}

// Err returns why records cannot be written now, or nil.
func (f *File) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// write writes what is pending, and plans to do it again after a failure. f.mu must be held.
func (f *File) write() {
	if f.closed {
		return
	}
	err := f.reopen()
	if err == nil {
		var n int
		n, err = f.file.Write(f.pending)
		f.pending = f.pending[n:]
	}
	if err == nil {
		err = f.file.Sync()
	}
	switch {
	case err == nil && f.err != nil:
		f.log.Info("the audit log is written again", "file", f.path, "missing", f.dropped)
		f.err, f.dropped = nil, 0
	case err != nil && f.err == nil:
		f.log.Error("the audit log cannot be written; what is missing in the file is in the database", "file", f.path, "error", err)
		fallthrough
	case err != nil:
		f.err = err
		f.retry = time.AfterFunc(retryAfter, func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.write()
		})
	}
}

// reopen opens the file again if its path names another one, or none.
func (f *File) reopen() error {
	if f.file != nil {
		at, err := os.Stat(f.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err == nil {
			if open, err := f.file.Stat(); err == nil && os.SameFile(at, open) {
				return nil
			}
		}
		_ = f.file.Close() // everything in it was written with Sync
		f.file = nil
	}
	return f.open()
}

// Close writes what is pending, if that is possible, and closes the file. Later records are lost.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		f.write()
	}
	f.closed = true
	if f.retry != nil {
		f.retry.Stop()
	}
	var err error
	if len(f.pending) > 0 {
		err = fmt.Errorf("audit log %s: %d bytes were not written: %w", f.path, len(f.pending), f.err)
	}
	if f.file != nil {
		err = errors.Join(err, f.file.Close())
	}
	return err
}
