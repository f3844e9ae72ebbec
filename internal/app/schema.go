package app

import (
	"context"
	"errors"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// Schema returns the version of the databases that this program works with. A program
// refuses databases of a higher version.
func Schema() int { return sqlstore.Schema() }

// DatabaseSchema returns the version of a SQLite database, 0 if there is none yet.
func DatabaseSchema(ctx context.Context, database string) (int, error) {
	x, err := sqlstore.Examine(ctx, database)
	if errors.Is(err, shoal.NotFound) {
		return 0, nil
	}
	return int(x.Version), err
}

// IsSQLite reports whether a database is a file.
func IsSQLite(database string) bool { return strings.HasPrefix(database, "sqlite://") }

// RestoreDatabase puts the copy that was made before a SQLite database was migrated from
// a version in its place. No server may be using it. It returns the file that keeps what
// was there.
func RestoreDatabase(ctx context.Context, database string, version int) (replaced string, err error) {
	return sqlstore.Restore(ctx, database, version)
}
