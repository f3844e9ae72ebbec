package sqlite

import (
	"fmt"
	"math"
	"strconv"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Stmt is a prepared statement. Call Bind, then Step until it reports that there is no
// further row, then Reset; repeat as needed, and call Close at the end.
type Stmt struct {
	c      *Conn
	handle uintptr
	// numbers are the argument indexes of its parameters, from 0.
	numbers []int
	// last is the last short text of each column.
	last []string
	// texts is the memory of bound texts, until the next Bind.
	texts uintptr
	size  int
}

// maxRetainedTexts limits the memory that a statement retains for its next texts.
const maxRetainedTexts = 64 << 10

// readMetadata reads the parameters and columns of the statement. SQLite numbers parameters in the
// order of their occurrence; $3 takes the third argument in any position.
func (s *Stmt) readMetadata() error {
	s.last = make([]string, sqlite3.Xsqlite3_column_count(s.c.tls, s.handle))
	s.numbers = make([]int, sqlite3.Xsqlite3_bind_parameter_count(s.c.tls, s.handle))
	for i := range s.numbers {
		s.numbers[i] = i
		name := sqlite3.Xsqlite3_bind_parameter_name(s.c.tls, s.handle, int32(i+1)) //nolint:gosec // SQLite has fewer
		if name == 0 {
			continue
		}
		text := libc.GoString(name)
		n, err := strconv.Atoi(text[1:])
		if err != nil || n < 1 || text[0] != '$' && text[0] != '?' {
			return &Error{Code: Misuse, Message: fmt.Sprintf("the parameter %s has no number", text)}
		}
		s.numbers[i] = n - 1
	}
	return nil
}

// Bind sets the arguments of the statement, which must be reset: each is nil, string, int64,
// float64, bool or []byte. The values are copied.
func (s *Stmt) Bind(args []any) error {
	size := 1 // so that an empty text is not NULL
	for _, n := range s.numbers {
		if n >= len(args) {
			return &Error{Code: Range, Message: fmt.Sprintf("%d arguments are too few for $%d", len(args), n+1)}
		}
		switch v := args[n].(type) {
		case string:
			size += len(v)
		case []byte:
			size += len(v)
		}
	}
	if size > math.MaxInt32 {
		return &Error{Code: Range, Message: "the arguments are too large"}
	}
	if err := s.reserveTexts(size); err != nil {
		return err
	}
	free := s.texts
	for i, n := range s.numbers {
		at := int32(i + 1) //nolint:gosec // SQLite has fewer
		var rc int32
		switch v := args[n].(type) {
		case nil:
			rc = sqlite3.Xsqlite3_bind_null(s.c.tls, s.handle, at)
		case int64:
			rc = sqlite3.Xsqlite3_bind_int64(s.c.tls, s.handle, at, v)
		case float64:
			rc = sqlite3.Xsqlite3_bind_double(s.c.tls, s.handle, at, v)
		case bool:
			rc = sqlite3.Xsqlite3_bind_int64(s.c.tls, s.handle, at, boolInt(v))
		case string:
			rc = sqlite3.Xsqlite3_bind_text(s.c.tls, s.handle, at, free, putText(free, v), sqlite3.SQLITE_STATIC)
			free += uintptr(len(v))
		case []byte:
			rc = sqlite3.Xsqlite3_bind_blob(s.c.tls, s.handle, at, free, putText(free, v), sqlite3.SQLITE_STATIC)
			free += uintptr(len(v))
		default:
			return &Error{Code: Misuse, Message: fmt.Sprintf("$%d is a %T", n+1, v)}
		}
		if rc != sqlite3.SQLITE_OK {
			return s.c.failure(rc)
		}
	}
	return nil
}

// reserveTexts allocates memory for texts of the given size.
func (s *Stmt) reserveTexts(size int) error {
	if size <= s.size {
		return nil
	}
	libc.Xfree(s.c.tls, s.texts)
	s.size = max(size, 2*s.size)
	if s.texts = libc.Xmalloc(s.c.tls, libc.Tsize_t(s.size)); s.texts == 0 { //nolint:gosec // it is above 0
		s.size = 0
		return &Error{Code: NoMem, Message: "out of memory"}
	}
	return nil
}

// putText writes a text to allocated memory, and returns its length.
func putText[T string | []byte](at uintptr, text T) int32 {
	if len(text) > 0 {
		copy(memoryAt(at, len(text)), text)
	}
	return int32(len(text)) //nolint:gosec // Bind has checked the sum
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Step runs the statement to its next row, and reports false at its end. After an error only
// Reset may be called.
func (s *Stmt) Step() (row bool, err error) {
	rc := sqlite3.Xsqlite3_step(s.c.tls, s.handle)
	s.c.log.settle()
	switch rc {
	case sqlite3.SQLITE_ROW:
		return true, nil
	case sqlite3.SQLITE_DONE:
		return false, nil
	default:
		return false, s.c.failure(rc)
	}
}

// Reset returns the statement to its start in any state, and removes its arguments.
func (s *Stmt) Reset() {
	sqlite3.Xsqlite3_reset(s.c.tls, s.handle) // repeats the error of Step
	s.c.log.settle()
	if s.size > maxRetainedTexts {
		sqlite3.Xsqlite3_clear_bindings(s.c.tls, s.handle)
		libc.Xfree(s.c.tls, s.texts)
		s.texts, s.size = 0, 0
	}
}

// Close finalizes the statement.
func (s *Stmt) Close() {
	sqlite3.Xsqlite3_finalize(s.c.tls, s.handle) // repeats the error of Step
	libc.Xfree(s.c.tls, s.texts)
	s.handle, s.texts, s.size = 0, 0, 0
}

// Width returns the number of columns.
func (s *Stmt) Width() int { return len(s.last) }

// Type is the type of a column in the current row.
type Type int32

// The types of values.
const (
	Int   Type = sqlite3.SQLITE_INTEGER
	Float Type = sqlite3.SQLITE_FLOAT
	Text  Type = sqlite3.SQLITE_TEXT
	Blob  Type = sqlite3.SQLITE_BLOB
	Null  Type = sqlite3.SQLITE_NULL
)

// String names the type as SQLite's typeof does.
func (t Type) String() string {
	switch t {
	case Int:
		return "integer"
	case Float:
		return "real"
	case Text:
		return "text"
	case Blob:
		return "blob"
	}
	return "null"
}

// Type returns the type of column i, counted from 0, in the current row. Call it before
// reading the value: reading a value as another type changes the type.
func (s *Stmt) Type(i int) Type {
	return Type(sqlite3.Xsqlite3_column_type(s.c.tls, s.handle, column(i)))
}

// Int returns column i, which is an Int.
func (s *Stmt) Int(i int) int64 {
	return sqlite3.Xsqlite3_column_int64(s.c.tls, s.handle, column(i))
}

// Float returns column i, which is a Float.
func (s *Stmt) Float(i int) float64 {
	return sqlite3.Xsqlite3_column_double(s.c.tls, s.handle, column(i))
}

// Text returns column i, which is a Text. Rows often repeat texts: a short text that equals
// the one of the previous row is returned as the same string.
func (s *Stmt) Text(i int) string {
	text := s.content(sqlite3.Xsqlite3_column_text(s.c.tls, s.handle, column(i)), i)
	if len(text) > shortText {
		return string(text)
	}
	if s.last[i] != string(text) {
		s.last[i] = string(text)
	}
	return s.last[i]
}

// shortText is the maximum length of a text that is compared with the previous one.
const shortText = 32

// Bytes returns a copy of column i, which is a Blob; it is never nil.
func (s *Stmt) Bytes(i int) []byte {
	return append([]byte{}, s.content(sqlite3.Xsqlite3_column_blob(s.c.tls, s.handle, column(i)), i)...)
}

// content returns the bytes at p, where SQLite has stored column i.
func (s *Stmt) content(p uintptr, i int) []byte {
	if p == 0 {
		return nil // an empty blob
	}
	return memoryAt(p, int(sqlite3.Xsqlite3_column_bytes(s.c.tls, s.handle, column(i))))
}

func column(i int) int32 { return int32(i) } //nolint:gosec // SQLite has fewer
