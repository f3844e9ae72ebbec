package agents

import (
	"context"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/view"
)

type agentsConversationsCmd struct {
	List   agentsConversationsListCmd   `cmd:"" name:"ls" aliases:"list" help:"List the conversations of a hosted agent: one for each space, plan and service."`
	Get    agentsConversationsGetCmd    `cmd:"" help:"Show what the agent and its model said, oldest run first."`
	Remove agentsConversationsRemoveCmd `cmd:"" name:"rm" help:"Clear conversations of a hosted agent. Later runs start without that history."`
}

type agentsConversationsListCmd struct {
	Agent shoal.EntityID `arg:"" help:"The agent." complete:"hosted"`
}

// Run lists conversations.
func (c *agentsConversationsListCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	all, err := cli.Collect(session.AgentConversations(ctx, c.Agent))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, v := range all.Items {
		active := "-"
		if v.ActiveRunID != nil {
			active = string(*v.ActiveRunID)
		}
		rows = append(rows, []string{v.ID, sh.Output.FormatTime(v.LastRunAt, "-"), active})
	}
	return sh.Output.PrintTable(all, []string{"ID", "LAST RUN", "ACTIVE RUN"}, rows...)
}

type agentsConversationsGetCmd struct {
	Agent shoal.EntityID `arg:"" help:"The agent." complete:"hosted"`
	ID    string         `arg:"" help:"The conversation: the id of a space, plan:ID or service:NAME."`
	Runs  int            `help:"How many of the newest runs to show." default:"20" placeholder:"N"`
}

// Run shows a conversation.
func (c *agentsConversationsGetCmd) Run(ctx context.Context, sh *cli.Shell) error {
	if c.Runs < 1 {
		return shoal.E("", cli.KindUsage, "--runs must be at least 1")
	}
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	shown := cli.List[shoal.ConversationRun]{Items: []shoal.ConversationRun{}}
	for r, err := range session.AgentConversation(ctx, c.Agent, c.ID) {
		if err != nil {
			return err
		}
		if shown.Items = append(shown.Items, r); len(shown.Items) == c.Runs {
			break
		}
	}
	slices.Reverse(shown.Items)
	if sh.Output.JSON {
		return sh.Output.PrintObject(shown)
	}
	var b strings.Builder
	for _, r := range shown.Items {
		b.WriteString("# " + string(r.RunID) + ", ended " + sh.Output.FormatTime(r.EndedAt, "-") + "\n")
		b.WriteString(view.FormatModelMessages(r.Messages))
		if r.Summary != nil {
			b.WriteString(view.Heading("summary") + *r.Summary + "\n")
		}
		b.WriteString("\n")
	}
	return sh.Output.PrintText(b.String())
}

type agentsConversationsRemoveCmd struct {
	Agent shoal.EntityID `arg:"" help:"The agent." complete:"hosted"`
	ID    []string       `arg:"" help:"The conversations: ids of spaces, plan:ID or service:NAME."`
}

// Run clears the conversations in order. It stops at the first error.
func (c *agentsConversationsRemoveCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	for _, id := range c.ID {
		if err := session.ClearAgentConversation(ctx, c.Agent, id); err != nil {
			return err
		}
		sh.Output.Note("conversation %s of %s was cleared", id, c.Agent)
	}
	return nil
}
