package main

import (
	"context"

	"github.com/shoal-dev/shoal"
)

type approvalsRememberedCmd struct{}

// Run lists what has been decided for later calls.
func (c *approvalsRememberedCmd) Run(ctx context.Context, sh *shell) error {
	session, _, err := sh.connect(ctx)
	if err != nil {
		return err
	}
	all, err := collect(session.RememberedDecisions(ctx))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, d := range all.Items {
		about := d.ToolName
		if d.Scope == shoal.RememberCall {
			about += " " + string(d.Args)
		}
		if sh.output.terminal {
			about = short(about, 72)
		}
		rows = append(rows, []string{
			string(d.ID), d.Decision, string(d.AgentID), about, idOr(d.SpaceID), list(d.Requesters, "", ","), idOr(d.EntityID), timeOr(&d.ExpiresAt, "never"),
		})
	}
	return sh.output.table(all, []string{"ID", "DECISION", "AGENT", "ABOUT", "SPACE", "FOR", "BY", "UNTIL"}, rows...)
}

type approvalsForgetCmd struct {
	ID []shoal.RememberedID `arg:"" help:"The decisions, as shoal approvals remembered shows them."`
}

// Run revokes decisions, one after the other.
func (c *approvalsForgetCmd) Run(ctx context.Context, sh *shell) error {
	session, _, err := sh.connect(ctx)
	if err != nil {
		return err
	}
	for _, id := range c.ID {
		if err := session.ForgetDecision(ctx, id); err != nil {
			return err
		}
		sh.output.note("%s is forgotten; the next call asks again", id)
	}
	return nil
}
