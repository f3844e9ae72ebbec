// Package agents has the commands for hosted agents: their configurations, schedules,
// conversations, memories and goals.
package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/runs"
	"github.com/shoal-dev/shoal/internal/safetext"
)

// Command is shoal agents.
type Command struct {
	List          agentsListCmd          `cmd:"" name:"ls" aliases:"list" default:"withargs" help:"List the participants of the session, including people."`
	Apply         agentsApplyCmd         `cmd:"" help:"Create or update hosted agents from configuration files."`
	Get           agentsGetCmd           `cmd:"" help:"Show the configuration of a hosted agent."`
	Versions      agentsVersionsCmd      `cmd:"" help:"List the versions of a hosted agent's configuration, newest first."`
	Preview       agentsPreviewCmd       `cmd:"" help:"Show the first model request of a run of a hosted agent, without running it."`
	Remove        agentsRemoveCmd        `cmd:"" name:"rm" help:"Delete the configuration of hosted agents. Their runs are canceled; the agents remain as connected agents."`
	Memories      agentsMemoriesCmd      `cmd:"" help:"List or delete the memories of a hosted agent."`
	Goals         agentsGoalsCmd         `cmd:"" help:"List or delete the goals of a hosted agent."`
	Conversations agentsConversationsCmd `cmd:"" help:"List, show or clear the conversations of a hosted agent with its model."`
	Trigger       runs.TriggerCommand    `cmd:"" help:"Start a run of a hosted agent without a message."`
}

type agentsListCmd struct {
	Hosted bool `help:"List only hosted agents, with the versions of their configurations."`
}

// Run lists the entities of the session, or the hosted agents.
func (c *agentsListCmd) Run(ctx context.Context, sh *cli.Shell) error {
	if c.Hosted {
		return listHosted(ctx, sh)
	}
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	all, err := cli.Collect(session.Entities(ctx))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, e := range all.Items {
		rows = append(rows, []string{string(e.ID), e.Name, string(e.Kind), string(e.State), wakeCell(e.Wake), sh.Output.FormatTime(e.LastSeenAt, "never"), e.Description})
	}
	return sh.Output.PrintTable(all, []string{"ID", "NAME", "KIND", "STATE", "WAKE", "SEEN", "DESCRIPTION"}, rows...)
}

// wakeCell returns how a mention reaches an agent: the state, and the program that wakes it or what
// hinders it.
func wakeCell(w *shoal.Wake) string {
	if w == nil {
		return "-"
	}
	var details []string
	switch {
	case w.State == shoal.ReachUnknown:
		details = append(details, w.Text)
	case w.Since != nil && w.Runner != nil:
		details = append(details, *w.Via+" "+*w.Runner)
	case w.Via != nil:
		details = append(details, *w.Via)
	}
	if w.Reason != "" && w.State != shoal.ReachUnknown {
		details = append(details, w.Reason)
	}
	if w.Proof != nil {
		details = append(details, w.Proof.String())
	}
	if len(details) == 0 {
		return string(w.State)
	}
	return fmt.Sprintf("%s (%s)", w.State, strings.Join(details, "; "))
}

func listHosted(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	all, err := cli.Collect(session.Agents(ctx))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, a := range all.Items {
		var config struct {
			Model  struct{ Provider, Name string }
			Remote *struct{}
		}
		_ = json.Unmarshal(a.Config, &config) // missing fields stay empty
		if config.Remote != nil {
			config.Model.Provider, config.Model.Name = "remote", "-"
		}
		rows = append(rows, []string{
			string(a.ID), strconv.Itoa(a.Version), config.Model.Provider, config.Model.Name, sh.Output.FormatTime(&a.CreatedAt, "-"), a.Hash,
		})
	}
	return sh.Output.PrintTable(all, []string{"ID", "VERSION", "PROVIDER", "MODEL", "APPLIED", "HASH"}, rows...)
}

type agentsGetCmd struct {
	ID      shoal.EntityID `arg:"" help:"The agent." complete:"hosted"`
	Version int            `help:"The version (default: the newest)." placeholder:"N" env:"-"`
}

// Run prints a configuration as JSON that agents apply accepts.
func (c *agentsGetCmd) Run(ctx context.Context, sh *cli.Shell) error {
	if c.Version < 0 {
		return shoal.E("", cli.KindUsage, "--version must be at least 1")
	}
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	a, err := session.Agent(ctx, c.ID, c.Version)
	if err != nil {
		return err
	}
	switch {
	case sh.Output.JSON:
		return sh.Output.PrintObject(a)
	case sh.Output.Quiet:
		return sh.Output.Write(safetext.Line(string(a.ID)) + "\n")
	}
	var config bytes.Buffer
	if err := json.Indent(&config, a.Config, "", "  "); err != nil {
		return &shoal.Error{Kind: shoal.Internal, Msg: fmt.Sprintf("the configuration of %s cannot be read", c.ID), Err: err}
	}
	sh.Output.Note("%s has had version %d since %s", a.ID, a.Version, a.CreatedAt)
	return sh.Output.PrintText(cli.EscapeJSON(config.String()))
}

type agentsRemoveCmd struct {
	ID []shoal.EntityID `arg:"" help:"The agents." complete:"hosted"`
}

// Run deletes the configurations in order. It stops at the first error.
func (c *agentsRemoveCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	for _, id := range c.ID {
		if err := session.DeleteAgent(ctx, id); err != nil {
			return err
		}
		sh.Output.Note("the configuration of %s was deleted; it is a connected agent now", id)
	}
	return nil
}
