package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

type runsCmd struct {
	List   runsListCmd   `cmd:"" name:"ls" aliases:"list" default:"withargs" help:"List runs, the newest first."`
	Get    runsGetCmd    `cmd:"" help:"Show a run and what it did: its steps and their tool calls."`
	Cancel runsCancelCmd `cmd:"" help:"End runs."`
	Tail   runsTailCmd   `cmd:"" help:"Follow a run until it ends; exits with 8 if it failed, with 9 if a person said no."`
}

var runHead = []string{"ID", "AGENT", "STATUS", "TRIGGER", "STEPS", "TOKENS", "COST", "CREATED", "TOOK"}

func runRow(r shoal.Run) []string {
	return []string{
		string(r.ID), string(r.AgentID), string(r.Status), trigger(r.Trigger), strconv.Itoa(r.Steps) + "/" + strconv.Itoa(r.MaxSteps),
		tokens(r.Usage), cost(r.Usage), r.CreatedAt.String(), took(r.StartedAt, r.EndedAt),
	}
}

// trigger says in few words what started a run.
func trigger(t shoal.Trigger) string {
	switch t.Type {
	case shoal.SpaceMessageTrigger:
		return string(t.SpaceID) + "/" + string(t.SenderEntityID)
	case shoal.PlanTrigger:
		return "plan " + t.PlanName
	}
	return "service " + t.ServiceName
}

func tokens(u shoal.Usage) string { return itoa(u.InputTokens) + "+" + itoa(u.OutputTokens) }

func cost(u shoal.Usage) string {
	if u.Cost == 0 {
		return "-"
	}
	return strconv.FormatFloat(u.Cost, 'f', 4, 64) + " " + u.Currency
}

// took returns how long something went on, a dash if it has not ended.
func took(from, to *shoal.Time) string {
	if from == nil || to == nil {
		return "-"
	}
	return to.Sub(from.Time).Round(time.Millisecond).String()
}

// runStates are the states that a run can be in.
var runStates = []shoal.RunStatus{
	shoal.RunQueued, shoal.RunRunning, shoal.RunWaitingTool, shoal.RunWaitingReply, shoal.RunCompleted, shoal.RunFailed, shoal.RunCanceled,
}

type runsListCmd struct {
	Agent  shoal.EntityID    `help:"Those of this agent only." placeholder:"ID"`
	Status []shoal.RunStatus `help:"Those in these states only: queued, running, waiting_tool, waiting_reply, completed, failed, canceled." placeholder:"STATUS"`
	Space  shoal.SpaceID     `help:"Those that a message of this space started, or that wrote to it." placeholder:"ID"`
	Limit  int               `help:"How many, 0 for all." short:"n" default:"50"`
}

// Run lists runs.
func (c *runsListCmd) Run(ctx context.Context, sh *shell) error {
	for _, status := range c.Status {
		if !slices.Contains(runStates, status) {
			return shoal.E("", kindUsage, fmt.Sprintf("no run is ever %q; --help lists the states", status))
		}
	}
	session, err := sh.overlook()
	if err != nil {
		return err
	}
	all := items[shoal.Run]{Items: []shoal.Run{}}
	var rows [][]string
	for r, err := range session.Runs(ctx, client.RunsOptions{Agent: c.Agent, Status: c.Status, Space: c.Space}) {
		if err != nil {
			return err
		}
		all.Items, rows = append(all.Items, r), append(rows, runRow(r))
		if c.Limit > 0 && len(rows) >= c.Limit {
			break
		}
	}
	return sh.output.table(all, runHead, rows...)
}

type runsCancelCmd struct {
	ID []shoal.RunID `arg:"" help:"The runs."`
}

// Run cancels runs, one after the other, and prints how they ended.
func (c *runsCancelCmd) Run(ctx context.Context, sh *shell) error {
	session, err := sh.overlook()
	if err != nil {
		return err
	}
	var rows [][]string
	for _, id := range c.ID {
		r, err := session.CancelRun(ctx, id)
		if err != nil {
			return err
		}
		if sh.output.json {
			if err := sh.output.object(r); err != nil {
				return err
			}
		}
		if !r.Status.Ended() {
			sh.output.note("%s is being canceled; it has not ended yet", id)
		}
		rows = append(rows, runRow(r))
	}
	if sh.output.json {
		return nil
	}
	return sh.output.table(nil, runHead, rows...)
}

// short is s in one line of at most n characters.
func short(s string, n int) string {
	cut := []rune(strings.TrimSpace(line(s)))
	if len(cut) <= n {
		return string(cut)
	}
	return string(cut[:n-1]) + "…"
}
