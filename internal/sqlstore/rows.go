package sqlstore

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/shoal-dev/shoal"
)

// rows is the result of a query. Its readers take a column by its place, from
// 0; NULL reads as the zero value.
type rows struct {
	c     *conn
	query string
	raw   result // nil when it is closed
}

// query runs a query. There is one result at a time; it is read to its end or
// closed before the next statement.
func (c *conn) query(query string, args ...any) (*rows, error) {
	if c.failed != nil {
		return nil, c.failed
	}
	stmt, err := c.prepare(query)
	if err != nil {
		return nil, c.fail(query, err)
	}
	raw, err := stmt.query(c.ctx, c.bind(args))
	if err != nil {
		return nil, c.fail(query, err)
	}
	if stmt.changesKnown {
		c.known.forget()
	}
	c.rows = rows{c, query, raw}
	return &c.rows, nil
}

// next moves to the next row, if there is one and nothing has failed.
func (r *rows) next() bool {
	if r.c.failed != nil {
		return false
	}
	more, err := r.raw.next()
	if err != nil {
		_ = r.c.fail(r.query, err)
	}
	return more
}

// close ends the result and tells what failed in it, if anything did.
// It may be repeated.
func (r *rows) close() error {
	if r.raw != nil {
		err := r.raw.Close()
		r.raw = nil
		if err != nil {
			_ = r.c.fail(r.query, err)
		}
	}
	if r.c.failed != nil {
		return r.c.failed
	}
	return nil
}

// list returns what read makes of each row; it is never nil.
func list[T any](c *conn, read func(*rows) T, query string, args ...any) ([]T, error) {
	return listFirst(c, math.MaxInt, read, query, args...)
}

// listFirst is list for the first rows, limit at most, of a query that ends with
// upTo(limit).
func listFirst[T any](c *conn, limit int, read func(*rows) T, query string, args ...any) ([]T, error) {
	r, err := c.query(query, args...)
	if err != nil {
		return nil, err
	}
	defer r.close() //nolint:errcheck // the second close says nothing new; this one is for a read that panics
	found := make([]T, 0, expected(limit))
	for len(found) < limit && r.next() {
		found = append(found, read(r))
	}
	return found, r.close()
}

// expected is for how many rows room is made before they are read, limit at most.
func expected(limit int) int {
	const page = 64
	if limit > page { // most answers are shorter than what they may be
		return 0
	}
	return limit
}

// upTo ends a query whose first rows, limit at most, are read. SQLite plans a
// query anew for every value of a LIMIT that is an argument, which takes longer
// than reading a page; so the text has one of few limits that is large enough.
func upTo(limit int) string {
	if limit > 1<<20 {
		return ""
	}
	return " LIMIT " + strconv.Itoa(padded(limit))
}

// one returns what read makes of the first row, and whether there is one.
func one[T any](c *conn, read func(*rows) T, query string, args ...any) (v T, ok bool, err error) {
	r, err := c.query(query, args...)
	if err != nil {
		return v, false, err
	}
	defer r.close() //nolint:errcheck // as in list
	if ok = r.next(); ok {
		v = read(r)
	}
	return v, ok, r.close()
}

// number returns the one number that a query answers, 0 for NULL or no row.
func number(c *conn, query string, args ...any) (int64, error) {
	n, _, err := one(c, func(r *rows) int64 { return r.int(0) }, query, args...)
	return n, err
}

// exists reports whether a query has a row.
func exists(c *conn, query string, args ...any) (bool, error) {
	_, ok, err := one(c, func(*rows) struct{} { return struct{}{} }, query, args...)
	return ok, err
}

func (r *rows) null(i int) bool { return r.raw.null(i) }

func (r *rows) text(i int) string {
	v, ok := r.raw.text(i)
	r.expect(i, ok)
	return v
}

func (r *rows) int(i int) int64 {
	v, ok := r.raw.int(i)
	r.expect(i, ok)
	return v
}

func (r *rows) bool(i int) bool {
	v, ok := r.raw.bool(i)
	r.expect(i, ok)
	return v
}

func (r *rows) bytes(i int) []byte {
	v, ok := r.raw.bytes(i)
	r.expect(i, ok)
	return v
}

func (r *rows) float(i int) float64 {
	v, ok := r.raw.float(i)
	r.expect(i, ok)
	return v
}

// expect notes a value of another type than the one that was asked for, unless it is
// NULL: no statement of this package can have put it there.
func (r *rows) expect(i int, ok bool) {
	if !ok && !r.raw.null(i) {
		r.surprise(i)
	}
}

func (r *rows) time(i int) shoal.Time { return microTime(r.int(i)) }

// microTime is the time that a column holds.
func microTime(n int64) shoal.Time { return shoal.Time{Time: time.UnixMicro(n).UTC()} }

func (r *rows) timeOrNil(i int) *shoal.Time {
	if r.null(i) {
		return nil
	}
	t := r.time(i)
	return &t
}

func (r *rows) json(i int) json.RawMessage { return json.RawMessage(r.text(i)) }

// textOrNil reads a text that may be NULL.
func textOrNil[T ~string](r *rows, i int) *T {
	if r.null(i) {
		return nil
	}
	t := T(r.text(i))
	return &t
}

// surprise notes a value that no statement of this package can have put there.
func (r *rows) surprise(i int) {
	_ = r.c.fail(r.query, fmt.Errorf("column %d holds a %s", i, r.raw.kind(i)))
}
