package shoaltest

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
)

// PostgresServer is a PostgreSQL server of one test's own, which the test may harm.
// It is not for several goroutines at once.
type PostgresServer struct {
	// URL is that of an empty database on it, and Socket the file it listens on.
	URL, Socket string

	process postgresProcess
}

// PostgresEnd is how a PostgreSQL server is told to end: the name of the signal.
type PostgresEnd string

// How a server ends: fast sends everybody away and writes down what is in memory,
// immediate does neither and recovers at the next start.
const (
	PostgresFast      PostgresEnd = "INT"
	PostgresImmediate PostgresEnd = "QUIT"
)

// NewPostgresServer starts a server that is gone, with all it has, when the test is
// over or its process ends. Where PostgreSQL is missing, the test fails with the
// command that installs it.
func NewPostgresServer(t testing.TB) *PostgresServer {
	t.Helper()
	process, err := startPostgres()
	if err != nil {
		t.Fatalf("PostgreSQL does not start: %v", err)
	}
	t.Cleanup(func() {
		_ = process.lifeline.Close()             // the script ends the server
		_, _ = io.Copy(io.Discard, process.said) // and then itself
	})
	p := &PostgresServer{
		URL: postgresURL(process.directory, "shoal"), Socket: filepath.Join(process.directory, ".s.PGSQL.5432"), process: process,
	}
	p.Exec(t, "postgres", "CREATE DATABASE shoal")
	return p
}

// Stop ends the server and returns when it has ended.
func (p *PostgresServer) Stop(t testing.TB, how PostgresEnd) {
	t.Helper()
	p.order(t, string(how))
}

// Start starts the server again and returns when it takes connections.
func (p *PostgresServer) Start(t testing.TB) {
	t.Helper()
	p.order(t, "start")
}

func (p *PostgresServer) order(t testing.TB, word string) {
	t.Helper()
	_, err := fmt.Fprintln(p.process.lifeline, word)
	if err == nil {
		err = p.process.expect("done")
	}
	if err != nil {
		t.Fatalf("PostgreSQL: %s: %v", word, err)
	}
}

// Exec runs a statement in a database of the server, over a connection of its own,
// and returns how many rows it found or changed.
func (p *PostgresServer) Exec(t testing.TB, database, statement string) int64 {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, postgresURL(p.process.directory, database))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx) //nolint:errcheck // the statement is done or not by then
	tag, err := c.Exec(ctx, statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return tag.RowsAffected()
}

// Promote lets a server that was stopped go on as a standby that takes over does: on a
// timeline of its own. It returns when the server takes changes.
func (p *PostgresServer) Promote(t testing.TB) {
	t.Helper()
	name := filepath.Join(p.process.directory, "data", "standby.signal")
	if err := os.WriteFile(name, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o666); err != nil { // PostgreSQL runs as somebody else
		t.Fatal(err)
	}
	p.Start(t)
	p.Exec(t, "shoal", "SELECT pg_promote()")
}
