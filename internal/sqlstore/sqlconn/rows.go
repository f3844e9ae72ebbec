package sqlconn

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/shoal-dev/shoal"
)

// Rows is the result of a query. Its methods read a column of the current row by its index,
// from 0. NULL reads as the zero value. An error of the database fails the transaction.
type Rows struct {
	c     *Conn
	query string
	raw   result // nil when it is closed
}

// Query runs a query. A connection has one result at a time: it must be read to its end or
// closed before the next statement.
func (c *Conn) Query(query string, args ...any) (*Rows, error) {
	if c.failed != nil {
		return nil, c.failed
	}
	c.startStatement()
	stmt, err := c.prepare(query)
	if err != nil {
		return nil, c.Fail(query, err)
	}
	raw, err := stmt.query(c.ctx, c.bind(args))
	if err != nil {
		return nil, c.Fail(query, err)
	}
	if stmt.changesCached {
		c.cache.Reset()
		c.changed = true
	}
	c.rows = Rows{c, query, raw}
	return &c.rows, nil
}

// Next advances to the next row and reports whether there is one. It returns false after a
// failure.
func (r *Rows) Next() bool {
	if r.c.failed != nil {
		return false
	}
	more, err := r.raw.next()
	if err != nil {
		_ = r.c.Fail(r.query, err)
	}
	return more
}

// Close ends the result and returns the failure of the transaction, if it has failed. It may
// be called again.
func (r *Rows) Close() error {
	if r.raw != nil {
		err := r.raw.Close()
		r.raw = nil
		if err != nil {
			_ = r.c.Fail(r.query, err)
		}
	}
	if r.c.failed != nil {
		return r.c.failed
	}
	return nil
}

// List returns what read makes of each row. The slice is never nil.
func List[T any](c *Conn, read func(*Rows) T, query string, args ...any) ([]T, error) {
	return ListFirst(c, math.MaxInt, read, query, args...)
}

// ListFirst is [List] for at most limit rows of a query that ends with [Limit].
func ListFirst[T any](c *Conn, limit int, read func(*Rows) T, query string, args ...any) ([]T, error) {
	r, err := c.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // the second Close returns the same error; this one is for a read that panics
	found := make([]T, 0, capacityFor(limit))
	for len(found) < limit && r.Next() {
		found = append(found, read(r))
	}
	return found, r.Close()
}

// capacityFor returns the number of rows to allocate for before they are read.
func capacityFor(limit int) int {
	const page = 64
	if limit > page { // most results are shorter than their limit
		return 0
	}
	return limit
}

// One returns what read makes of the first row, and whether there is one.
func One[T any](c *Conn, read func(*Rows) T, query string, args ...any) (v T, found bool, err error) {
	r, err := c.Query(query, args...)
	if err != nil {
		return v, false, err
	}
	defer r.Close() //nolint:errcheck // as in ListFirst
	if found = r.Next(); found {
		v = read(r)
	}
	return v, found, r.Close()
}

// Number returns the number in the first column of the first row, 0 for NULL or no row.
func Number(c *Conn, query string, args ...any) (int64, error) {
	n, _, err := One(c, func(r *Rows) int64 { return r.Int(0) }, query, args...)
	return n, err
}

// Exists reports whether a query returns a row.
func Exists(c *Conn, query string, args ...any) (bool, error) {
	_, found, err := One(c, func(*Rows) struct{} { return struct{}{} }, query, args...)
	return found, err
}

// Null reports whether a column is NULL.
func (r *Rows) Null(i int) bool { return r.raw.null(i) }

// Text returns a column with text.
func (r *Rows) Text(i int) string {
	v, ok := r.raw.text(i)
	r.check(i, ok)
	return v
}

// Int returns a column with an integer.
func (r *Rows) Int(i int) int64 {
	v, ok := r.raw.int(i)
	r.check(i, ok)
	return v
}

// Bool returns a column with a boolean.
func (r *Rows) Bool(i int) bool {
	v, ok := r.raw.bool(i)
	r.check(i, ok)
	return v
}

// Bytes returns a column with bytes, which are valid until the next call of Next or Close.
func (r *Rows) Bytes(i int) []byte {
	v, ok := r.raw.bytes(i)
	r.check(i, ok)
	return v
}

// Float returns a column with a number.
func (r *Rows) Float(i int) float64 {
	v, ok := r.raw.float(i)
	r.check(i, ok)
	return v
}

// check fails the transaction if a value has another type than the one that was read, unless
// it is NULL: no statement of the store can have written it.
func (r *Rows) check(i int, ok bool) {
	if !ok && !r.raw.null(i) {
		r.failType(i)
	}
}

func (r *Rows) failType(i int) {
	r.FailDamaged("a value", fmt.Errorf("column %d holds a %s", i, r.raw.kind(i)))
}

// Time returns a column with a time.
func (r *Rows) Time(i int) shoal.Time { return MicroTime(r.Int(i)) }

// MicroTime returns the time of a column with n microseconds.
func MicroTime(n int64) shoal.Time { return shoal.Time{Time: time.UnixMicro(n).UTC()} }

// IntOrNil returns a column with a number, nil for NULL.
func (r *Rows) IntOrNil(i int) *int64 {
	if r.Null(i) {
		return nil
	}
	n := r.Int(i)
	return &n
}

// TimeOrNil returns a column with a time, nil for NULL.
func (r *Rows) TimeOrNil(i int) *shoal.Time {
	if r.Null(i) {
		return nil
	}
	t := r.Time(i)
	return &t
}

// JSON returns a column with JSON, byte for byte.
func (r *Rows) JSON(i int) json.RawMessage { return json.RawMessage(r.Text(i)) }

// TextOrNil returns a column with text, nil for NULL.
func TextOrNil[T ~string](r *Rows, i int) *T {
	if r.Null(i) {
		return nil
	}
	t := T(r.Text(i))
	return &t
}

// Fail makes the transaction fail because of what was read.
func (r *Rows) Fail(err error) { _ = r.c.Fail(r.query, err) }

// FailDamaged makes the transaction fail because a row is not what was stored. what names for
// people what was read. It does nothing if the transaction has failed.
func (r *Rows) FailDamaged(what string, err error) {
	r.c.failDamaged(what, r.query, err)
}
