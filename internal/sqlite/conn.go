package sqlite

import (
	"errors"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Conn is an open database.
type Conn struct {
	tls *libc.TLS
	db  uintptr
	// out is memory for the up to two pointers that SQLite returns.
	out uintptr
	log *logFile // nil unless JoinLog has succeeded
}

const pointerSize = int(unsafe.Sizeof(uintptr(0)))

// Open opens the database in the file path, which is taken literally, and creates the file
// if it does not exist. The error is an [*Error].
func Open(path string) (*Conn, error) {
	c := &Conn{tls: libc.NewTLS()}
	c.out = libc.Xcalloc(c.tls, 2, libc.Tsize_t(pointerSize))
	name, err := libc.CString(path)
	if err != nil || c.out == 0 {
		c.release()
		return nil, &Error{Code: NoMem, Message: "out of memory"}
	}
	defer libc.Xfree(c.tls, name)
	const flags = sqlite3.SQLITE_OPEN_READWRITE | sqlite3.SQLITE_OPEN_CREATE | sqlite3.SQLITE_OPEN_NOMUTEX | sqlite3.SQLITE_OPEN_EXRESCODE
	rc := sqlite3.Xsqlite3_open_v2(c.tls, name, c.out, flags, 0)
	c.db = c.outPointer(0)
	if rc != sqlite3.SQLITE_OK {
		err := c.failure(rc)
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close ends the connection and rolls back its open transaction. All statements must be
// closed before; otherwise the error is Busy.
func (c *Conn) Close() error {
	if rc := sqlite3.Xsqlite3_close(c.tls, c.db); rc != sqlite3.SQLITE_OK {
		return c.failure(rc)
	}
	c.release()
	return nil
}

func (c *Conn) release() {
	if c.log != nil {
		libc.Xfree(c.tls, c.log.methods)
	}
	libc.Xfree(c.tls, c.out)
	c.tls.Close()
}

// Run executes statements without arguments in order, each to its end, and discards their
// rows. It stops at the first statement that fails.
func (c *Conn) Run(script string) error {
	text, err := libc.CString(script)
	if err != nil {
		return &Error{Code: NoMem, Message: "out of memory"}
	}
	defer libc.Xfree(c.tls, text)
	for at, end := text, text+uintptr(len(script)); at < end; {
		s, rest, err := c.prepare(at)
		if err != nil {
			return err
		}
		at = rest
		if s == nil {
			continue // a comment, or empty
		}
		for more := true; more; {
			if more, err = s.Step(); err != nil {
				s.Close()
				return err
			}
		}
		s.Close()
	}
	return nil
}

// Prepare prepares the statement of a text that contains exactly one.
func (c *Conn) Prepare(query string) (*Stmt, error) {
	text, err := libc.CString(query)
	if err != nil {
		return nil, &Error{Code: NoMem, Message: "out of memory"}
	}
	defer libc.Xfree(c.tls, text)
	s, rest, err := c.prepare(text)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, &Error{Code: Misuse, Message: "the text contains no statement"}
	case rest != text+uintptr(len(query)):
		s.Close()
		return nil, &Error{Code: Misuse, Message: "the text continues after the statement"}
	}
	return s, nil
}

// prepare prepares the first statement of a text, or returns nil for an empty text, and returns the rest
// of the text.
func (c *Conn) prepare(text uintptr) (s *Stmt, rest uintptr, err error) {
	rest = c.out + uintptr(pointerSize)
	if rc := sqlite3.Xsqlite3_prepare_v2(c.tls, c.db, text, -1, c.out, rest); rc != sqlite3.SQLITE_OK {
		return nil, 0, c.failure(rc)
	}
	handle, rest := c.outPointer(0), c.outPointer(1)
	if handle == 0 {
		return nil, rest, nil
	}
	s = &Stmt{c: c, handle: handle}
	if err := s.readMetadata(); err != nil {
		s.Close()
		return nil, 0, err
	}
	return s, rest, nil
}

// outPointer returns the pointer that SQLite has written at index i of out.
func (c *Conn) outPointer(i int) uintptr {
	return *(*uintptr)(unsafe.Pointer(unsafe.SliceData(memoryAt(c.out+uintptr(i*pointerSize), pointerSize)))) //nolint:gosec // calloc aligns it
}

// Changes returns the number of rows that the last INSERT, UPDATE or DELETE changed.
func (c *Conn) Changes() int64 { return sqlite3.Xsqlite3_changes64(c.tls, c.db) }

// memoryAt returns n bytes of SQLite's memory at p, which is not 0. They are not part of the
// heap that Go collects, so bypassing the rule about uintptr is safe.
func memoryAt(p uintptr, n int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n) //nolint:gosec // see above
}
