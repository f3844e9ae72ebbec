package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/background"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/release"
)

const (
	// releases is where releases are, unless --from or SHOAL_RELEASES names another place.
	releases = "https://github.com/shoal-dev/shoal/releases"

	// kindNotUpgraded is the failure of a version that does not start.
	kindNotUpgraded shoal.Kind = "not_upgraded"
)

// UpgradeCommand is shoal upgrade.
type UpgradeCommand struct {
	Check    bool          `help:"Only report whether a newer release exists." xor:"what"`
	Rollback bool          `help:"Go back to the program before the last upgrade." xor:"what"`
	Restore  bool          `help:"With --rollback, put back the copy of the database from before it was migrated, if the program needs that. What was written since is kept in a file beside it."`
	To       string        `name:"version" help:"Install this version instead of the newest." placeholder:"VERSION" xor:"what"`
	From     string        `help:"Where releases are: an https URL, or http of this machine (default: SHOAL_RELEASES, or the project's releases)." placeholder:"URL"`
	SignedBy string        `help:"Refuse releases that are not signed with this public key of minisign." placeholder:"KEY"`
	BackedUp bool          `help:"A backup of the PostgreSQL database exists: install a version that migrates it."`
	Database string        `help:"The database of the server (default: shoal.db in the data directory)." placeholder:"URL"`
	Timeout  time.Duration `help:"How long to wait until the server is ready." default:"5m"`
}

// upgradeResult is what upgrade has to say.
type upgradeResult struct {
	From      string `json:"from"`
	To        string `json:"to"`
	Newer     bool   `json:"newer"`
	Installed bool   `json:"installed"`
	Restarted bool   `json:"restarted"`
	// Replaced is the file that keeps the database that --restore has replaced.
	Replaced string `json:"replaced,omitempty"`
}

// Run installs a release, or goes back to the program before it.
func (c *UpgradeCommand) Run(ctx context.Context, sh *cli.Shell) error {
	if c.Restore && !c.Rollback {
		return shoal.E("", cli.KindUsage, "--restore is for --rollback")
	}
	u, err := c.prepare(sh)
	if err != nil {
		return err
	}
	if command := release.ManagedBy(ctx, u.program); command != "" {
		return shoal.E("", shoal.Conflict, fmt.Sprintf("%s was installed by a package manager, which upgrades it: %s", u.program, command))
	}
	if c.Check {
		return c.checkForNewer(ctx, sh, u)
	}
	if _, err := os.Stat(u.service.Data); err == nil {
		unlock, err := u.service.Lock(ctx)
		if err != nil {
			return err
		}
		defer unlock()
	}
	if err := u.findServer(); err != nil {
		return err
	}
	var out upgradeResult
	if c.Rollback {
		out, err = u.rollback(ctx, c.Restore)
	} else {
		out, err = c.upgrade(ctx, u)
	}
	if err != nil {
		return err
	}
	switch {
	case !out.Installed && !out.Restarted:
		sh.Output.Note("%s is the newest version", out.From)
	case out.Restarted:
		sh.Output.Note("the server runs %s; `shoal upgrade --rollback` goes back to %s", out.To, out.From)
	case u.alive:
		sh.Output.Note("a server runs that `shoal up` has not started: start it again for %s", out.To)
	}
	if out.Replaced != "" {
		sh.Output.Note("the database of before is kept in %s", out.Replaced)
	}
	return sh.Output.PrintTable(out, []string{"FROM", "TO"}, []string{out.From, out.To})
}

// prepare finds out what there is to upgrade.
func (c *UpgradeCommand) prepare(sh *cli.Shell) (*upgradeTask, error) {
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return nil, err
	}
	service, err := backgroundService(sh)
	if err != nil {
		return nil, err
	}
	return &upgradeTask{
		Shell: sh, program: program, service: service, now: sh.Stamp.Build(), timeout: c.Timeout,
		database: cmp.Or(c.Database, app.DefaultDatabase(service.Data)),
	}, nil
}

func (c *UpgradeCommand) source(stamp cli.Stamp) (*release.Source, error) {
	return release.NewSource(cmp.Or(c.From, os.Getenv("SHOAL_RELEASES"), releases), cmp.Or(c.SignedBy, stamp.ReleaseKey))
}

// findRelease returns the release to install.
func (c *UpgradeCommand) findRelease(ctx context.Context, source *release.Source) (release.Release, error) {
	if c.To != "" {
		return source.Find(ctx, c.To)
	}
	return source.Latest(ctx)
}

