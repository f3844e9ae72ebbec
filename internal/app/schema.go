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

// Backup describes a copy of a database.
type Backup struct {
	File     string `json:"file"`
	Bytes    int64  `json:"bytes"`
	Database string `json:"database"` // the database with its version, such as SQLite 3.53.0
	Schema   int    `json:"schema"`
	// Replaced is the file that keeps what a restored database replaced.
	Replaced string `json:"replaced,omitempty"`
}

// BackUp copies a database into a file, also while servers use it. See [sqlstore.Save].
func BackUp(ctx context.Context, database, file string, replace bool) (Backup, error) {
	s, err := sqlstore.Save(ctx, database, file, replace)
	return Backup{File: file, Bytes: s.Bytes, Database: s.Engine, Schema: s.Version}, err
}

// RestoreBackup puts a copy that BackUp has made in the place of a database that no server
// uses. See [sqlstore.Load].
func RestoreBackup(ctx context.Context, database, file string, replace bool) (Backup, error) {
	s, replaced, err := sqlstore.Load(ctx, database, file, replace)
	return Backup{File: file, Bytes: s.Bytes, Database: s.Engine, Schema: s.Version, Replaced: replaced}, err
}
