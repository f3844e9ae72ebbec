package admin

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/cli"
)

// BackupCommand is shoal backup.
type BackupCommand struct {
	File     string `arg:"" help:"The file to write."`
	Replace  bool   `help:"Replace the file if it exists." env:"-"`
	Database string `help:"The database of the server (default: shoal.db in the data directory)." placeholder:"URL"`
}

// RestoreCommand is shoal restore.
type RestoreCommand struct {
	File     string `arg:"" help:"The backup, a file that shoal backup has written."`
	Replace  bool   `help:"Put the backup in the place of a database that holds data. A SQLite database is kept in a file beside it." env:"-"`
	Database string `help:"The database of the server (default: shoal.db in the data directory)." placeholder:"URL"`
}

var backupHead = []string{"FILE", "SIZE", "DATABASE", "SCHEMA", "TOOK"}

// Run writes a backup.
func (c *BackupCommand) Run(ctx context.Context, sh *cli.Shell) error {
	dir, err := sh.DataDir()
	if err != nil {
		return err
	}
	begun := time.Now()
	made, err := app.BackUp(ctx, cmp.Or(c.Database, app.DefaultDatabase(dir)), c.File, c.Replace)
	if err != nil {
		return err
	}
	if err := sh.Output.PrintTable(made, backupHead, backupRow(sh.Output, made, time.Since(begun))); err != nil {
		return err
	}
	sh.Output.Note("it contains every message, prompt and file, and the hashes of keys; restore it into an empty directory to be sure of it: `shoal restore %s --data DIR`", c.File)
	return nil
}

// Run puts a backup in the place of a database.
func (c *RestoreCommand) Run(ctx context.Context, sh *cli.Shell) error {
	dir, err := sh.DataDir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &shoal.Error{Kind: shoal.InvalidArgument, Err: err, Msg: fmt.Sprintf("The data directory %s cannot be created: %v.", dir, err)}
	}
	begun := time.Now()
	done, err := app.RestoreBackup(ctx, cmp.Or(c.Database, app.DefaultDatabase(dir)), c.File, c.Replace)
	if err != nil {
		return err
	}
	if done.Replaced != "" {
		sh.Output.Note("what was there before is kept in %s", done.Replaced)
	}
	if err := sh.Output.PrintTable(done, backupHead, backupRow(sh.Output, done, time.Since(begun))); err != nil {
		return err
	}
	if done.Schema < app.Schema() {
		sh.Output.Note("the backup is of an older Shoal: the next start of `shoal serve` migrates it")
	}
	return nil
}

func backupRow(o *cli.Output, b app.Backup, took time.Duration) []string {
	size := cli.Itoa(b.Bytes)
	if o.Terminal {
		size = cli.Size(b.Bytes)
	}
	return []string{b.File, size, b.Database, fmt.Sprint(b.Schema), took.Round(time.Millisecond).String()}
}
