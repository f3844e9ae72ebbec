package sqlite

import (
	"encoding/binary"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// JoinLog makes the connection write the pages of a commit to the write-ahead log in pieces
// of up to 127 KiB. By default SQLite writes every page separately, and also the header
// before each page: twice as many system calls as pages, which for a commit of some hundred
// pages takes longer than copying them.
//
// It also extends the log file by one MiB at a time with zeros, which readers do not
// interpret as pages. Syncing writes inside a file takes about half the time of syncing
// writes after its end, where the file system also records the new length.
//
// JoinLog does nothing while the connection has no open log, and nothing when it was called
// before. The layout of the file and the content of the disk at the end of a commit do not
// change: buffered pages are written with the last page of the commit, or before the file is
// synced or read.
func (c *Conn) JoinLog() error {
	if c.log != nil {
		return nil
	}
	name, err := libc.CString("main")
	if err != nil {
		return &Error{Code: NoMem, Message: "out of memory"}
	}
	defer libc.Xfree(c.tls, name)
	if rc := sqlite3.Xsqlite3_file_control(c.tls, c.db, name, sqlite3.SQLITE_FCNTL_JOURNAL_POINTER, c.out); rc != sqlite3.SQLITE_OK {
		return c.failure(rc)
	}
	file := c.outPointer(0)
	if file == 0 || *castMemory[uintptr](file) == 0 {
		return nil
	}
	methods := libc.Xcalloc(c.tls, 1, libc.Tsize_t(unsafe.Sizeof(fileMethods{})+logPiece+zeros))
	if methods == 0 {
		return &Error{Code: NoMem, Message: "out of memory"}
	}
	original := castMemory[fileMethods](*castMemory[uintptr](file))
	l := &logFile{methods: methods, piece: methods + unsafe.Sizeof(fileMethods{}), original: callsOf(original)}
	l.joined = l.original
	l.joined.write, l.joined.read, l.joined.sync = l.write, l.read, l.sync
	*castMemory[fileMethods](methods) = *original
	l.joined.store(castMemory[fileMethods](methods))
	*castMemory[uintptr](file) = methods
	l.begun = func(*libc.TLS, uintptr) int32 { l.committing = true; return 0 }
	sqlite3.Xsqlite3_commit_hook(c.tls, c.db, *(*uintptr)(unsafe.Pointer(&l.begun)), 0)
	c.log = l
	return nil
}

// LogSize returns the offset in bytes at which the connection's last write to the log ended.
// It is the length of the log if no other connection writes. It is 0 until the first commit
// after JoinLog. LogSize makes no system call.
func (c *Conn) LogSize() int64 {
	if c.log == nil {
		return 0
	}
	return c.log.end
}

// castMemory interprets memory of SQLite as a T.
func castMemory[T any](p uintptr) *T {
	return *(**T)(unsafe.Pointer(&p)) //nolint:gosec // see memory
}

const (
	// logPiece is the size of one write to the log. SQLite's file functions use only the
	// lower 17 bits of a length.
	logPiece = 127 << 10
	// frameHead is the length of the header of a page in the log. Its second word is the
	// size of the database after the last page of a transaction, and 0 for other pages:
	// https://sqlite.org/fileformat2.html#the_write_ahead_log.
	frameHead = 24
	// logRoom is the step by which the log file grows, and zeros the number of zeros in one
	// write.
	logRoom = 1 << 20
	zeros   = 64 << 10
)

// logFile is the file of the write-ahead log, as opened by one connection.
type logFile struct {
	// SQLite calls the functions by address, so they must stay reachable.
	original, joined fileCalls
	begun            func(tls *libc.TLS, arg uintptr) int32

	methods uintptr // memory of SQLite's: the table of joined, then the piece, then zeros
	piece   uintptr

	// committing is set while the pages of a commit are written, until the end of the step
	// of the committing statement. Pages that are written earlier, because the cache is
	// full, may never be committed, and another connection may then overwrite them. They
	// are not buffered.
	committing bool
	last       bool  // the next page is the commit's last
	held       int   // bytes of the piece that are not written yet
	end        int64 // offset after the last write, including the buffered bytes
	room       int64 // lower bound of the file's length at the last check
}

// write buffers data that follows the last write of a commit. Anything else is written
// immediately, after the buffered data.
func (l *logFile) write(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32 {
	ends := l.last // the preceding header has announced this page as the last
	l.last = l.committing && n == frameHead && binary.BigEndian.Uint32(memoryAt(from+4, 4)) != 0
	follows := l.committing && offset == l.end && n <= logPiece
	if !follows || l.held+int(n) > logPiece {
		if rc := l.flush(tls, file); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	if offset < l.end {
		l.room = 0 // the log has started over, and may have been truncated
	}
	l.end = offset + int64(n)
	l.committing = l.committing && !ends
	if !follows {
		return l.original.write(tls, file, from, n, offset)
	}
	copy(memoryAt(l.piece+uintptr(l.held), int(n)), memoryAt(from, int(n)))
	l.held += int(n)
	if ends {
		return l.flush(tls, file)
	}
	return sqlite3.SQLITE_OK
}

// settle ends a step or a reset of a statement. Data that is still buffered belongs to a
// failed commit and is discarded.
func (l *logFile) settle() {
	if l != nil {
		l.committing, l.last, l.held = false, false, 0
	}
}

// flush writes the buffered data. If that fails, the commit fails, and the data that it has
// written so far has no effect.
func (l *logFile) flush(tls *libc.TLS, file uintptr) int32 {
	n := l.held
	l.held = 0
	if n == 0 {
		return sqlite3.SQLITE_OK
	}
	if l.end > l.room {
		l.grow(tls, file)
	}
	return l.original.write(tls, file, l.piece, int32(n), l.end-int64(n)) //nolint:gosec // at most logPiece
}

// grow extends the file by the buffered data and more. Other connections may have written to
// the log or truncated it in the meantime, so grow reads the length of the file; during the
// commit nobody else writes to it. grow ignores errors, because the following write reports
// them.
func (l *logFile) grow(tls *libc.TLS, file uintptr) {
	size := tls.Alloc(8)
	defer tls.Free(8)
	if l.original.size(tls, file, size) != sqlite3.SQLITE_OK {
		return
	}
	l.room = *castMemory[int64](size)
	if l.end <= l.room {
		return
	}
	for until := l.end + logRoom; l.room < until; l.room += zeros {
		if l.original.write(tls, file, l.piece+logPiece, zeros, l.room) != sqlite3.SQLITE_OK {
			return
		}
	}
}

func (l *logFile) read(tls *libc.TLS, file, to uintptr, n int32, offset int64) int32 {
	if rc := l.flush(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return l.original.read(tls, file, to, n, offset)
}

func (l *logFile) sync(tls *libc.TLS, file uintptr, flags int32) int32 {
	if rc := l.flush(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return l.original.sync(tls, file, flags)
}

// fileMethods is the table of functions at the start of SQLite's file object.
type fileMethods = sqlite3.Tsqlite3_io_methods

// fileCalls are the functions of the table that a commit calls: https://sqlite.org/c3ref/io_methods.html.
type fileCalls struct {
	write func(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32
	read  func(tls *libc.TLS, file, to uintptr, n int32, offset int64) int32
	sync  func(tls *libc.TLS, file uintptr, flags int32) int32
	size  func(tls *libc.TLS, file, size uintptr) int32
}

// each calls do for each function with its entry in a table. The entry contains the pointer
// in a variable of the function's type, which is how the translated code calls it.
func (c *fileCalls) each(m *fileMethods, do func(function unsafe.Pointer, entry *uintptr)) {
	do(unsafe.Pointer(&c.write), &m.FxWrite)
	do(unsafe.Pointer(&c.read), &m.FxRead)
	do(unsafe.Pointer(&c.sync), &m.FxSync)
	do(unsafe.Pointer(&c.size), &m.FxFileSize)
}

// callsOf returns the functions of a table.
func callsOf(m *fileMethods) (c fileCalls) {
	c.each(m, func(function unsafe.Pointer, entry *uintptr) { *(*uintptr)(function) = *entry })
	return c
}

// store writes the functions into a table.
func (c *fileCalls) store(m *fileMethods) {
	c.each(m, func(function unsafe.Pointer, entry *uintptr) { *entry = *(*uintptr)(function) })
}
