package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/cli"
)

// KeysCommand is shoal keys.
type KeysCommand struct {
	List   keysListCmd   `cmd:"" name:"ls" aliases:"list" default:"withargs" help:"List the keys of your session, or all with --admin, without their secrets."`
	Create keysCreateCmd `cmd:"" help:"Create a key and print its secret, which is shown only once. With --data, it also works without a running server."`
	Revoke keysRevokeCmd `cmd:"" help:"Revoke keys with immediate effect."`
	Rotate keysRotateCmd `cmd:"" help:"Replace a key by a new one, while the old one works on for a time; or, without an id and with --admin, the admin key in the data directory, with and without a running server."`
}

var keyHead = []string{"ID", "ROLE", "SESSION", "ENTITY", "NAME", "SCOPES", "EXPIRES", "USED", "FROM", "CREATED"}

func keyRow(o *cli.Output, k shoal.Key) []string {
	expires, from := o.FormatTime(k.ExpiresAt, "never"), "-"
	if k.RenewForMs != nil {
		expires += ", renewed"
	}
	if k.ReplacedBy != nil {
		expires += ", see " + string(*k.ReplacedBy)
	}
	if k.Address != nil {
		from = *k.Address
	}
	return []string{
		string(k.ID), string(k.Role), cli.IDOrDash(k.SessionID), cli.IDOrDash(k.EntityID), k.Name, cmp.Or(strings.Join(k.Scopes, " "), "all"),
		expires, o.FormatTime(k.LastUsedAt, "never"), from, o.FormatTime(&k.CreatedAt, "-"),
	}
}

type keysListCmd struct{}

// Run lists the keys.
func (*keysListCmd) Run(ctx context.Context, sh *cli.Shell) error {
	c, err := sh.Client()
	if err != nil {
		return err
	}
	all, err := cli.Collect(c.Keys(ctx))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, k := range all.Items {
		rows = append(rows, keyRow(sh.Output, k))
	}
	return cli.PrintList[shoal.KeyID](sh, all, keyHead, rows...)
}

type keysRevokeCmd struct {
	ID  []shoal.KeyID `arg:"" help:"The ids, as shoal keys ls lists them."`
	Yes bool          `help:"Also revoke the key that this command calls with." env:"-"`
}

// Run revokes the keys in order. It continues after errors and reports all of them.
func (c *keysRevokeCmd) Run(ctx context.Context, sh *cli.Shell) error {
	server, err := sh.Client()
	if err != nil {
		return err
	}
	me, err := server.Me(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for _, id := range c.ID {
		if id == me.KeyID && !c.Yes {
			failed = append(failed, shoal.E("", cli.KindUsage, fmt.Sprintf("%s is the key that this command calls with: add --yes to revoke it all the same", id)))
			continue
		}
		if err := server.RevokeKey(ctx, id); err != nil {
			var e *shoal.Error
			if errors.As(err, &e) {
				err = &shoal.Error{Kind: e.Kind, Msg: fmt.Sprintf("%s is not revoked: %s", id, e.Msg), Err: err}
			}
			failed = append(failed, err)
			continue
		}
		sh.Output.Note("%s is revoked", id)
	}
	return reportFailures(sh, failed)
}

// reportFailures reports all failures but the first, which it returns.
func reportFailures(sh *cli.Shell, failed []error) error {
	if len(failed) == 0 {
		return nil
	}
	for _, err := range failed[1:] {
		sh.Output.ReportFailure(cli.Describe(sh.Command, err))
	}
	return failed[0]
}

type keysRotateCmd struct {
	ID       shoal.KeyID `arg:"" optional:"" help:"The key to replace, as shoal keys ls lists it."`
	Overlap  string      `help:"How long the old key works on: 1h, 7d (default: 24h); 0 ends it at once." placeholder:"DURATION"`
	Expires  string      `help:"When the new key expires; without it, after the time for which the old one was created." placeholder:"WHEN"`
	Database string      `help:"The database of the server, if it is not in the data directory." placeholder:"URL"`
}

// Run replaces a key on the server. Without an id it writes a new admin key into the data directory and
// revokes the old one.
func (c *keysRotateCmd) Run(ctx context.Context, sh *cli.Shell) error {
	if c.ID != "" {
		return c.replace(ctx, sh)
	}
	if c.Overlap != "" || c.Expires != "" {
		return shoal.E("", cli.KindUsage, "--overlap and --expires are for `shoal keys rotate ID`: the admin key in the data directory is replaced at once and does not expire")
	}
	if !sh.Admin {
		return shoal.E("", cli.KindUsage, "`shoal keys rotate` replaces the admin key: add --admin to say that you mean it, or name another key to replace")
	}
	dir, err := sh.DataDir()
	if err != nil {
		return err
	}
	if err := app.RotateAdminKey(ctx, dir, c.Database); err != nil {
		return err
	}
	sh.Output.Note("%s has a new admin key; the old one is revoked", filepath.Join(dir, app.KeyFile))
	return nil
}

// millisUntil returns the milliseconds from now to the time of a flag, see [cli.ParseTime].
func millisUntil(flag, value string, now time.Time) (int64, error) {
	at, err := cli.ParseTime(flag, value, now, 1)
	return at.Sub(now).Round(time.Millisecond).Milliseconds(), err
}

// replace replaces a key of the server and prints the new one.
func (c *keysRotateCmd) replace(ctx context.Context, sh *cli.Shell) error {
	now, r := time.Now(), shoal.KeyRotation{}
	switch c.Overlap {
	case "":
	case "0":
		r.OverlapMs = new(int64)
	default:
		ms, err := millisUntil("--overlap", c.Overlap, now)
		if err != nil {
			return err
		}
		r.OverlapMs = &ms
	}
	if c.Expires != "" {
		at, err := cli.ParseTime("--expires", c.Expires, now, 1)
		if err != nil {
			return err
		}
		r.ExpiresAt = &at
	}
	server, err := sh.Client()
	if err != nil {
		return err
	}
	made, err := server.RotateKey(ctx, c.ID, r)
	if err != nil {
		return err
	}
	if made.Secret == nil {
		return shoal.E("", shoal.Internal, fmt.Sprintf("the key %s was made, but its secret was lost on the way: rotate that one", made.ID))
	}
	return printKey(sh.Output, made)
}
