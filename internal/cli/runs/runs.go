// Package runs has the commands for runs of hosted agents, for the approvals that runs wait
// for, and for what runs cost.
package runs

import (
	"context"
	"strconv"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
)

type Command struct {
	List   runsListCmd   `cmd:"" name:"ls" aliases:"list" default:"withargs" help:"List runs, the newest first."`
	Get    runsGetCmd    `cmd:"" aliases:"show" help:"Show a run and what it did: its steps and their tool calls; or what the model saw of one step."`
	Cancel runsCancelCmd `cmd:"" help:"End runs."`
	Retry  runsRetryCmd  `cmd:"" help:"Start a run that has ended again: the same agent, for the same reason."`
	Tail   runsTailCmd   `cmd:"" help:"Follow a run until it ends; exits with 8 if it failed, with 9 if a person said no."`
}

var runHead = []string{"ID", "AGENT", "STATUS", "TRIGGER", "STEPS", "TOKENS", "COST", "CREATED", "TOOK"}

func runRow(o *cli.Output, r shoal.Run) []string {
	return []string{
		string(r.ID), string(r.AgentID), string(r.Status), triggerName(r.Trigger), strconv.Itoa(r.Steps) + "/" + strconv.Itoa(r.MaxSteps),
		tokens(r.Usage), cost(r.Usage), o.FormatTime(&r.CreatedAt, "-"), elapsed(r.StartedAt, r.EndedAt),
	}
}

// triggerName says in few words what started a run.
func triggerName(t shoal.Trigger) string {
	switch t.Type {
	case shoal.SpaceMessageTrigger:
		return string(t.SpaceID) + "/" + string(t.SenderEntityID)
	case shoal.PlanTrigger:
		return "plan " + t.PlanName
	}
	return "service " + t.ServiceName
}

func tokens(u shoal.Usage) string { return cli.Itoa(u.InputTokens) + "+" + cli.Itoa(u.OutputTokens) }

func cost(u shoal.Usage) string {
	if u.Cost == 0 {
		return "-"
	}
	return strconv.FormatFloat(u.Cost, 'f', 4, 64) + " " + u.Currency
}

// elapsed returns how long something went on, a dash if it has not ended.
func elapsed(from, to *shoal.Time) string {
	if from == nil || to == nil {
		return "-"
	}
	return to.Sub(from.Time).Round(time.Millisecond).String()
}

type runsListCmd struct {
	Agent  shoal.EntityID    `help:"Those of this agent only." placeholder:"ID" complete:"hosted"`
	Status []shoal.RunStatus `help:"Those in these states only: queued, running, waiting_tool, waiting_reply, completed, failed, canceled." enum:"queued,running,waiting_tool,waiting_reply,completed,failed,canceled" placeholder:"STATUS"`
	Space  shoal.SpaceID     `help:"Those that a message of this space started, or that wrote to it." placeholder:"ID"`
	Cause  shoal.TriggerType `name:"trigger" help:"Those that this started only: space_message, plan, service." enum:"space_message,plan,service," default:"" placeholder:"TYPE"`
	Since  string            `help:"Those from then on only: 12h, 30d or a time such as 2027-01-31T00:00:00Z." placeholder:"WHEN"`
	Until  string            `help:"Those before then only." placeholder:"WHEN"`
	Limit  int               `help:"How many, 0 for all." short:"n" default:"50"`
}

// Run lists runs.
func (c *runsListCmd) Run(ctx context.Context, sh *cli.Shell) error {
	o := client.RunsOptions{Agent: c.Agent, Status: c.Status, Trigger: c.Cause, Space: c.Space}
	for _, bound := range []struct {
		flag, given string
		to          **shoal.Time
	}{{"--since", c.Since, &o.Since}, {"--until", c.Until, &o.Until}} {
		if bound.given == "" {
			continue
		}
		at, err := cli.ParseTime(bound.flag, bound.given, time.Now(), -1)
		if err != nil {
			return err
		}
		*bound.to = &at
	}
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	all := cli.List[shoal.Run]{Items: []shoal.Run{}}
	var rows [][]string
	for r, err := range session.Runs(ctx, o) {
		if err != nil {
			return err
		}
		all.Items, rows = append(all.Items, r), append(rows, runRow(sh.Output, r))
		if c.Limit > 0 && len(rows) >= c.Limit {
			break
		}
	}
	return sh.Output.PrintTable(all, runHead, rows...)
}

type runsCancelCmd struct {
	ID []shoal.RunID `arg:"" help:"The runs."`
}

// Run cancels runs, one after the other, and prints how they ended.
func (c *runsCancelCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	var rows [][]string
	for _, id := range c.ID {
		r, err := session.CancelRun(ctx, id)
		if err != nil {
			return err
		}
		if sh.Output.JSON {
			if err := sh.Output.PrintObject(r); err != nil {
				return err
			}
		}
		if !r.Status.Ended() {
			sh.Output.Note("%s is being canceled; it has not ended yet", id)
		}
		rows = append(rows, runRow(sh.Output, r))
	}
	if sh.Output.JSON {
		return nil
	}
	return sh.Output.PrintTable(nil, runHead, rows...)
}

type runsRetryCmd struct {
	ID             shoal.RunID `arg:"" help:"The run."`
	IdempotencyKey string      `help:"Start one run, however often this is called with the same key." placeholder:"KEY"`
}

// Run starts a run again and prints the new one.
func (c *runsRetryCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	var options []client.CallOption
	if c.IdempotencyKey != "" {
		options = append(options, client.IdempotencyKey(c.IdempotencyKey))
	}
	started, err := session.RetryRun(ctx, c.ID, options...)
	if err != nil {
		return err
	}
	return sh.Output.PrintTable(started, startedHead, startedRow(started))
}

// startedHead and startedRow show a run that was just started.
var startedHead = []string{"RUN", "AGENT", "STATUS"}

func startedRow(r client.Triggered) []string {
	return []string{string(r.RunID), string(r.AgentID), string(r.Status)}
}
