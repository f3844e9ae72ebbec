package agents

import (
	"context"
	"strconv"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

type agentsVersionsCmd struct {
	ID shoal.EntityID `arg:"" help:"The agent." complete:"hosted"`
}

// Run lists the versions of a configuration.
func (c *agentsVersionsCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	all, err := cli.Collect(session.AgentVersions(ctx, c.ID))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, a := range all.Items {
		rows = append(rows, []string{strconv.Itoa(a.Version), sh.Output.FormatTime(&a.CreatedAt, "-"), a.Hash})
	}
	return sh.Output.PrintTable(all, []string{"VERSION", "APPLIED", "HASH"}, rows...)
}
