package agents

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

// PlansCommand is shoal plans. A plan is a schedule.
type PlansCommand struct {
	List   plansListCmd   `cmd:"" name:"ls" aliases:"list" default:"withargs" help:"List the schedules (plans) of hosted agents."`
	Add    plansAddCmd    `cmd:"" help:"Schedule runs of a hosted agent, once or repeatedly."`
	Remove plansRemoveCmd `cmd:"" name:"rm" help:"Delete plans."`
}

var planHead = []string{"ID", "AGENT", "NAME", "WHEN", "STATUS", "NEXT", "LAST", "RUN"}

func planRow(o *cli.Output, p shoal.Plan) []string {
	when := o.FormatTime(p.ScheduledAt, "-")
	if p.Cron != nil {
		when = *p.Cron + " " + p.TimeZone
	}
	return []string{
		string(p.ID), string(p.AgentID), p.Name, when, string(p.Status), o.FormatTime(p.NextRunAt, "never"), o.FormatTime(p.LastRunAt, "never"), cli.IDOrDash(p.LastRunID),
	}
}

type plansListCmd struct {
	Agent shoal.EntityID `arg:"" optional:"" help:"The agent (default: every hosted agent)." complete:"hosted"`
}

// Run lists the plans of an agent, or of all.
func (c *plansListCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	of := []shoal.EntityID{c.Agent}
	if c.Agent == "" {
		of = nil
		for a, err := range session.Agents(ctx) {
			if err != nil {
				return err
			}
			of = append(of, a.ID)
		}
	}
	all := cli.List[shoal.Plan]{Items: []shoal.Plan{}}
	for _, agent := range of {
		some, err := cli.Collect(session.Plans(ctx, agent))
		if err != nil {
			return err
		}
		all.Items = append(all.Items, some.Items...)
	}
	var rows [][]string
	for _, p := range all.Items {
		rows = append(rows, planRow(sh.Output, p))
	}
	return cli.PrintList[shoal.PlanID](sh, all, planHead, rows...)
}

type plansAddCmd struct {
	Agent       shoal.EntityID `arg:"" help:"The agent." complete:"hosted"`
	Name        string         `arg:"" help:"The name of the plan; the agent sees it."`
	Cron        string         `help:"Run repeatedly: minute, hour, day, month and weekday, such as '0 9 * * 1-5'." xor:"when" required:"" placeholder:"CRON"`
	At          string         `help:"Run once: after a duration such as 90m or 2d, or at a time such as 2027-01-31T09:00:00Z." xor:"when" required:"" placeholder:"WHEN"`
	TimeZone    string         `help:"The time zone of --cron, such as Europe/Berlin (default: UTC)." placeholder:"ZONE"`
	Instruction string         `help:"What the agent has to do." placeholder:"TEXT"`
	Description string         `help:"What the plan is for." placeholder:"TEXT"`
}

// Run creates a plan and prints it.
func (c *plansAddCmd) Run(ctx context.Context, sh *cli.Shell) error {
	n := shoal.NewPlan{Name: c.Name, Description: c.Description, Instruction: c.Instruction, TimeZone: c.TimeZone}
	if c.Cron != "" {
		n.Cron = &c.Cron
	} else {
		at, err := cli.ParseTime("--at", c.At, time.Now(), 1)
		if err != nil {
			return err
		}
		n.ScheduledAt = &at
	}
	if err := n.Validate(); err != nil {
		return err
	}
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	made, err := session.CreatePlan(ctx, c.Agent, n)
	if err != nil {
		return err
	}
	return sh.Output.PrintTable(made, planHead, planRow(sh.Output, made))
}

type plansRemoveCmd struct {
	ID []shoal.PlanID `arg:"" help:"The plans."`
}

// Run deletes the plans in order. It stops at the first error.
func (c *plansRemoveCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	for _, id := range c.ID {
		if err := session.DeletePlan(ctx, id); err != nil {
			return err
		}
		sh.Output.Note("%s was deleted", id)
	}
	return nil
}
