package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal/agent"
)

// migrate creates the tables or takes them to the present version.
func (s *Store) migrate(ctx context.Context) error {
	version, err := s.version(ctx)
	if err != nil {
		return failed("the version of the tables cannot be read", err)
	}
	newest := len(migrations)
	switch {
	case version == newest:
		return nil
	case version > newest:
		return agent.NewError("sqlstore.Open", agent.ErrConflict, fmt.Sprintf(
			"The tables have version %d, and this program knows versions up to %d; use a newer version of the program.", version, newest))
	}
	return s.transaction(ctx, func(c *sql.Conn) error {
		for _, statement := range []string{s.sq.lockSchema, "CREATE TABLE IF NOT EXISTS shoal_schema (version BIGINT NOT NULL)"} {
			if _, err := c.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		var rows int
		err := c.QueryRowContext(ctx, "SELECT count(*), coalesce(max(version), 0) FROM shoal_schema").Scan(&rows, &version)
		if err == nil && rows == 0 {
			_, err = c.ExecContext(ctx, "INSERT INTO shoal_schema (version) VALUES (0)")
		}
		if err != nil || version >= newest { // another process was faster
			return err
		}
		for _, migration := range migrations[version:] {
			for _, statement := range migration {
				if _, err := c.ExecContext(ctx, strings.ReplaceAll(statement, "TEXT_ID", s.sq.idType)); err != nil {
					return err
				}
			}
		}
		_, err = c.ExecContext(ctx, s.sq.setVersion, newest)
		return err
	})
}

// version returns the version of the tables, 0 without tables.
func (s *Store) version(ctx context.Context) (int, error) {
	var version int
	err := s.db.QueryRowContext(ctx, s.sq.hasSchema).Scan(&version)
	if err == nil && version > 0 {
		err = s.db.QueryRowContext(ctx, s.sq.version).Scan(&version)
	}
	return version, err
}
