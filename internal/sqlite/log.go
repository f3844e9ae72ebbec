package sqlite

import (
	"encoding/binary"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// JoinLog makes the connection write what a commit adds to the write-ahead log in
// pieces of up to 127 KiB. By itself SQLite hands every page to the system alone, and
// the head that stands before it alone, too: twice as many calls as there are pages,
// which for a commit of some hundred takes longer than to copy them.
//
// It also lets the file of the log grow a MiB at a time, by zeros behind its end, which
// are no pages to whoever reads it: to sync what lies inside a file takes about half of
// the time that it takes behind its end, where the system writes down the new length, too.
//
// It does nothing while the connection has no log open, and nothing when it was
// called before. Where things stand in the file, and what is on the disk when a
// commit ends, stays as it was: nothing is held back when the last page of the commit
// is there, or when the file is synced or read before.
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
	file := c.answer(0)
	if file == 0 || *at[uintptr](file) == 0 {
		return nil
	}
	methods := libc.Xcalloc(c.tls, 1, libc.Tsize_t(unsafe.Sizeof(fileMethods{})+logPiece+zeros))
	if methods == 0 {
		return &Error{Code: NoMem, Message: "out of memory"}
	}
	original := at[fileMethods](*at[uintptr](file))
	l := &logFile{methods: methods, piece: methods + unsafe.Sizeof(fileMethods{}), original: callsOf(original)}
	l.joined = l.original
	l.joined.write, l.joined.read, l.joined.sync = l.write, l.read, l.sync
	*at[fileMethods](methods) = *original
	l.joined.put(at[fileMethods](methods))
	*at[uintptr](file) = methods
	l.begun = func(*libc.TLS, uintptr) int32 { l.committing = true; return 0 }
	sqlite3.Xsqlite3_commit_hook(c.tls, c.db, *(*uintptr)(unsafe.Pointer(&l.begun)), 0)
	c.log = l
	return nil
}

// LogSize is where the connection's last write to the log ended, in bytes from its
// beginning: how long the log is, as long as no other connection writes. It is 0 until
// the first commit behind JoinLog, and asks nobody.
func (c *Conn) LogSize() int64 {
	if c.log == nil {
		return 0
	}
	return c.log.end
}

// at is memory of SQLite's as what it is.
func at[T any](p uintptr) *T {
	return *(**T)(unsafe.Pointer(&p)) //nolint:gosec // see memory
}

const (
	// logPiece is how much of the log is written at once. SQLite's functions for files
	// look at the lower 17 bits of a length.
	logPiece = 127 << 10
	// frameHead is how long the head of a page in the log is. Its second word is the
	// size of the database behind the last page of a transaction, and 0 before the
	// others: https://sqlite.org/fileformat2.html#the_write_ahead_log.
	frameHead = 24
	// logRoom is by how much the file of the log grows, and zeros how many are written
	// at once.
	logRoom = 1 << 20
	zeros   = 64 << 10
)

// logFile is the file of the write-ahead log, as one connection has it open.
type logFile struct {
	// SQLite knows the functions by their addresses, so they are kept here.
	original, joined fileCalls
	begun            func(tls *libc.TLS, arg uintptr) int32

	methods uintptr // memory of SQLite's: the table of joined, then the piece, then zeros
	piece   uintptr

	// committing says that the pages of a commit are coming, and ends with the step of
	// the statement that commits. Pages that come before, because there are too many
	// for the memory, may never be committed, and another connection may then write
	// others in their place: nothing of them is held.
	committing bool
	last       bool  // the next page is the commit's last
	held       int   // how much of the piece is not in the file yet
	end        int64 // behind what was written last, that included
	room       int64 // the length that the file had at least, when it was looked at last
}

// write takes what follows the last write of a commit into the piece. Anything else
// is written at once, behind what is held.
func (l *logFile) write(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32 {
	ends := l.last // this is the page that the head before has announced
	l.last = l.committing && n == frameHead && binary.BigEndian.Uint32(memory(from+4, 4)) != 0
	follows := l.committing && offset == l.end && n <= logPiece
	if !follows || l.held+int(n) > logPiece {
		if rc := l.flush(tls, file); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	if offset < l.end {
		l.room = 0 // the log has started over, and may have been cut
	}
	l.end = offset + int64(n)
	l.committing = l.committing && !ends
	if !follows {
		return l.original.write(tls, file, from, n, offset)
	}
	copy(memory(l.piece+uintptr(l.held), int(n)), memory(from, int(n)))
	l.held += int(n)
	if ends {
		return l.flush(tls, file)
	}
	return sqlite3.SQLITE_OK
}

// settle ends what a step, or a reset, of a statement was. What is held now belongs
// to a commit that has failed, and counts for nothing.
func (l *logFile) settle() {
	if l != nil {
		l.committing, l.last, l.held = false, false, 0
	}
}

// flush writes what is held. When that fails, so does the commit, and what it has
// written so far counts for nothing.
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

// grow makes room for what is held and more behind it. Others may have written to the
// log meanwhile, or have cut it, so it asks how long the file is; as a commit is under
// way, nobody else writes to it now. That there is no room is not its to tell: what is
// held comes next.
func (l *logFile) grow(tls *libc.TLS, file uintptr) {
	size := tls.Alloc(8)
	defer tls.Free(8)
	if l.original.size(tls, file, size) != sqlite3.SQLITE_OK {
		return
	}
	l.room = *at[int64](size)
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

// fileMethods is the table of functions that a file of SQLite's begins with.
type fileMethods = sqlite3.Tsqlite3_io_methods

// fileCalls are those of them that a commit calls: https://sqlite.org/c3ref/io_methods.html.
type fileCalls struct {
	write func(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32
	read  func(tls *libc.TLS, file, to uintptr, n int32, offset int64) int32
	sync  func(tls *libc.TLS, file uintptr, flags int32) int32
	size  func(tls *libc.TLS, file, size uintptr) int32
}

// each goes through the functions and where they stand in a table. One stands there
// as the pointer that a variable of its type holds, which is how the translation
// calls it.
func (c *fileCalls) each(m *fileMethods, do func(function unsafe.Pointer, entry *uintptr)) {
	do(unsafe.Pointer(&c.write), &m.FxWrite)
	do(unsafe.Pointer(&c.read), &m.FxRead)
	do(unsafe.Pointer(&c.sync), &m.FxSync)
	do(unsafe.Pointer(&c.size), &m.FxFileSize)
}

// callsOf reads a table.
func callsOf(m *fileMethods) (c fileCalls) {
	c.each(m, func(function unsafe.Pointer, entry *uintptr) { *(*uintptr)(function) = *entry })
	return c
}

// put writes into a table.
func (c *fileCalls) put(m *fileMethods) {
	c.each(m, func(function unsafe.Pointer, entry *uintptr) { *entry = *(*uintptr)(function) })
}
