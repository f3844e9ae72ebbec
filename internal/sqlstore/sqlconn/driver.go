package sqlconn

import "context"

// driverConn is a connection of a driver. In its statements $1 is the first argument, $2 the
// second and so on; arguments have the types that columnValue returns.
type driverConn interface {
	// prepare makes a statement of a text that contains one.
	prepare(ctx context.Context, query string) (prepared, error)
	// run runs the statements of a text, which have no arguments.
	run(ctx context.Context, script string) error
	Close() error
}

// prepared is a statement of a connection. Each query is read to its end, or closed, before
// anything else is done with the connection.
type prepared interface {
	// exec returns the number of rows that the statement changed.
	exec(ctx context.Context, args []any) (changed int64, err error)
	query(ctx context.Context, args []any) (result, error)
	Close() error
}

// result is the result of a query, one row after the other. Columns count from 0. ok is
// false if the value has another type.
type result interface {
	next() (bool, error)
	Close() error

	null(i int) bool
	text(i int) (v string, ok bool)
	int(i int) (v int64, ok bool)
	float(i int) (v float64, ok bool)
	bytes(i int) (v []byte, ok bool)
	bool(i int) (v, ok bool)
	// kind names the type of the value, for a message.
	kind(i int) string
}
