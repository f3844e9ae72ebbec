package sqlstore

import (
	"context"

	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

const (
	// firstStatistics is the number of messages from which on statistics matter.
	firstStatistics = 256
	// statisticsGrowth is the factor by which messages may outgrow the statistics.
	statisticsGrowth = 4
)

// statistics lets the database count its rows while it grows. Connections keep the plans of
// their statements: those that were made for empty tables read whole tables until there are
// statistics. PostgreSQL updates them once a minute, and only if autovacuum is on.
type statistics struct {
	due int64 // the number of messages from which on they may be outdated
}

// update updates the statistics if there are many more messages than they say.
func (p *statistics) update(ctx context.Context, s *Store, messages int64) error {
	if s.dialect.Analyze == "" || messages < max(p.due, firstStatistics) {
		return nil
	}
	p.due = statisticsGrowth * messages
	return s.View(ctx, func(t storage.Tx) error {
		c := t.(*tx).c
		known, err := sqlconn.Number(c, s.dialect.Analyzed)
		if err != nil || messages < statisticsGrowth*known {
			return err // another server or the database itself was first
		}
		if failed := c.Control(s.dialect.Analyze); failed != nil {
			return failed
		}
		return c.Commit() // a View is rolled back, and would only keep the number of rows
	})
}
