package server

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/connect"
	"github.com/shoal-dev/shoal/internal/doctor"
)

// DoctorCommand is shoal doctor.
type DoctorCommand struct {
	app.Config // what the server here is started with

	Wait  time.Duration `help:"How long the test wait takes: a long one finds proxies that cut answers." default:"1s" env:"-"`
	All   bool          `help:"On a terminal, list every check instead of problems and a count." env:"-"`
	Ready bool          `help:"Only ask whether the server is ready, for probes: exits with 0 or 6." env:"-"`
}

var doctorHead = []string{"CHECK", "STATUS", "FOUND", "TRY"}

// Run checks the server, its dependencies and connectivity.
func (c *DoctorCommand) Run(ctx context.Context, sh *cli.Shell) error {
	if c.Ready {
		return c.checkReady(ctx, sh)
	}
	o, err := c.options(sh)
	if err != nil {
		return err
	}
	all := cli.List[doctor.Finding]{Items: []doctor.Finding{}}
	var rows [][]string
	failed := 0
	doctor.Examine(ctx, o, func(f doctor.Finding) {
		all.Items, rows = append(all.Items, f), append(rows, []string{f.Check, string(f.Status), f.Detail, f.Try})
		if f.Status == doctor.Fail {
			failed++
		}
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if o := sh.Output; o.Terminal && !o.JSON && !o.Quiet && !c.All {
		err = printFindings(o, all.Items)
	} else {
		err = o.PrintTable(all, doctorHead, rows...)
	}
	if err != nil {
		return err
	}
	if failed > 0 {
		return shoal.E("", cli.KindUnwell, fmt.Sprintf("%d of %d checks failed", failed, len(rows)))
	}
	return nil
}

// options says what to examine.
func (c *DoctorCommand) options(sh *cli.Shell) (doctor.Options, error) {
	at, err := url.Parse(sh.URL)
	if err != nil {
		return doctor.Options{}, shoal.E("", cli.KindUsage, fmt.Sprintf("--url %q is not a URL", sh.URL))
	}
	o := doctor.Options{
		URL: sh.URL, HTTP: sh.Options("").HTTP, Session: sh.Session, Here: app.Loopback(at.Hostname()), Config: c.Config, FileErr: sh.Sources.FileErr(),
		File: sh.Sources.UsedFile(), Version: sh.Stamp.Build().Version, Wait: c.Wait, Environ: os.Getenv,
	}
	if machine, err := connect.Here("."); err == nil {
		o.Machine = &machine
	}
	if sh.As != nil {
		o.As = *sh.As
	}
	if o.Config.Data, err = sh.DataDir(); err != nil {
		return o, err
	}
	o.Key, _, err = sh.Secret()
	return o, err
}

// checkReady asks one question.
func (c *DoctorCommand) checkReady(ctx context.Context, sh *cli.Shell) error {
	asked, err := client.New(sh.Options(""))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Second, shoal.E("", client.ErrUnreachable, "no answer from "+sh.URL+" within 5 s"))
	defer cancel()
	if err := asked.Ready(ctx); err != nil {
		return &shoal.Error{Kind: client.ErrUnreachable, Msg: cli.ErrorText(err), Err: err}
	}
	return nil
}
