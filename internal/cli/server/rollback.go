package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/release"
	"github.com/shoal-dev/shoal/internal/safetext"
)

// readBuild returns what another program of Shoal says of itself.
func readBuild(ctx context.Context, program string) (b cli.BuildInfo, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "version", "--json")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SHOAL_") })
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &b)
	}
	if err != nil {
		return b, fmt.Errorf("%w %s", err, bytes.TrimSpace(complaint.Bytes()))
	}
	return b, nil
}

// finishInterrupted restarts a server that runs another version than this program is, as after an
// upgrade that was interrupted.
func (u *upgradeTask) finishInterrupted(ctx context.Context) (restarted bool, err error) {
	if !u.managed || u.running.Version == u.now.Version {
		return false, nil
	}
	before, err := readBuild(ctx, u.program+release.PreviousSuffix)
	if err != nil {
		return true, u.start(ctx, u.now.Version) // there is no way back, but forward there is
	}
	return u.restart(ctx, u.now.Version, before)
}

// restart starts the server with the program that is installed now. If it is not ready in
// time, the program before it is put back, with the database that it can work with.
func (u *upgradeTask) restart(ctx context.Context, version string, before cli.BuildInfo) (restarted bool, err error) {
	if !u.managed {
		return false, nil
	}
	failed := u.start(ctx, version)
	if failed == nil {
		return true, nil
	}
	tail := lastLines(u.service.LogPath(), 12)
	if !u.Output.JSON && tail != "" {
		_, _ = fmt.Fprintf(u.Output.Notes, "The last lines of %s:\n%s", u.service.LogPath(), safetext.Clean(tail))
	}
	// An interrupted command goes back as well: nothing else would.
	ctx = context.WithoutCancel(ctx)
	replaced, err := u.revert(ctx, before)
	if err != nil {
		return false, errors.Join(shoal.E("", kindNotUpgraded, fmt.Sprintf("%s did not start (%s), and going back failed: %s. Try `shoal upgrade --rollback`.", version, cli.ErrorText(failed), cli.ErrorText(err))), err)
	}
	msg := fmt.Sprintf("%s did not start (%s). %s runs again.", version, cli.ErrorText(failed), before.Version)
	if replaced != "" {
		msg += " The database from before was put back; what was there is kept in " + replaced + "."
	}
	return false, &shoal.Error{Kind: kindNotUpgraded, Msg: msg, Err: failed}
}

// start starts the server anew and waits until it is ready and of the version.
func (u *upgradeTask) start(ctx context.Context, version string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, u.timeout, shoal.E("", cli.KindTimedOut, fmt.Sprintf("it was not ready within %v", u.timeout)))
	defer cancel()
	if err := u.service.Restart(ctx); err != nil {
		return err
	}
	r, err := u.service.AwaitReady(ctx, checkReady)
	if err == nil && r.Version != version {
		err = shoal.E("", kindNotUpgraded, fmt.Sprintf("the server says that it is %s", r.Version))
	}
	return err
}

// revert puts the previous program in the place of this one, and before that the database
// that it can work with, if it was migrated. The program that did not start is removed.
func (u *upgradeTask) revert(ctx context.Context, before cli.BuildInfo) (replaced string, err error) {
	if err := u.service.Halt(ctx); err != nil {
		return "", err
	}
	if replaced, err = u.restoreFor(ctx, before); err != nil {
		return replaced, err
	}
	if err := release.Exchange(u.program); err != nil {
		return replaced, err
	}
	if err := u.start(ctx, before.Version); err != nil {
		return replaced, err
	}
	return replaced, os.Remove(u.program + release.PreviousSuffix)
}

// restoreFor puts back the copy of the database that a program can work with, if it
// cannot work with the one that is there.
func (u *upgradeTask) restoreFor(ctx context.Context, b cli.BuildInfo) (replaced string, err error) {
	if tooNew, err := u.tooNewFor(ctx, b); err != nil || !tooNew {
		return "", err
	}
	return app.RestoreDatabase(ctx, u.database, b.Schema)
}

// tooNewFor reports whether a program refuses the database.
func (u *upgradeTask) tooNewFor(ctx context.Context, b cli.BuildInfo) (bool, error) {
	if !app.IsSQLite(u.database) {
		return false, nil
	}
	has, err := app.DatabaseSchema(ctx, u.database)
	return has > b.Schema, err
}

// rollback goes back to the program before the last upgrade.
func (u *upgradeTask) rollback(ctx context.Context, restore bool) (out upgradeResult, err error) {
	previous := u.program + release.PreviousSuffix
	if _, err := os.Stat(previous); err != nil {
		return out, &shoal.Error{Kind: shoal.NotFound, Msg: fmt.Sprintf("%s not found: nothing was upgraded here, or it was rolled back already.", previous), Err: err}
	}
	before, err := readBuild(ctx, previous)
	if err != nil {
		return out, err
	}
	tooNew, err := u.tooNewFor(ctx, before)
	if err != nil {
		return out, err
	}
	if tooNew && !restore {
		return out, shoal.E("", shoal.Conflict, fmt.Sprintf(
			"%s cannot work with the database, which was migrated since. --restore puts back the copy from before the migration; what was written after it is no longer in the server then, but in a file beside the database.", before.Version))
	}
	if tooNew && u.alive && !u.managed {
		return out, shoal.E("", shoal.Conflict, fmt.Sprintf("A server uses the database (process %d), and `shoal up` has not started it: stop it first.", u.running.PID))
	}
	if u.managed {
		if err := u.service.Halt(ctx); err != nil {
			return out, err
		}
	}
	if out.Replaced, err = u.restoreFor(ctx, before); err != nil {
		return out, err
	}
	if err := release.Exchange(u.program); err != nil {
		return out, err
	}
	out.From, out.To, out.Installed = u.now.Version, before.Version, true
	if !u.managed {
		return out, nil
	}
	out.Restarted = true
	return out, u.start(ctx, before.Version)
}
