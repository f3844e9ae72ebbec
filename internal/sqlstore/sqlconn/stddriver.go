package sqlconn

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// stdConn is one connection of a driver for database/sql.
type stdConn struct{ driver.Conn }

func connectStd(ctx context.Context, connector driver.Connector) (driverConn, error) {
	c, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return stdConn{c}, nil
}

func (l stdConn) prepare(ctx context.Context, query string) (prepared, error) {
	stmt, err := l.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &stdStmt{Stmt: stmt}, nil
}

func (l stdConn) run(ctx context.Context, script string) error {
	_, err := l.Conn.(driver.ExecerContext).ExecContext(ctx, script, nil)
	return err
}

type stdStmt struct {
	driver.Stmt
	args   []driver.NamedValue
	values []driver.Value
}

// numbered returns the arguments with their numbers.
func (s *stdStmt) numbered(args []any) []driver.NamedValue {
	s.args = s.args[:0]
	for i, arg := range args {
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: arg})
	}
	return s.args
}

func (s *stdStmt) exec(ctx context.Context, args []any) (int64, error) {
	changed, err := s.Stmt.(driver.StmtExecContext).ExecContext(ctx, s.numbered(args))
	if err != nil {
		return 0, err
	}
	return changed.RowsAffected()
}

func (s *stdStmt) query(ctx context.Context, args []any) (result, error) {
	rows, err := s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, s.numbered(args))
	if err != nil {
		return nil, err
	}
	if s.values == nil {
		s.values = make([]driver.Value, len(rows.Columns()))
	}
	return &stdRows{rows, s.values}, nil
}

// stdRows is a result that reads all columns of a row at once.
type stdRows struct {
	driver.Rows
	values []driver.Value
}

func (r *stdRows) next() (bool, error) {
	err := r.Next(r.values)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return err == nil, err
}

func (r *stdRows) null(i int) bool             { return r.values[i] == nil }
func (r *stdRows) text(i int) (string, bool)   { return valueOf[string](r, i) }
func (r *stdRows) int(i int) (int64, bool)     { return valueOf[int64](r, i) }
func (r *stdRows) float(i int) (float64, bool) { return valueOf[float64](r, i) }
func (r *stdRows) bytes(i int) ([]byte, bool)  { return valueOf[[]byte](r, i) }
func (r *stdRows) bool(i int) (v, ok bool)     { return valueOf[bool](r, i) }

func (r *stdRows) kind(i int) string { return fmt.Sprintf("%T", r.values[i]) }

func valueOf[T any](r *stdRows, i int) (T, bool) {
	v, ok := r.values[i].(T)
	return v, ok
}
