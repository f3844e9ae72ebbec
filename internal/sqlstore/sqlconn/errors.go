package sqlconn

import (
	"fmt"

	"github.com/shoal-dev/shoal"
)

// NotFound returns an error of that kind with a message for people. op is the operation of
// the store.
func NotFound(op, format string, args ...any) error {
	return shoal.E("sqlstore."+op, shoal.NotFound, fmt.Sprintf(format, args...))
}

// AlreadyExists returns an error of that kind with a message for people. op is the operation
// of the store.
func AlreadyExists(op, format string, args ...any) error {
	return shoal.E("sqlstore."+op, shoal.AlreadyExists, fmt.Sprintf(format, args...))
}

// OrNotFound returns v and err, or the error of [NotFound] if found is false.
func OrNotFound[T any](v T, found bool, err error, op, format string, args ...any) (T, error) {
	if err == nil && !found {
		err = NotFound(op, format, args...)
	}
	return v, err
}
