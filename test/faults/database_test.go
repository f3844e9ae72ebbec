package faults

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"

	_ "modernc.org/sqlite" // reads the database without the server

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// ask queries the database of a stopped server and returns the first column of the
// result.
func ask(ctx context.Context, s *program.Server, query string) (answer []string, err error) {
	name := url.URL{Scheme: "file", Path: filepath.Join(s.Data, "shoal.db")}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }() // only read
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err returns the error
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		answer = append(answer, text)
	}
	return answer, rows.Err()
}

// checkDatabase runs SQLite's integrity check on the database of a stopped server and
// returns its findings.
func checkDatabase(ctx context.Context, s *program.Server) (wrong []string) {
	found, err := ask(ctx, s, "PRAGMA integrity_check")
	if err != nil {
		return []string{"database: " + err.Error()}
	}
	for _, f := range found {
		if f != "ok" {
			wrong = append(wrong, "database: "+f)
		}
	}
	return wrong
}

// locked reports whether the database of a server is locked for writing.
func locked(ctx context.Context, s *program.Server) bool {
	name := url.URL{Scheme: "file", Path: filepath.Join(s.Data, "shoal.db"), RawQuery: "_pragma=busy_timeout(100)&_txlock=immediate"}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return true
	}
	defer func() { _ = db.Close() }() // only read
	tx, err := db.BeginTx(ctx, nil)
	if err == nil {
		err = tx.Rollback()
	}
	return err != nil
}
