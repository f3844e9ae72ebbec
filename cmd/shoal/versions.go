package main

import (
	"context"
	"strconv"

	"github.com/shoal-dev/shoal"
)

type agentsVersionsCmd struct {
	ID shoal.EntityID `arg:"" help:"The agent." complete:"hosted"`
}

// Run lists the versions of a configuration.
func (c *agentsVersionsCmd) Run(ctx context.Context, sh *shell) error {
	session, err := sh.overlook()
	if err != nil {
		return err
	}
	all, err := collect(session.AgentVersions(ctx, c.ID))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, a := range all.Items {
		rows = append(rows, []string{strconv.Itoa(a.Version), sh.output.when(&a.CreatedAt, "-"), a.Hash})
	}
	return sh.output.table(all, []string{"VERSION", "APPLIED", "HASH"}, rows...)
}
