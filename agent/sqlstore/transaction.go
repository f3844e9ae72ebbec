package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"
)

// write is the transaction of one write.
type write struct {
	ctx          context.Context
	conn         *sql.Conn
	sq           *statements
	conversation string
	token        string // of this write; the row of the conversation keeps the last one
	revision     int64  // that it gives the conversation
	// happened decides by the stored revision (0: no conversation) and token whether the
	// write has happened, if that can be known.
	happened func(revision int64, token string) (yes, known bool)
}

// write runs f in a transaction, and returns nil only if it is stored.
func (s *Store) write(ctx context.Context, conversation string, f func(*write) error) error {
	if err := s.usable(ctx, conversation); err != nil {
		return err
	}
	w := &write{ctx: ctx, sq: s.sq, conversation: conversation, token: rand.Text()}
	w.happened = func(revision int64, token string) (yes, known bool) {
		return token == w.token, token == w.token || revision < w.revision
	}
	err := s.transaction(ctx, func(c *sql.Conn) error {
		w.conn = c
		return f(w)
	})
	var unknown *commitError
	if errors.As(err, &unknown) {
		return s.settle(w, unknown)
	}
	return err
}

// commitError is the error of a commit: the transaction has happened or not.
type commitError struct{ cause error }

func (e *commitError) Error() string { return e.cause.Error() }

func (e *commitError) Unwrap() error { return e.cause }

// transaction runs f between BEGIN and COMMIT. These are statements, and not those of
// [sql.Tx], because SQLite has to take its lock at the beginning, and because a failed
// COMMIT may leave the transaction open.
func (s *Store) transaction(ctx context.Context, f func(*sql.Conn) error) error {
	conn, err := s.opened(ctx)
	if err != nil {
		return s.ended(ctx, err)
	}
	defer conn.Close() //nolint:errcheck // returns it to the pool
	if err := f(conn); err != nil {
		rollBack(ctx, conn)
		return s.ended(ctx, err)
	}
	if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
		rollBack(ctx, conn)
		return &commitError{s.ended(ctx, err)}
	}
	return nil
}

// opened returns a connection in a transaction. A connection that the pool has kept may be
// broken; there is another, or a new one.
func (s *Store) opened(ctx context.Context) (*sql.Conn, error) {
	for attempt := 1; ; attempt++ {
		conn, err := s.db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		if _, err = conn.ExecContext(ctx, s.sq.begin); err == nil {
			return conn, nil
		}
		rollBack(ctx, conn)
		_ = conn.Close()
		if !errors.Is(err, driver.ErrBadConn) || attempt == 3 {
			return nil, err
		}
	}
}

// rollBack ends a transaction without effect; a connection that refuses it is closed.
func rollBack(ctx context.Context, conn *sql.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if _, err := conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
}

// ended adds the error of the context, if a driver returned an error of its own for it.
func (s *Store) ended(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		return errors.Join(ctx.Err(), err)
	}
	return err
}

// patience is for how long the store asks for the outcome of a write.
const patience = 10 * time.Second

// settle finds out whether a write has happened whose COMMIT failed with err.
func (s *Store) settle(w *write, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), patience)
	defer cancel()
	for {
		revision, token, probeErr := s.probe(ctx, w.conversation)
		if probeErr == nil {
			yes, known := w.happened(revision, token)
			switch {
			case yes:
				return nil
			case known:
				return failed("the write did not happen", err)
			}
			return s.lost(w.conversation, err)
		}
		again := time.NewTimer(patience / 50)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return s.lost(w.conversation, errors.Join(err, probeErr))
		}
	}
}

// probe returns the revision and the token of a conversation, 0 and "" without one. It
// waits for a transaction that writes the conversation, also for the first time.
func (s *Store) probe(ctx context.Context, conversation string) (revision int64, token string, err error) {
	conn, err := s.opened(ctx)
	if err != nil {
		return 0, "", err
	}
	defer conn.Close() //nolint:errcheck // returns it to the pool
	defer rollBack(ctx, conn)
	err = conn.QueryRowContext(ctx, s.sq.probe, conversation).Scan(&revision, &token)
	return revision, token, err
}

// lost refuses the conversation from now on.
func (s *Store) lost(conversation string, err error) error {
	err = failed("it is not known whether a write of conversation "+conversation+" has happened; open the store again and load the conversation", err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unknown[conversation] = err
	return err
}
