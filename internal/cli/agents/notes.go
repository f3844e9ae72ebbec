package agents

import (
	"context"
	"strconv"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

type agentsMemoriesCmd struct {
	List   agentsMemoriesListCmd   `cmd:"" name:"ls" aliases:"list" help:"List the memories of a hosted agent."`
	Remove agentsMemoriesRemoveCmd `cmd:"" name:"rm" help:"Delete memories of a hosted agent."`
	Clear  agentsMemoriesClearCmd  `cmd:"" help:"Delete all memories of a hosted agent."`
}

type agentsMemoriesListCmd struct {
	Agent shoal.EntityID `arg:"" help:"The agent." complete:"hosted"`
}

// Run lists memories.
func (c *agentsMemoriesListCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	all, err := cli.Collect(session.AgentMemories(ctx, c.Agent))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, m := range all.Items {
		rows = append(rows, []string{m.ID, m.Topic, sh.Output.FormatTime(&m.UpdatedAt, "-"), m.Content})
	}
	return sh.Output.PrintTable(all, []string{"ID", "TOPIC", "UPDATED", "CONTENT"}, rows...)
}

type agentsMemoriesRemoveCmd struct {
	Agent shoal.EntityID `arg:"" help:"The agent." complete:"hosted"`
	ID    []string       `arg:"" help:"The memories."`
}

// Run deletes the memories in order. It stops at the first error.
func (c *agentsMemoriesRemoveCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	for _, id := range c.ID {
		if err := session.DeleteAgentMemory(ctx, c.Agent, id); err != nil {
			return err
		}
		sh.Output.Note("memory %s of %s was deleted", id, c.Agent)
	}
	return nil
}

type agentsMemoriesClearCmd struct {
	Agent shoal.EntityID `arg:"" help:"The agent." complete:"hosted"`
}

// Run deletes all memories.
func (c *agentsMemoriesClearCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	if err := session.ClearAgentMemories(ctx, c.Agent); err != nil {
		return err
	}
	sh.Output.Note("all memories of %s were deleted", c.Agent)
	return nil
}

type agentsGoalsCmd struct {
	List   agentsGoalsListCmd   `cmd:"" name:"ls" aliases:"list" help:"List the goals of a hosted agent."`
	Remove agentsGoalsRemoveCmd `cmd:"" name:"rm" help:"Delete goals of a hosted agent."`
	Clear  agentsGoalsClearCmd  `cmd:"" help:"Delete all goals of a hosted agent."`
}

type agentsGoalsListCmd struct {
	Agent shoal.EntityID `arg:"" help:"The agent." complete:"hosted"`
}

// Run lists goals.
func (c *agentsGoalsListCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	all, err := cli.Collect(session.AgentGoals(ctx, c.Agent))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, g := range all.Items {
		state := "open"
		if g.IsCompleted {
			state = "completed"
		}
		rows = append(rows, []string{g.ID, strconv.Itoa(g.Priority), state, sh.Output.FormatTime(&g.UpdatedAt, "-"), g.Description})
	}
	return sh.Output.PrintTable(all, []string{"ID", "PRIORITY", "STATE", "UPDATED", "DESCRIPTION"}, rows...)
}

type agentsGoalsRemoveCmd struct {
	Agent shoal.EntityID `arg:"" help:"The agent." complete:"hosted"`
	ID    []string       `arg:"" help:"The goals."`
}

// Run deletes the goals in order. It stops at the first error.
func (c *agentsGoalsRemoveCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	for _, id := range c.ID {
		if err := session.DeleteAgentGoal(ctx, c.Agent, id); err != nil {
			return err
		}
		sh.Output.Note("goal %s of %s was deleted", id, c.Agent)
	}
	return nil
}

type agentsGoalsClearCmd struct {
	Agent shoal.EntityID `arg:"" help:"The agent." complete:"hosted"`
}

// Run deletes all goals.
func (c *agentsGoalsClearCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	if err := session.ClearAgentGoals(ctx, c.Agent); err != nil {
		return err
	}
	sh.Output.Note("all goals of %s were deleted", c.Agent)
	return nil
}
