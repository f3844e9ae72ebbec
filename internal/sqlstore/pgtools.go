package sqlstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/safetext"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// savePostgres has pg_dump write the database into a file. pg_dump reads one snapshot, while
// servers go on writing.
func savePostgres(ctx context.Context, url, file string) error {
	p, err := sqlconn.PostgresPrograms(url)
	if err != nil {
		return err
	}
	part := file + ".new"
	if err := errors.Join(os.WriteFile(part, nil, 0o600), os.Chmod(part, 0o600)); err != nil {
		return err
	}
	args := []string{"--format=custom", "--no-owner", "--no-privileges", "--file=" + part}
	if p.Schema != "" {
		args = append(args, "--schema="+p.Schema)
	}
	if err := runPostgres(ctx, p, "pg_dump", args...); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return replaceFile(part, file)
}

// loadPostgres has pg_restore read a file into the database, in one transaction. It holds the
// lock of a server meanwhile.
func loadPostgres(ctx context.Context, url, file string, holds bool) error {
	p, err := sqlconn.PostgresPrograms(url)
	if err != nil {
		return err
	}
	d, err := sqlconn.NewDialect(url)
	if err != nil {
		return err
	}
	c := sqlconn.NewWriter(d, nil, true)
	c.SetOpening(true)
	defer c.Close()
	if err := c.Open(ctx); err != nil {
		return explainRunning(err)
	}
	args := []string{"--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", "--dbname="}
	if p.Schema != "" {
		args = append(args, "--schema="+p.Schema)
	}
	if holds {
		args = append(args, "--clean", "--if-exists")
	}
	return runPostgres(ctx, p, "pg_restore", append(args, file)...)
}

// runPostgres runs one of PostgreSQL's programs.
func runPostgres(ctx context.Context, p sqlconn.Programs, program string, args ...string) error {
	op := "sqlstore." + program
	path, err := exec.LookPath(program)
	if err != nil {
		return &shoal.Error{
			Op: op, Kind: shoal.NotFound, Err: err,
			Msg: fmt.Sprintf("%s is not installed. It comes with PostgreSQL's client programs (Debian: postgresql-client), of the version of the server or a newer one.", program),
		}
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), p.Environ...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return &shoal.Error{Op: op, Kind: shoal.Internal, Err: err, Msg: fmt.Sprintf("%s failed: %s", program, safetext.Line(strings.TrimSpace(said.String())))}
	}
	return nil
}
