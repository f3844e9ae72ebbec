package faults

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"

	_ "modernc.org/sqlite" // to look at the database from outside
)

// ask asks the database of a server that is down and returns the first column of
// the answer.
func (s *server) ask(ctx context.Context, query string) (answer []string, err error) {
	name := url.URL{Scheme: "file", Path: filepath.Join(s.data, "shoal.db")}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }() // nothing was written
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err says what was wrong
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		answer = append(answer, text)
	}
	return answer, rows.Err()
}

// checkDatabase asks SQLite whether the database of a server that is down is sound,
// and returns what is wrong with it.
func (s *server) checkDatabase(ctx context.Context) (wrong []string) {
	found, err := s.ask(ctx, "PRAGMA integrity_check")
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

// locked reports whether somebody has the database of a server locked for writing.
func (s *server) locked(ctx context.Context) bool {
	name := url.URL{Scheme: "file", Path: filepath.Join(s.data, "shoal.db"), RawQuery: "_pragma=busy_timeout(100)&_txlock=immediate"}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return true
	}
	defer func() { _ = db.Close() }() // nothing was written
	tx, err := db.BeginTx(ctx, nil)
	if err == nil {
		err = tx.Rollback()
	}
	return err != nil
}
