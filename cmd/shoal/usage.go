package main

import (
	"cmp"
	"context"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

type usageCmd struct {
	By    []string       `help:"What to add up by: day, agent, model, run." enum:"day,agent,model,run" default:"day,agent,model" placeholder:"NAME"`
	Agent shoal.EntityID `help:"Of this agent only." placeholder:"ID" complete:"hosted"`
	Of    shoal.RunID    `name:"run" help:"Of this run only." placeholder:"ID"`
	Since string         `help:"From when on: 12h, 30d or a time such as 2027-01-31T00:00:00Z." placeholder:"WHEN"`
}

// Run prints what model calls used.
func (c *usageCmd) Run(ctx context.Context, sh *shell) error {
	o := client.UsageOptions{By: c.By, Agent: c.Agent, Run: c.Of}
	if c.Since != "" {
		from, err := moment("--since", c.Since, time.Now(), -1)
		if err != nil {
			return err
		}
		o.From = &from
	}
	session, err := sh.overlook()
	if err != nil {
		return err
	}
	all, err := collect(session.Usage(ctx, o))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, u := range all.Items {
		rows = append(rows, []string{
			cmp.Or(u.Day, "-"), cmp.Or(string(u.AgentID), "-"), cmp.Or(u.Model, "-"), cmp.Or(string(u.RunID), "-"), itoa(u.Calls),
			itoa(u.InputTokens), itoa(u.CachedInputTokens), itoa(u.OutputTokens), itoa(u.ReasoningTokens), cost(u.Usage),
		})
	}
	return sh.output.table(all, []string{"DAY", "AGENT", "MODEL", "RUN", "CALLS", "INPUT", "CACHED", "OUTPUT", "REASONING", "COST"}, rows...)
}
