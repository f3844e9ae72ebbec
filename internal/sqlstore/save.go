package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Saved describes a backup.
type Saved struct {
	// Engine is the database with its version.
	Engine string
	// Version is the number of migrations of the database.
	Version int
	// Bytes is the size of the file.
	Bytes int64
}

// Save copies the database of a URL into a new file, as it was at one moment. Servers can go
// on writing meanwhile: what was acknowledged before Save was called is in the copy. A SQLite
// database becomes a SQLite database, which is checked before Save returns; a PostgreSQL
// database becomes an archive of pg_dump, which has to be installed. With replace an existing
// file is replaced, but only by a complete copy.
func Save(ctx context.Context, url, file string, replace bool) (Saved, error) {
	const op = "sqlstore.Save"
	file = absolute(file)
	x, err := examineBriefly(ctx, url)
	if err != nil {
		return Saved{}, err
	}
	if x.Version == 0 {
		return Saved{}, shoal.E(op, shoal.NotFound, "The database is empty: there is nothing to back up.")
	}
	if _, err := os.Lstat(file); err == nil && !replace {
		return Saved{}, shoal.E(op, shoal.AlreadyExists, fmt.Sprintf("%s exists already. Name another file, or replace it with --replace.", file))
	}
	path, isFile := strings.CutPrefix(url, "sqlite://")
	if isFile {
		err = saveSQLite(ctx, path, file)
	} else {
		err = savePostgres(ctx, url, file)
	}
	if err != nil {
		return Saved{}, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return Saved{}, err
	}
	return Saved{Engine: x.Engine, Version: int(x.Version), Bytes: info.Size()}, nil
}

// examineBriefly examines a database without reading all of a large one.
func examineBriefly(ctx context.Context, url string) (Examination, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return Examine(ctx, url)
}

// saveSQLite copies a database through a connection, so that the copy has what is still in the
// log, and nothing half.
func saveSQLite(ctx context.Context, path, file string) error {
	const op = "sqlstore.Save"
	d, err := sqlconn.NewSQLite(path)
	if err != nil {
		return err
	}
	c := sqlconn.NewReader(d)
	if err := c.Open(ctx); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	defer c.Close()
	if err := copyFile(c.SQLite(), file); err != nil {
		return &shoal.Error{Op: op, Kind: shoal.Internal, Err: err, Msg: fmt.Sprintf("The backup %s was not written: %v. The database is as it was.", file, err)}
	}
	x, err := Examine(ctx, "sqlite://"+file)
	if err == nil && len(x.Damage) > 0 {
		err = shoal.E(op, shoal.Internal, fmt.Sprintf("The copy %s is damaged (%s), and so may be the database: run `shoal doctor`.", file, strings.Join(x.Damage, "; ")))
	}
	return err
}

// Load puts a backup of Save in the place of a database. No server may be using the database.
// With replace the database may hold something: a SQLite database is then kept in the file whose
// name Load returns. The backup itself is not changed.
func Load(ctx context.Context, url, file string, replace bool) (s Saved, replaced string, err error) {
	const op = "sqlstore.Load"
	file = absolute(file)
	info, err := os.Stat(file)
	if err != nil {
		return s, "", &shoal.Error{Op: op, Kind: shoal.NotFound, Msg: fmt.Sprintf("Backup %s not found.", file), Err: err}
	}
	s.Bytes = info.Size()
	now, err := examineBriefly(ctx, url)
	if err != nil && !errors.Is(err, shoal.NotFound) {
		return s, "", err
	}
	if now.Version > 0 && !replace {
		return s, "", shoal.E(op, shoal.AlreadyExists, "The database holds data already. Restore into an empty one, or put the backup in its place with --replace.")
	}
	if path, isFile := strings.CutPrefix(url, "sqlite://"); isFile {
		replaced, err = loadSQLite(ctx, path, file, now.Version > 0)
	} else {
		err = loadPostgres(ctx, url, file, now.Version > 0)
	}
	if err != nil {
		return s, "", err
	}
	x, err := examineBriefly(ctx, url)
	s.Engine, s.Version = x.Engine, int(x.Version)
	return s, replaced, err
}

// loadSQLite checks a backup beside the database and then copies it into the database, in one
// transaction: a process that ends on the way leaves the database as it was.
func loadSQLite(ctx context.Context, path, file string, holds bool) (replaced string, err error) {
	const op = "sqlstore.Load"
	if log, err := os.Stat(file + "-wal"); err == nil && log.Size() > 0 {
		return "", shoal.E(op, shoal.Conflict, fmt.Sprintf("%s is a database in use: a part of it is in %s-wal. Make a backup of it with `shoal backup`, and restore that.", file, file))
	}
	c, release, err := openAlone(ctx, path)
	if err != nil {
		return "", explainRunning(err)
	}
	defer release()
	checked := path + ".restoring"
	if err := copyBytes(file, checked); err != nil {
		return "", fmt.Errorf("%s: %w", op, err)
	}
	defer func() { err = errors.Join(err, os.Remove(checked)) }()
	x, err := Examine(ctx, "sqlite://"+checked)
	switch {
	case err != nil || x.Version == 0:
		return "", &shoal.Error{Op: op, Kind: shoal.InvalidArgument, Err: err, Msg: fmt.Sprintf("%s is not a backup of a Shoal database. Name the file that `shoal backup` has written.", file)}
	case len(x.Damage) > 0:
		return "", shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("%s is damaged (%s). Take another backup.", file, strings.Join(x.Damage, "; ")))
	case x.Version > x.Newest:
		return "", shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("%s is of a newer Shoal (version %d; this program knows %d). Install that one first.", file, x.Version, x.Newest))
	}
	if holds {
		if replaced, err = keepReplaced(c, path); err != nil {
			return "", fmt.Errorf("%s: %w", op, err)
		}
	}
	if err := overwrite(c, checked); err != nil {
		return "", fmt.Errorf("%s: %w", op, err)
	}
	return replaced, nil
}

// explainRunning says what to do about a server that uses the database.
func explainRunning(err error) error {
	if sqlconn.IsLocked(err) {
		return &shoal.Error{Op: "sqlstore.Load", Kind: shoal.Conflict, Err: err, Msg: "A server uses the database. Stop it, with `shoal down` if `shoal up` has started it, and restore again."}
	}
	return err
}

// copyBytes copies a file into a new one that only its owner can read.
func copyBytes(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // it was only read
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, source)
	return errors.Join(err, f.Sync(), f.Close())
}

// absolute returns a path that stays valid in another directory.
func absolute(file string) string {
	if path, err := filepath.Abs(file); err == nil {
		return path
	}
	return file
}
