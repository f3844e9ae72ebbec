package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal/internal/sqlite"
)

func open(t *testing.T, path string) *sqlite.Conn {
	t.Helper()
	c, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("a connection was left with something open: %v", err)
		}
	})
	return c
}

func newFile(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "file:a?b=c d.db") // a path, although it looks like a URI
}

func prepare(t *testing.T, c *sqlite.Conn, query string) *sqlite.Stmt {
	t.Helper()
	s, err := c.Prepare(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	t.Cleanup(s.Close)
	return s
}

func run(t *testing.T, c *sqlite.Conn, script string) {
	t.Helper()
	if err := c.Run(script); err != nil {
		t.Fatalf("%s: %v", script, err)
	}
}

// step binds and steps, and reports whether there is a row.
func step(t *testing.T, s *sqlite.Stmt, args ...any) bool {
	t.Helper()
	if err := s.Bind(args); err != nil {
		t.Fatal(err)
	}
	row, err := s.Step()
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// value returns the value of a column by its type.
func value(s *sqlite.Stmt, i int) any {
	switch s.Type(i) {
	case sqlite.Int:
		return s.Int(i)
	case sqlite.Float:
		return s.Float(i)
	case sqlite.Text:
		return s.Text(i)
	case sqlite.Blob:
		return s.Bytes(i)
	}
	return nil
}

// Every value is returned unchanged, from the statement itself and from a file.
func TestValues(t *testing.T) {
	c := open(t, newFile(t))
	run(t, c, "CREATE TABLE v (v)")
	echo, insert, read := prepare(t, c, "SELECT $1"), prepare(t, c, "INSERT INTO v VALUES ($1)"), prepare(t, c, "SELECT v FROM v")
	for _, want := range []any{
		nil, int64(0), int64(-1), int64(math.MaxInt64), int64(math.MinInt64), 0.5, math.Inf(1), "", "text", "a\x00b", "\x00", "schön 🐟",
		strings.Repeat("long ", 50_000),
		[]byte{},
		[]byte("bytes"),
		[]byte{0, 1, 0xff},
		bytes.Repeat([]byte{7}, 200_000), "short again",
	} {
		name := fmt.Sprintf("%.20q", fmt.Sprint(want))
		run(t, c, "DELETE FROM v")
		if step(t, insert, want); c.Changes() != 1 {
			t.Errorf("%s: %d rows changed", name, c.Changes())
		}
		insert.Reset()
		for from, s := range map[string]*sqlite.Stmt{"the statement": echo, "the file": read} {
			if !step(t, s, want) {
				t.Fatalf("%s: no row from %s", name, from)
			}
			if got := value(s, 0); fmt.Sprintf("%T %v", got, got) != fmt.Sprintf("%T %v", want, want) {
				t.Errorf("%s: got %[3]q from %[2]s", name, from, fmt.Sprint(got))
			}
			if row, err := s.Step(); row || err != nil {
				t.Errorf("%s: a second row: %v, %v", name, row, err)
			}
			s.Reset()
		}
	}
	if step(t, echo, true); value(echo, 0) != int64(1) {
		t.Errorf("true is %v", value(echo, 0))
	}
	echo.Reset()
}

func TestArgumentNumbers(t *testing.T) {
	c := open(t, newFile(t))
	for query, want := range map[string]string{
		"SELECT $1 || $2 || $3":               "abc",
		"SELECT $3 || $1 || $3 || $2":         "cacb",
		"SELECT $2":                           "b",
		"SELECT ? || ? || ?":                  "abc",
		"SELECT ?2 || ?1":                     "ba",
		"SELECT 'none; -- $4' || $1 -- as is": "none; -- $4a",
	} {
		s := prepare(t, c, query)
		for range 2 { // a statement can be used again
			if step(t, s, "a", "b", "c"); s.Width() != 1 || s.Text(0) != want {
				t.Errorf("%s: got %q, want %q", query, s.Text(0), want)
			}
			s.Reset()
		}
	}
}

func TestErrors(t *testing.T) {
	path := newFile(t)
	c := open(t, path)
	run(t, c, "; -- nothing\n; CREATE TABLE k (id INTEGER PRIMARY KEY, word TEXT UNIQUE) STRICT; INSERT INTO k VALUES (1, 'one')")
	for query, words := range map[string]string{
		"":                          "no statement",
		"-- nothing":                "no statement",
		"SELECT 1; SELECT 2":        "after the statement",
		"SELECT FROM":               "syntax error",
		"SELECT * FROM nowhere":     "no such table: nowhere",
		"SELECT :name":              "the parameter :name has no number",
		"SELECT $name":              "the parameter $name has no number",
		"SELECT $0":                 "the parameter $0 has no number",
		"SELECT 1; SELECT * FROM a": "after the statement",
	} {
		if s, err := c.Prepare(query); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v, %v", query, s, err)
		}
	}
	if err := c.Run("SELECT 1; INSERT INTO k VALUES (2, 'one'); DELETE FROM k"); err == nil || !strings.Contains(err.Error(), "UNIQUE constraint failed: k.word") {
		t.Errorf("the second statement of three: %v", err)
	}

	insert := prepare(t, c, "INSERT INTO k VALUES ($1, $2)")
	for _, args := range [][]any{{int64(2)}, {}, {2, "two"}, {int64(2), errors.New("two")}} {
		var e *sqlite.Error
		if err := insert.Bind(args); !errors.As(err, &e) || e.Code != sqlite.Range && e.Code != sqlite.Misuse {
			t.Errorf("%v: %v", args, err)
		}
	}
	if err := insert.Bind([]any{int64(2), "one"}); err != nil {
		t.Fatal(err)
	}
	var e *sqlite.Error
	if _, err := insert.Step(); !errors.As(err, &e) || e.Code.Primary() == e.Code || e.Code.Primary() != 19 {
		t.Errorf("a duplicate word: got %v", err)
	}
	insert.Reset()
	step(t, insert, int64(2), "two") // the statement can be used again
	insert.Reset()

	if _, err := sqlite.Open(filepath.Join(path, "below a file.db")); !errors.As(err, &e) || !strings.Contains(err.Error(), "unable to open") {
		t.Errorf("an invalid path: got %v", err)
	}
}

func TestCloseWithOpenStatement(t *testing.T) {
	c, err := sqlite.Open(newFile(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Prepare("SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	var e *sqlite.Error
	if err := c.Close(); !errors.As(err, &e) || e.Code != sqlite.Busy {
		t.Errorf("closed under a statement: %v", err)
	}
	s.Close()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// Connections are independent: one goroutine each, on the same file.
func TestConcurrentConnections(t *testing.T) {
	path := newFile(t)
	first := open(t, path)
	run(t, first, "PRAGMA journal_mode=WAL; CREATE TABLE n (n INTEGER)")
	var all sync.WaitGroup
	for i := range 4 {
		c := open(t, path)
		run(t, c, "PRAGMA busy_timeout=20000")
		insert, count := prepare(t, c, "INSERT INTO n VALUES ($1)"), prepare(t, c, "SELECT COUNT(*) FROM n WHERE n = $1")
		all.Go(func() {
			for range 100 {
				for _, s := range []*sqlite.Stmt{insert, count} {
					if err := s.Bind([]any{int64(i)}); err != nil {
						t.Error(err)
					}
					if _, err := s.Step(); err != nil {
						t.Error(err)
					}
					s.Reset()
				}
			}
		})
	}
	all.Wait()
	sum := prepare(t, first, "SELECT COUNT(*), SUM(n) FROM n")
	if !step(t, sum) || sum.Int(0) != 400 || sum.Int(1) != 600 {
		t.Errorf("%d rows, %d together", sum.Int(0), sum.Int(1))
	}
	sum.Reset()
}

func TestConcurrentWriterIsBusy(t *testing.T) {
	path := newFile(t)
	one, other := open(t, path), open(t, path)
	run(t, one, "CREATE TABLE n (n); BEGIN IMMEDIATE; INSERT INTO n VALUES (1)")
	var e *sqlite.Error
	if err := other.Run("BEGIN IMMEDIATE"); !errors.As(err, &e) || e.Code.Primary() != sqlite.Busy {
		t.Errorf("two writers: %v", err)
	}
	run(t, one, "COMMIT")
	run(t, other, "BEGIN IMMEDIATE; ROLLBACK")
}
