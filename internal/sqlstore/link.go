package sqlstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// link is a connection as a driver has it: what [conn] stands on. In its statements
// $1 is the first argument, $2 the second and so on; each is what plain makes.
type link interface {
	// prepare makes a statement of a text that holds one.
	prepare(ctx context.Context, query string) (prepared, error)
	// run runs the statements of a text, which take no arguments.
	run(ctx context.Context, script string) error
	Close() error
}

// prepared is a statement of a link. Each query is read to its end, or closed, before
// anything else happens on the link.
type prepared interface {
	// exec returns how many rows the statement has changed.
	exec(ctx context.Context, args []any) (changed int64, err error)
	query(ctx context.Context, args []any) (result, error)
	Close() error
}

// result is what a query answers, one row after the other. Columns count from 0. ok
// says that the value has the type that is asked for.
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

// driverLink is a link over a driver for database/sql: over one connection of it,
// not over a pool, as every connection here has one owner.
type driverLink struct{ driver.Conn }

func connectDriver(ctx context.Context, connector driver.Connector) (link, error) {
	c, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return driverLink{c}, nil
}

func (l driverLink) prepare(ctx context.Context, query string) (prepared, error) {
	stmt, err := l.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &driverStmt{Stmt: stmt}, nil
}

func (l driverLink) run(ctx context.Context, script string) error {
	_, err := l.Conn.(driver.ExecerContext).ExecContext(ctx, script, nil)
	return err
}

type driverStmt struct {
	driver.Stmt
	args   []driver.NamedValue
	values []driver.Value
}

// number numbers arguments.
func (s *driverStmt) number(args []any) []driver.NamedValue {
	s.args = s.args[:0]
	for i, arg := range args {
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: arg})
	}
	return s.args
}

func (s *driverStmt) exec(ctx context.Context, args []any) (int64, error) {
	changed, err := s.Stmt.(driver.StmtExecContext).ExecContext(ctx, s.number(args))
	if err != nil {
		return 0, err
	}
	return changed.RowsAffected()
}

func (s *driverStmt) query(ctx context.Context, args []any) (result, error) {
	rows, err := s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, s.number(args))
	if err != nil {
		return nil, err
	}
	if s.values == nil {
		s.values = make([]driver.Value, len(rows.Columns()))
	}
	return &driverRows{rows, s.values}, nil
}

// driverRows is a result whose row is read at once.
type driverRows struct {
	driver.Rows
	values []driver.Value
}

func (r *driverRows) next() (bool, error) {
	err := r.Next(r.values)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return err == nil, err
}

func (r *driverRows) null(i int) bool             { return r.values[i] == nil }
func (r *driverRows) text(i int) (string, bool)   { return valueOf[string](r, i) }
func (r *driverRows) int(i int) (int64, bool)     { return valueOf[int64](r, i) }
func (r *driverRows) float(i int) (float64, bool) { return valueOf[float64](r, i) }
func (r *driverRows) bytes(i int) ([]byte, bool)  { return valueOf[[]byte](r, i) }
func (r *driverRows) bool(i int) (v, ok bool)     { return valueOf[bool](r, i) }

func (r *driverRows) kind(i int) string { return fmt.Sprintf("%T", r.values[i]) }

func valueOf[T any](r *driverRows, i int) (T, bool) {
	v, ok := r.values[i].(T)
	return v, ok
}
