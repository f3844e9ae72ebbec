package runner

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

// ListCommand is shoal runners.
type ListCommand struct {
	List   listCmd   `cmd:"" name:"ls" aliases:"list" default:"withargs" help:"List the runners, and what each reports that its agents may do."`
	Remove removeCmd `cmd:"" name:"rm" help:"Remove runners: their keys are revoked, and they end."`
}

var head = []string{"RUNNER", "STATE", "SEEN", "VERSION", "AGENT", "KIND", "MODE", "DIRECTORY", "WORKS FOR", "APPROVED BY", "LIMITS"}

type listCmd struct{}

// Run lists the runners, a row for each of their agents.
func (*listCmd) Run(ctx context.Context, sh *cli.Shell) error {
	s, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	all, err := cli.Collect(s.Runners(ctx))
	if err != nil {
		return err
	}
	if len(all.Items) == 0 && !sh.Output.JSON {
		sh.Output.Note("no runner yet; start one on the machine of a coding agent: `shoal runner claude-code --dir DIR`")
	}
	var rows [][]string
	for _, r := range all.Items {
		for _, a := range r.Agents {
			rows = append(rows, row(r.ID, a))
		}
	}
	return sh.Output.PrintTable(all, head, rows...)
}

func row(id shoal.RunnerID, a shoal.RunnerAgent) []string {
	r := a.Report
	state, dir := "offline", r.Dir
	switch {
	case r.Problem != "" && a.Online:
		state = "online: " + r.Problem
	case a.Online:
		state = "online"
	case r.Stopped:
		state = "stopped"
	}
	if r.Worktree {
		dir += " (working trees)"
	}
	return []string{
		string(id), state, shoal.Roughly(time.Since(a.SeenAt.Time)) + " ago", r.Version, string(a.AgentID), r.Kind, r.Mode, dir,
		strings.Join(r.RespondTo, ", "), strings.Join(r.Approve, ", "), limits(r),
	}
}

// limits says in words how much an agent may use.
func limits(r shoal.RunnerReport) string {
	var all []string
	if r.MaxTurnsPerHour > 0 {
		all = append(all, fmt.Sprintf("%d turns an hour", r.MaxTurnsPerHour))
	}
	if r.MaxTokensPerDay > 0 {
		all = append(all, fmt.Sprintf("%d tokens a day", r.MaxTokensPerDay))
	}
	if r.MaxCostPerDay > 0 {
		all = append(all, fmt.Sprintf("%.2f dollars a day", r.MaxCostPerDay))
	}
	return strings.Join(all, ", ")
}

type removeCmd struct {
	ID []shoal.RunnerID `arg:"" help:"The runners."`
}

// Run removes the runners in order. It stops at the first error.
func (c *removeCmd) Run(ctx context.Context, sh *cli.Shell) error {
	s, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	for _, id := range c.ID {
		if err := s.RemoveRunner(ctx, id); err != nil {
			return err
		}
		sh.Output.Note("the runner %s is removed: its keys do not work any more", id)
	}
	return nil
}
