package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/modelenv"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

const (
	// spaceLittle and spaceNone are how many bytes free make a warning and a failure.
	spaceLittle = 1 << 30
	spaceNone   = 64 << 20
	// databaseWithin is how long the tables of a large database are checked.
	databaseWithin = 20 * time.Second
)

// others is the part of a file's mode that lets other users in.
const others fs.FileMode = 0o077

func (x *examination) configuration() {
	const check = "configuration"
	if x.FileErr != nil {
		x.fail(check, message(x.FileErr), "correct the file; `shoal serve --print-config` shows what holds")
		return
	}
	if x.Here {
		if err := x.Config.Check(); err != nil {
			x.fail(check, message(err), "`shoal serve --print-config` shows where each value comes from")
			return
		}
	}
	if x.File == "" {
		x.ok(check, "no file; flags and environment only")
		return
	}
	info, err := os.Stat(x.File)
	if err == nil && info.Mode().Perm()&others != 0 && holdsPassword(x.Config.Database) {
		x.warn(check, x.File+" holds the database's password and other users may read it", "chmod 600 "+x.File)
		return
	}
	x.ok(check, x.File)
}

// holdsPassword reports whether the URL of a database has a password in it.
func holdsPassword(database string) bool {
	_, rest, _ := strings.Cut(database, "://")
	user, _, at := strings.Cut(rest, "@")
	return at && strings.Contains(user, ":") || strings.Contains(rest, "password=")
}

func (x *examination) directory() {
	const check = "data directory"
	data := x.Config.Data
	info, err := os.Stat(data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.warn(check, data+" is not there yet", "`shoal serve` makes it, or name another with --data")
	case err != nil:
		x.fail(check, fmt.Sprintf("%s cannot be read: %v", data, reason(err)), "run this as the user of the server")
	case !info.IsDir():
		x.fail(check, data+" is not a directory", "name another with --data")
	case info.Mode().Perm()&others != 0:
		x.warn(check, fmt.Sprintf("%s has mode %04o: other users of this machine may look into it", data, info.Mode().Perm()), "chmod 700 "+data)
	default:
		x.ok(check, fmt.Sprintf("%s, mode %04o", data, info.Mode().Perm()))
	}
}

func (x *examination) keyFiles() {
	x.keyFile("admin key", app.KeyFile, "do everything", "run `shoal keys rotate --admin` if somebody has")
	x.keyFile("operator key", app.OperatorKeyFile, "act as the operator", "make a new one if somebody has: revoke the old key, delete the file, and start the server again")
}

// keyFile checks a file that holds a key: what a reader of it may do, and how the key
// is replaced.
func (x *examination) keyFile(check, name, allows, replace string) {
	path := filepath.Join(x.Config.Data, name)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.warn(check, "missing in "+x.Config.Data, "the next start of `shoal serve` creates one")
	case err != nil:
		x.fail(check, fmt.Sprintf("%s cannot be read: %v", path, reason(err)), "run this as the user of the server")
	case info.Mode().Perm()&others != 0:
		x.fail(check, fmt.Sprintf("%s has mode %04o: anybody with the key may %s", path, info.Mode().Perm(), allows), "chmod 600 "+path+", and "+replace)
	default:
		x.ok(check, fmt.Sprintf("%s, mode %04o", path, info.Mode().Perm()))
	}
}

func (x *examination) space() {
	const check = "disk"
	at := x.Config.Data
	for { // the nearest directory that is there
		if _, err := os.Stat(at); err == nil || filepath.Dir(at) == at {
			break
		}
		at = filepath.Dir(at)
	}
	free, err := freeBytes(at)
	said := fmt.Sprintf("%.1f GiB free in %s", float64(free)/(1<<30), at)
	switch {
	case errors.Is(err, errors.ErrUnsupported): // then nothing is known, and nothing is said
	case err != nil:
		x.warn(check, fmt.Sprintf("the free space in %s cannot be determined: %v", at, reason(err)), "check it with df")
	case free < spaceNone:
		x.fail(check, said, "make room: without it posts are answered with storage_full")
	case free < spaceLittle:
		x.warn(check, said, "make room before posts are answered with storage_full")
	default:
		x.ok(check, said)
	}
}

func (x *examination) database(ctx context.Context) {
	url := x.Config.Database
	if url == "" {
		url = app.DefaultDatabase(x.Config.Data)
	}
	ctx, cancel := context.WithTimeout(ctx, databaseWithin)
	defer cancel()
	seen, err := sqlstore.Examine(ctx, url)
	switch {
	case errors.Is(err, shoal.NotFound):
		x.warn("database", message(err), "`shoal serve` makes it")
		return
	case err != nil:
		x.fail("database", message(err), "see that it runs, and that --database names it; a damaged file is replaced by its last backup")
		return
	}
	detail := seen.Engine + ", " + seen.Durable
	switch {
	case len(seen.Damage) > 0:
		x.fail("database", seen.Engine+" finds damage: "+strings.ReplaceAll(strings.Join(seen.Damage, "; "), "\n", "; "), "stop the server, keep a copy of the file, and restore the last backup")
	case len(seen.Weak) > 0:
		x.fail("database", detail+": "+strings.Join(seen.Weak, "; "), "change these settings of the database")
	case seen.Unfinished:
		x.warn("database", fmt.Sprintf("%s; it is too large to be looked through in %s", detail, databaseWithin), "to be sure, run PRAGMA quick_check on a backup")
	default:
		x.ok("database", detail)
	}
	x.migrations(seen)
}

func (x *examination) migrations(seen sqlstore.Examination) {
	const check = "migrations"
	switch at := fmt.Sprintf("the database has version %d, this program knows %d", seen.Version, seen.Newest); {
	case seen.Version > seen.Newest && seen.Oldest <= seen.Newest:
		x.ok(check, at+": a newer Shoal has migrated it, and this one can go on")
	case seen.Version > seen.Newest:
		x.fail(check, at+": a newer Shoal has migrated it", "start that one, or restore the backup from before")
	case seen.Version == 0:
		x.warn(check, "the database is empty", "`shoal serve` makes its tables")
	case seen.Version < seen.Newest:
		x.warn(check, at, "make a backup; the next start of `shoal serve` migrates it")
	default:
		x.ok(check, at)
	}
}

// models reports the names of the model API keys in the environment.
func (x *examination) models() {
	var here []string
	if x.Environ != nil {
		here = modelenv.Present(x.Environ)
	}
	if len(here) == 0 {
		x.ok("model keys", "none in this environment; the server's own may have some, else its first agent plays a script")
		return
	}
	x.ok("model keys", strings.Join(here, ", ")+" in this environment; the server has its own")
}

// reason is what the system said, without the path that is named already.
func reason(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
