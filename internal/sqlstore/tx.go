package sqlstore

import (
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// tx is the transaction under way on a connection. Its methods stand in the
// file of their noun.
type tx struct{ c *conn }

var _ hub.Tx = tx{}

// Now implements [hub.Tx]. A file has no clock of its own: the processes that can
// share it share that of their machine.
func (t tx) Now() (shoal.Time, error) {
	if t.c.dialect.now == "" {
		return shoal.Now(), nil
	}
	at, _, err := one(t.c, func(r *rows) shoal.Time { return r.time(0) }, t.c.dialect.now)
	return at, err
}

// missing says in a sentence that something is not there.
func missing(op, format string, args ...any) error {
	return shoal.E("sqlstore."+op, shoal.NotFound, fmt.Sprintf(format, args...))
}

// taken says in a sentence that something is there already.
func taken(op, format string, args ...any) error {
	return shoal.E("sqlstore."+op, shoal.AlreadyExists, fmt.Sprintf(format, args...))
}

// present returns v if ok, else what missing makes of the rest.
func present[T any](v T, ok bool, err error, op, format string, args ...any) (T, error) {
	if err == nil && !ok {
		err = missing(op, format, args...)
	}
	return v, err
}
