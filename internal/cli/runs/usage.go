package runs

import (
	"cmp"
	"context"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
)

// UsageCommand is shoal usage.
type UsageCommand struct {
	By    []string       `help:"Group by: day, agent, model, run." enum:"day,agent,model,run" default:"day,agent,model" placeholder:"NAME"`
	Agent shoal.EntityID `help:"Only usage of this agent." placeholder:"ID" complete:"hosted"`
	Of    shoal.RunID    `name:"run" help:"Only usage of this run." placeholder:"ID"`
	Since string         `help:"Only usage since then: 12h, 30d or a time such as 2027-01-31T00:00:00Z." placeholder:"WHEN"`
}

// Run prints the usage of model calls.
func (c *UsageCommand) Run(ctx context.Context, sh *cli.Shell) error {
	o := client.UsageOptions{By: c.By, Agent: c.Agent, Run: c.Of}
	if c.Since != "" {
		from, err := cli.ParseTime("--since", c.Since, time.Now(), -1)
		if err != nil {
			return err
		}
		o.From = &from
	}
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	all, err := cli.Collect(session.Usage(ctx, o))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, u := range all.Items {
		rows = append(rows, []string{
			cmp.Or(u.Day, "-"), cmp.Or(string(u.AgentID), "-"), cmp.Or(u.Model, "-"), cmp.Or(string(u.RunID), "-"), cli.Itoa(u.Calls),
			cli.Itoa(u.InputTokens), cli.Itoa(u.CachedInputTokens), cli.Itoa(u.OutputTokens), cli.Itoa(u.ReasoningTokens), cost(u.Usage),
		})
	}
	return sh.Output.PrintTable(all, []string{"DAY", "AGENT", "MODEL", "RUN", "CALLS", "INPUT", "CACHED", "OUTPUT", "REASONING", "COST"}, rows...)
}
