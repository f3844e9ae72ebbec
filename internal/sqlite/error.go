package sqlite

import (
	"strconv"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Error is an error of SQLite or of this package.
type Error struct {
	Code    Code
	Message string
}

// Error implements error.
func (e *Error) Error() string {
	return "sqlite: " + e.Message + " (" + strconv.Itoa(int(e.Code)) + ")"
}

// Code is a result code of SQLite, with its extension:
// https://sqlite.org/rescode.html.
type Code int32

// Primary returns the code without its extension.
func (c Code) Primary() Code { return c & 0xff }

// The codes that callers distinguish.
const (
	Busy       Code = sqlite3.SQLITE_BUSY
	Locked     Code = sqlite3.SQLITE_LOCKED
	NoMem      Code = sqlite3.SQLITE_NOMEM
	Interrupt  Code = sqlite3.SQLITE_INTERRUPT
	IOErr      Code = sqlite3.SQLITE_IOERR
	Corrupt    Code = sqlite3.SQLITE_CORRUPT
	Full       Code = sqlite3.SQLITE_FULL
	Protocol   Code = sqlite3.SQLITE_PROTOCOL
	Misuse     Code = sqlite3.SQLITE_MISUSE
	NotADB     Code = sqlite3.SQLITE_NOTADB
	Range      Code = sqlite3.SQLITE_RANGE
	IOErrShmSz Code = sqlite3.SQLITE_IOERR_SHMSIZE
)

// failure returns the error for the result code of a call.
func (c *Conn) failure(rc int32) *Error {
	text := sqlite3.Xsqlite3_errstr(c.tls, rc)
	message := libc.GoString(text)
	if c.db != 0 {
		if detail := libc.GoString(sqlite3.Xsqlite3_errmsg(c.tls, c.db)); detail != message {
			message += ": " + detail
		}
	}
	return &Error{Code: Code(rc), Message: message}
}