func (c *UpgradeCommand) checkForNewer(ctx context.Context, sh *cli.Shell, u *upgradeTask) error {
	source, err := c.source(sh.Stamp)
	if err != nil {
		return err
	}
	newest, err := source.Latest(ctx)
	if err != nil {
		return err
	}
	out := upgradeResult{From: u.now.Version, To: newest.Version, Newer: !release.Valid(u.now.Version) || release.Newer(newest.Version, u.now.Version)}
	state := "newest"
	if out.Newer {
		state = "older"
		sh.Output.Note("`shoal upgrade` installs %s", newest.Version)
	}
	return sh.Output.PrintTable(out, []string{"VERSION", "NEWEST", "STATE"}, []string{out.From, out.To, state})
}

// upgrade installs the wanted release if this is another one.
func (c *UpgradeCommand) upgrade(ctx context.Context, u *upgradeTask) (upgradeResult, error) {
	out := upgradeResult{From: u.now.Version, To: u.now.Version}
	source, err := c.source(u.Stamp)
	if err != nil {
		return out, err
	}
	if c.To == "" && !release.Valid(u.now.Version) {
		return out, shoal.E("", shoal.Conflict, fmt.Sprintf("This program is a build from source (%s), so no release is newer: name one with --version", u.now.Version))
	}
	wanted, err := c.findRelease(ctx, source)
	if err != nil {
		return out, err
	}
	if wanted.Version == u.now.Version || c.To == "" && !release.Newer(wanted.Version, u.now.Version) {
		out.Restarted, err = u.finishInterrupted(ctx) // an upgrade that was interrupted before the restart
		return out, err
	}
	if !source.Signed() {
		u.Output.Note("the checksum of the release is verified; no key is known that could sign it")
	}
	file := u.program + ".download"
	if err := source.Download(ctx, wanted, file); err != nil {
		return out, explainPermission(err, u.program)
	}
	if err := c.checkInstallable(ctx, u, file, wanted.Version); err != nil {
		return out, errors.Join(err, os.Remove(file))
	}
	if err := release.Install(file, u.program); err != nil {
		return out, err
	}
	out.To, out.Newer, out.Installed = wanted.Version, true, true
	out.Restarted, err = u.restart(ctx, wanted.Version, u.now)
	return out, err
}

// checkInstallable says why a program that was downloaded cannot take the place of this one.
func (c *UpgradeCommand) checkInstallable(ctx context.Context, u *upgradeTask, file, version string) error {
	b, err := readBuild(ctx, file)
	if err != nil {
		return shoal.E("", kindNotUpgraded, fmt.Sprintf("The program of %s does not run on this machine (%v). Nothing was installed.", version, err))
	}
	if b.Version != version {
		return shoal.E("", kindNotUpgraded, fmt.Sprintf("The program of %s says that it is %s. Nothing was installed.", version, b.Version))
	}
	if !app.IsSQLite(u.database) || u.running.Database == "postgres" {
		if b.Schema != u.now.Schema && !c.BackedUp {
			return shoal.E("", shoal.Conflict, fmt.Sprintf("%s migrates the database, and there is no way back without a backup. Make one with pg_dump, then add --backed-up. Nothing was installed.", version))
		}
		return nil
	}
	has, err := app.DatabaseSchema(ctx, u.database)
	if err != nil {
		return err
	}
	if b.Schema < has {
		return shoal.E("", shoal.Conflict, fmt.Sprintf("%s does not know the database, which a newer version has migrated (%d; it knows %d). `shoal upgrade --rollback --restore` goes back to the program and the database from before. Nothing was installed.", version, has, b.Schema))
	}
	return nil
}

// explainPermission says what to do where this user may not write.
func explainPermission(err error, program string) error {
	if !errors.Is(err, os.ErrPermission) {
		return err
	}
	return &shoal.Error{Kind: shoal.Forbidden, Msg: fmt.Sprintf("This user may not write into %s. Run the command as the user who has installed it there, for example with sudo.", filepath.Dir(program)), Err: err}
}

// upgradeTask is an upgrade or a rollback on its way.
type upgradeTask struct {
	*cli.Shell
	program  string // the path of the program, without symbolic links
	service  background.Service
	now      cli.BuildInfo // what this process is
	database string
	timeout  time.Duration

	running background.Record // of the server, if it is alive
	alive   bool
	managed bool // up has started it with this program
}

// findServer looks for the server of the data directory.
func (u *upgradeTask) findServer() (err error) {
	if u.running, u.alive, err = u.service.Running(); err != nil || !u.alive {
		return err
	}
	d, defined, err := u.service.Definition()
	u.managed = defined && u.running.Manager != "" && sameFile(d.Program, u.program)
	return err
}
