package sqlstore

import (
	"embed"
	"io/fs"

	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

var (
	//go:embed migrations/sqlite/*.sql
	sqliteMigrations embed.FS
	//go:embed migrations/postgres/*.sql
	postgresMigrations embed.FS
)

// migrationsOf returns the migrations of a database: files whose names sort in their order.
func migrationsOf(d *sqlconn.Dialect) fs.FS {
	files, dir := fs.FS(postgresMigrations), "migrations/postgres"
	if d.IsSQLite() {
		files, dir = sqliteMigrations, "migrations/sqlite"
	}
	sub, err := fs.Sub(files, dir)
	if err != nil {
		panic(err) // dir is not a valid path
	}
	return sub
}
