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

// Command is shoal runs.
type Command struct {
	List   runsListCmd   `cmd:"" name:"ls" aliases:"list" default:"withargs" help:"List runs, newest first."`
	Get    runsGetCmd    `cmd:"" aliases:"show" help:"Show a run with its steps and tool calls, or the model request of one step."`
	Cancel runsCancelCmd `cmd:"" help:"Cancel runs."`
	Retry  runsRetryCmd  `cmd:"" help:"Start a new run of the same agent with the same trigger as an ended one."`
	Tail   runsTailCmd   `cmd:"" help:"Follow a run until it ends. Exits with 8 if it failed, and with 9 if a person denied a request."`
}

var runHead = []string{"ID", "AGENT", "STATUS", "TRIGGER", "STEPS", "TOKENS", "COST", "CREATED", "TOOK"}

func runRow(o *cli.Output, r shoal.Run) []string {
	return []string{
		string(r.ID), string(r.AgentID), status(r), triggerName(r.Trigger), strconv.Itoa(r.Steps) + "/" + strconv.Itoa(r.MaxSteps),
		tokens(r.Usage), cost(r.Usage), o.FormatTime(&r.CreatedAt, "-"), elapsed(r.StartedAt, r.EndedAt),
	}
}

// status names the state of a run, and the limit at which it had to answer.
func status(r shoal.Run) string {
	if r.LimitReached == "" {
		return string(r.Status)
	}
	return string(r.Status) + " at " + r.LimitReached
}

// triggerName names what started a run.
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

// elapsed returns the time between two times, or a dash if one is nil.
func elapsed(from, to *shoal.Time) string {
	if from == nil || to == nil {
		return "-"
	}
	return to.Sub(from.Time).Round(time.Millisecond).String()
}

type runsListCmd struct {
	Agent  shoal.EntityID    `help:"Only runs of this agent." placeholder:"ID" complete:"hosted"`
	Status []shoal.RunStatus `help:"Only runs in these states: queued, running, waiting_tool, waiting_reply, completed, failed, canceled." enum:"queued,running,waiting_tool,waiting_reply,completed,failed,canceled" placeholder:"STATUS"`
	Space  shoal.SpaceID     `help:"Only runs that a message of this space started or that wrote to it." placeholder:"ID"`
	Cause  shoal.TriggerType `name:"trigger" help:"Only runs with this trigger: space_message, plan, service." enum:"space_message,plan,service," default:"" placeholder:"TYPE"`
	Since  string            `help:"Only runs since then: 12h, 30d or a time such as 2027-01-31T00:00:00Z." placeholder:"WHEN"`
	Until  string            `help:"Only runs before then." placeholder:"WHEN"`
	Limit  int               `help:"The maximum number of runs; 0 for all." short:"n" default:"50"`
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
	return cli.PrintList[shoal.RunID](sh, all, runHead, rows...)
}

type runsCancelCmd struct {
	ID []shoal.RunID `arg:"" help:"The runs."`
}

// Run cancels the runs in order and prints them. It stops at the first error.
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
			sh.Output.Note("%s is being canceled and has not ended yet", id)
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
	IdempotencyKey string      `help:"Start only one run for all calls with the same key." placeholder:"KEY"`
}

// Run starts a new run and prints it.
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

// startedHead is the header of a table with a new run.
var startedHead = []string{"RUN", "AGENT", "STATUS"}

func startedRow(r client.TriggeredRun) []string {
	return []string{string(r.RunID), string(r.AgentID), string(r.Status)}
}
