package postgrestest

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Server is a PostgreSQL server for one test, which may stop it. It must not be
// used concurrently.
type Server struct {
	// URL is that of an empty database on it, and Socket the file it listens on.
	URL, Socket string

	process process
}

// End is a way to stop a PostgreSQL server: the name of the signal.
type End string

// Ways to stop a server: fast disconnects the clients and writes its memory to the disk,
// immediate does neither and recovers at the next start; killed ends the first of its
// processes, and the others end when they notice.
const (
	Fast      End = "INT"
	Immediate End = "QUIT"
	Killed    End = "KILL"
)

// NewServer starts a server that is removed, with its data, when the test or its
// process ends. If PostgreSQL is not installed, the test fails with the command that
// installs it.
func NewServer(t testing.TB) *Server {
	t.Helper()
	p := newServer(t, "")
	p.Exec(t, "postgres", "CREATE DATABASE shoal")
	return p
}

// NewStandby starts a standby of the server that is reached at a TCP address, such as that of
// a proxy. It is removed like a server of NewServer.
func NewStandby(t testing.TB, primary string) *Server {
	t.Helper()
	return newServer(t, "postgres://postgres@"+primary+"/postgres?sslmode=disable")
}

func newServer(t testing.TB, primary string) *Server {
	t.Helper()
	process, err := start(primary)
	if err != nil {
		t.Fatalf("PostgreSQL did not start: %v", err)
	}
	t.Cleanup(func() {
		_ = process.lifeline.Close()             // makes the script stop the server
		_, _ = io.Copy(io.Discard, process.said) // until the script has exited
	})
	return &Server{
		URL: urlOf(process.directory, "shoal"), Socket: filepath.Join(process.directory, ".s.PGSQL.5432"), process: process,
	}
}

// Stop ends the server and returns when it has ended.
func (p *Server) Stop(t testing.TB, how End) {
	t.Helper()
	p.order(t, string(how))
}

// Start starts the server again and returns when it accepts connections.
func (p *Server) Start(t testing.TB) {
	t.Helper()
	p.order(t, "start")
}

func (p *Server) order(t testing.TB, word string) {
	t.Helper()
	_, err := fmt.Fprintln(p.process.lifeline, word)
	if err == nil {
		err = p.process.expect("done")
	}
	if err != nil {
		t.Fatalf("PostgreSQL: %s: %v", word, err)
	}
}

// Exec runs a statement in a database of the server, over a new connection, and returns
// the number of rows that it returned or changed.
func (p *Server) Exec(t testing.TB, database, statement string) int64 {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, urlOf(p.process.directory, database))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx) //nolint:errcheck // the statement has been executed or not by then
	tag, err := c.Exec(ctx, statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return tag.RowsAffected()
}

// StartAsStandby starts a stopped server as a standby that has no server to replicate.
func (p *Server) StartAsStandby(t testing.TB) {
	t.Helper()
	name := filepath.Join(p.process.directory, "data", "standby.signal")
	if err := os.WriteFile(name, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o666); err != nil { // PostgreSQL runs as another user
		t.Fatal(err)
	}
	p.Start(t)
}

// Promote makes a standby the server that accepts changes, on a new timeline. It returns
// when it does.
func (p *Server) Promote(t testing.TB) {
	t.Helper()
	p.Exec(t, "postgres", "SELECT pg_promote()")
}
