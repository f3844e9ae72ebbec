package sqlconn

import (
	"context"

	"github.com/shoal-dev/shoal/internal/sqlite"
)

// sqliteConn is a connection to a file. Contexts do not interrupt its operations.
type sqliteConn struct{ *sqlite.Conn }

func (l sqliteConn) prepare(_ context.Context, query string) (prepared, error) {
	stmt, err := l.Prepare(query)
	if err != nil {
		return nil, err
	}
	return &sqliteStmt{stmt, l.Conn}, nil
}

func (l sqliteConn) run(_ context.Context, script string) error { return l.Run(script) }

type sqliteStmt struct {
	*sqlite.Stmt
	conn *sqlite.Conn
}

func (s *sqliteStmt) exec(_ context.Context, args []any) (int64, error) {
	defer s.Reset()
	if err := s.Bind(args); err != nil {
		return 0, err
	}
	for {
		more, err := s.Step()
		if err != nil {
			return 0, err
		}
		if !more {
			return s.conn.Changes(), nil
		}
	}
}

func (s *sqliteStmt) query(_ context.Context, args []any) (result, error) {
	if err := s.Bind(args); err != nil {
		return nil, err
	}
	return (*sqliteRows)(s), nil
}

func (s *sqliteStmt) Close() error {
	s.Stmt.Close()
	return nil
}

// sqliteRows is a statement that is being read, one value at a time.
type sqliteRows sqliteStmt

func (r *sqliteRows) next() (bool, error) { return r.Step() }

func (r *sqliteRows) Close() error {
	r.Reset()
	return nil
}

func (r *sqliteRows) null(i int) bool { return r.Type(i) == sqlite.Null }

func (r *sqliteRows) text(i int) (v string, ok bool) {
	if r.Type(i) != sqlite.Text {
		return "", false
	}
	return r.Text(i), true
}

func (r *sqliteRows) int(i int) (v int64, ok bool) {
	if r.Type(i) != sqlite.Int {
		return 0, false
	}
	return r.Int(i), true
}

func (r *sqliteRows) float(i int) (v float64, ok bool) {
	if r.Type(i) != sqlite.Float {
		return 0, false
	}
	return r.Float(i), true
}

func (r *sqliteRows) bytes(i int) (v []byte, ok bool) {
	if r.Type(i) != sqlite.Blob {
		return nil, false
	}
	return r.Bytes(i), true
}

// bool reads a boolean, which SQLite stores as 0 or 1.
func (r *sqliteRows) bool(i int) (v, ok bool) {
	n, ok := r.int(i)
	return n != 0, ok
}

func (r *sqliteRows) kind(i int) string { return r.Type(i).String() }
