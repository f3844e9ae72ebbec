package admin

import (
	"cmp"
	"context"
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

// SignInsCommand is shoal sign-ins.
type SignInsCommand struct {
	List signInsListCmd `cmd:"" name:"ls" aliases:"list" default:"withargs" help:"List the browsers and programs that are signed in as you; for an owner those of the session, and all with --admin."`
	End  signInsEndCmd  `cmd:"" name:"end" aliases:"rm" help:"Sign them out with immediate effect."`
}

type signInsListCmd struct{}

// Run lists the sign-ins.
func (*signInsListCmd) Run(ctx context.Context, sh *cli.Shell) error {
	c, err := sh.Client()
	if err != nil {
		return err
	}
	all, err := cli.Collect(c.SignIns(ctx))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, k := range all.Items {
		rows = append(rows, []string{
			string(k.ID), cmp.Or(cli.IDOrDash(k.EntityID), string(k.Role)), valueOrDash(k.Device), valueOrDash(k.Address),
			sh.Output.FormatTime(k.LastUsedAt, "never"), sh.Output.FormatTime(&k.CreatedAt, "-"), sh.Output.FormatTime(k.ExpiresAt, "never"),
		})
	}
	return cli.PrintList[shoal.KeyID](sh, all, []string{"ID", "AS", "DEVICE", "ADDRESS", "USED", "CREATED", "EXPIRES"}, rows...)
}

func valueOrDash(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

type signInsEndCmd struct {
	ID  []shoal.KeyID  `arg:"" optional:"" help:"The ids, as shoal sign-ins lists them."`
	Of  shoal.EntityID `help:"End all sign-ins of this participant." placeholder:"ID"`
	All bool           `help:"End all sign-ins that shoal sign-ins lists." env:"-"`
}

// Run ends the sign-ins in order. It continues after errors and reports all of them.
func (c *signInsEndCmd) Run(ctx context.Context, sh *cli.Shell) error {
	if len(c.ID) == 0 && c.Of == "" && !c.All {
		return shoal.E("", cli.KindUsage, "name the sign-ins by their ids, or use --of PARTICIPANT or --all; `shoal sign-ins` lists them")
	}
	server, err := sh.Client()
	if err != nil {
		return err
	}
	ids := c.ID
	if c.Of != "" || c.All {
		for k, err := range server.SignIns(ctx) {
			if err != nil {
				return err
			}
			if c.All || k.EntityID != nil && *k.EntityID == c.Of {
				ids = append(ids, k.ID)
			}
		}
	}
	var failed []error
	for _, id := range ids {
		if err := server.RevokeKey(ctx, id); err != nil && (len(c.ID) > 0 || !errors.Is(err, shoal.NotFound)) {
			failed = append(failed, err)
			continue
		}
		sh.Output.Note("%s is signed out", id)
	}
	if len(ids) == 0 {
		sh.Output.Note("nobody is signed in%s", asWhom(c.Of))
	}
	return reportFailures(sh, failed)
}

func asWhom(of shoal.EntityID) string {
	if of == "" {
		return ""
	}
	return " as " + string(of)
}
