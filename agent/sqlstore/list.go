package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

// List implements [agent.Lister]. It reads an index, and no messages.
func (s *Store) List(ctx context.Context, after agent.Listed, limit int) ([]agent.Listed, error) {
	if err := mayList(ctx, limit); err != nil {
		return nil, err
	}
	query, args := s.sq.list, []any{limit}
	if after.ID != "" {
		query, args = s.sq.listAfter, []any{after.LastActivity.UnixMicro(), after.ID, limit}
	}
	out, err := s.listed(ctx, query, args...)
	if err != nil {
		return nil, s.ended(ctx, failed("the conversations cannot be listed", err))
	}
	return out, nil
}

func mayList(ctx context.Context, limit int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := agent.PageOf(nil, agent.Listed{}, limit)
	return err
}

func (s *Store) listed(ctx context.Context, query string, args ...any) ([]agent.Listed, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() // Err says what was wrong
	var out []agent.Listed
	for rows.Next() {
		var l agent.Listed
		var created, active int64
		var turn string
		var waiting int
		if err := rows.Scan(&l.ID, &l.DisplayName, &l.Parent, &created, &active, &l.Messages, &turn, &waiting); err != nil {
			return nil, err
		}
		l.CreatedAt, l.LastActivity = timeOf(created), timeOf(active)
		l.Open, l.Waiting = turn != "", waiting == 1
		out = append(out, l)
	}
	return out, rows.Err()
}

// Delete implements [agent.Deleter].
func (s *Store) Delete(ctx context.Context, conversation string) error {
	return s.write(ctx, conversation, func(w *write) error {
		var before string
		err := w.conn.QueryRowContext(ctx, s.sq.remove, conversation).Scan(&before)
		if errors.Is(err, sql.ErrNoRows) {
			return agent.NewError("sqlstore.Delete", agent.ErrNotFound, fmt.Sprintf("The store has no conversation %s.", conversation))
		}
		if err != nil {
			return failed("the conversation cannot be deleted", err)
		}
		w.happened = func(revision int64, token string) (yes, known bool) {
			return revision == 0, revision == 0 || token == before
		}
		return s.empty(ctx, w.conn, conversation)
	})
}

// empty deletes the messages and steps of a conversation.
func (s *Store) empty(ctx context.Context, c *sql.Conn, conversation string) error {
	for _, statement := range []string{s.sq.removeMessages, s.sq.removeSteps} {
		if _, err := c.ExecContext(ctx, statement, conversation); err != nil {
			return failed("the conversation cannot be deleted", err)
		}
	}
	return nil
}

// Expire implements [agent.Expirer], in one transaction. Several of them, also of other
// processes, happen one after another.
func (s *Store) Expire(ctx context.Context, before time.Time, limit int) (int, error) {
	if err := mayList(ctx, limit); err != nil {
		return 0, err
	}
	var expired []string
	err := s.transaction(ctx, func(c *sql.Conn) error {
		// Statements that delete in different orders would wait for each other, and one
		// that waited for another would find its conversations gone and miss the next.
		_, err := c.ExecContext(ctx, s.sq.lockExpiry)
		if err != nil {
			return failed("conversations cannot be deleted", err)
		}
		if expired, err = s.expired(ctx, c, before, limit); err != nil {
			return failed("conversations cannot be deleted", err)
		}
		for _, conversation := range expired {
			if err := s.empty(ctx, c, conversation); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(expired), nil
}

func (s *Store) expired(ctx context.Context, c *sql.Conn, before time.Time, limit int) ([]string, error) {
	rows, err := c.QueryContext(ctx, s.sq.expire, before.UnixMicro(), limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close() // Err says what was wrong
	var out []string
	for rows.Next() {
		var conversation string
		if err := rows.Scan(&conversation); err != nil {
			return nil, err
		}
		out = append(out, conversation)
	}
	return out, rows.Err()
}
