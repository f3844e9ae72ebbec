package runs

import (
	"context"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

type approvalsRememberedCmd struct{}

// Run lists the remembered decisions.
func (c *approvalsRememberedCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	all, err := cli.Collect(session.RememberedDecisions(ctx))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, d := range all.Items {
		about := d.ToolName
		if d.Scope == shoal.RememberCall {
			about += " " + string(d.Args)
		}
		if sh.Output.Terminal {
			about = cli.Shorten(about, 72)
		}
		rows = append(rows, []string{
			string(d.ID), d.Decision, string(d.AgentID), about, cli.IDOrDash(d.SpaceID), cli.JoinIDs(d.Requesters, "", ","), cli.IDOrDash(d.EntityID), sh.Output.FormatTime(&d.ExpiresAt, "never"),
		})
	}
	return cli.PrintList[shoal.RememberedID](sh, all, []string{"ID", "DECISION", "AGENT", "ABOUT", "SPACE", "FOR", "BY", "UNTIL"}, rows...)
}

type approvalsForgetCmd struct {
	ID []shoal.RememberedID `arg:"" help:"The ids, as shoal approvals remembered lists them."`
}

// Run deletes the decisions in order. It stops at the first error.
func (c *approvalsForgetCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	for _, id := range c.ID {
		if err := session.ForgetDecision(ctx, id); err != nil {
			return err
		}
		sh.Output.Note("%s was deleted; the next call asks again", id)
	}
	return nil
}
