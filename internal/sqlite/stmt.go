package sqlite

import (
	"fmt"
	"math"
	"strconv"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Stmt is a prepared statement. Bind, then Step until it says that there is no
// further row, then Reset; and so on, until Close.
type Stmt struct {
	c      *Conn
	handle uintptr
	// numbers are those of the arguments that its parameters take, from 0.
	numbers []int
	// last is the short text that was read last in each column.
	last []string
	// texts is the memory in which bound texts stand, until they are bound anew.
	texts uintptr
	size  int
}

// keptTexts is how much memory a statement keeps for its next texts.
const keptTexts = 64 << 10

// learn finds out what the statement takes and answers. SQLite numbers parameters
// in the order in which they stand there; $3 takes the third argument wherever it is.
func (s *Stmt) learn() error {
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

// Bind gives the statement, which is at its beginning, its arguments: nil, string,
// int64, float64, bool or []byte each. They are copied.
func (s *Stmt) Bind(args []any) error {
	size := 1 // so that an empty text is none that is missing
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
	if err := s.room(size); err != nil {
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
			rc = sqlite3.Xsqlite3_bind_int64(s.c.tls, s.handle, at, truth(v))
		case string:
			rc = sqlite3.Xsqlite3_bind_text(s.c.tls, s.handle, at, free, put(free, v), sqlite3.SQLITE_STATIC)
			free += uintptr(len(v))
		case []byte:
			rc = sqlite3.Xsqlite3_bind_blob(s.c.tls, s.handle, at, free, put(free, v), sqlite3.SQLITE_STATIC)
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

// room makes room for texts of that size.
func (s *Stmt) room(size int) error {
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

// put writes a text to a place where there is room for it, and returns its length.
func put[T string | []byte](at uintptr, text T) int32 {
	if len(text) > 0 {
		copy(memory(at, len(text)), text)
	}
	return int32(len(text)) //nolint:gosec // Bind has looked at their sum
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Step runs the statement to its next row, or to its end if there is none. Only
// Reset may follow an error.
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

// Reset brings the statement back to its beginning, wherever it is. Its arguments
// are gone.
func (s *Stmt) Reset() {
	sqlite3.Xsqlite3_reset(s.c.tls, s.handle) // repeats what Step has said
	s.c.log.settle()
	if s.size > keptTexts {
		sqlite3.Xsqlite3_clear_bindings(s.c.tls, s.handle)
		libc.Xfree(s.c.tls, s.texts)
		s.texts, s.size = 0, 0
	}
}

// Close ends the statement.
func (s *Stmt) Close() {
	sqlite3.Xsqlite3_finalize(s.c.tls, s.handle) // repeats what Step has said
	libc.Xfree(s.c.tls, s.texts)
	s.handle, s.texts, s.size = 0, 0, 0
}

// Width is how many columns its rows have.
func (s *Stmt) Width() int { return len(s.last) }

// Type is what the row under the statement has in a column.
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

// Type tells the type of column i, counted from 0, of the row that Step has reached.
// It must be asked before the value: reading one as another type changes it.
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

// Text returns column i, which is a Text. Rows repeat themselves: a short text that
// is that of the row before is the same string.
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

// shortText is how long a text may be that is compared with the one before.
const shortText = 32

// Bytes returns a copy of column i, which is a Blob; it is never nil.
func (s *Stmt) Bytes(i int) []byte {
	return append([]byte{}, s.content(sqlite3.Xsqlite3_column_blob(s.c.tls, s.handle, column(i)), i)...)
}

// content is what stands at p, where SQLite has put column i.
func (s *Stmt) content(p uintptr, i int) []byte {
	if p == 0 {
		return nil // an empty blob
	}
	return memory(p, int(sqlite3.Xsqlite3_column_bytes(s.c.tls, s.handle, column(i))))
}

func column(i int) int32 { return int32(i) } //nolint:gosec // SQLite has fewer
