package talk

import (
	"context"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/view"
)

// MessagesCommand is shoal messages.
type MessagesCommand struct {
	Get     messagesGetCmd     `cmd:"" help:"Show a message, and what became of its mentions of agents."`
	Edit    messagesEditCmd    `cmd:"" help:"Edit one of your messages. Nobody is notified again; earlier versions stay readable."`
	History messagesHistoryCmd `cmd:"" help:"Show the earlier versions of an edited message, newest first."`
	React   messagesReactCmd   `cmd:"" help:"React to a message with an emoji, or remove a reaction."`
	Remove  messagesRemoveCmd  `cmd:"" name:"rm" help:"Delete messages. Their content is erased, also in the history of hosted agents. You can delete your own messages and those of agents that you own; moderators of a space, admins and owners of the session can delete all."`
}

type messagesGetCmd struct {
	ID shoal.MessageID `arg:"" help:"The message."`
}

// Run shows a message.
func (c *messagesGetCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	m, err := session.Message(ctx, c.ID)
	if err != nil {
		return err
	}
	if sh.Output.JSON {
		return sh.Output.PrintObject(m)
	}
	if err := view.PrintMessage(sh.Output, m, true); err != nil || len(m.Mentions) == 0 || sh.Output.Quiet {
		return err
	}
	receipts, err := session.Receipts(ctx, c.ID)
	noteReceipts(sh.Output, receipts)
	return err
}

type messagesEditCmd struct {
	ID      shoal.MessageID  `arg:"" help:"The message."`
	Text    []string         `arg:"" optional:"" help:"The new text."`
	File    string           `help:"Read the text from this file; - for standard input." short:"f" placeholder:"FILE"`
	Mention []shoal.EntityID `help:"Replace the mentions by these members. Nobody is woken." short:"m" placeholder:"ID"`
}

// Run edits a message.
func (c *messagesEditCmd) Run(ctx context.Context, sh *cli.Shell) error {
	text, err := messageText(sh.In, c.Text, c.File)
	if err != nil {
		return err
	}
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	m, err := session.EditMessage(ctx, c.ID, shoal.MessageEdit{Parts: []shoal.Part{shoal.Text(text)}, Mentions: c.Mention})
	if err != nil {
		return err
	}
	if sh.Output.JSON {
		return sh.Output.PrintObject(m)
	}
	sh.Output.Note("message %s is edited", m.ID)
	return nil
}

type messagesHistoryCmd struct {
	ID shoal.MessageID `arg:"" help:"The message."`
}

// Run shows the earlier versions of a message.
func (c *messagesHistoryCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	var all []shoal.MessageVersion
	var rows [][]string
	for v, err := range session.MessageVersions(ctx, c.ID) {
		if err != nil {
			return err
		}
		all = append(all, v)
		rows = append(rows, []string{cli.Itoa(v.Version), sh.Output.FormatTime(&v.At, "-"), view.MessageText(shoal.Message{Parts: v.Parts})})
	}
	return sh.Output.PrintTable(all, []string{"VERSION", "SINCE", "TEXT"}, rows...)
}

type messagesReactCmd struct {
	ID     shoal.MessageID `arg:"" help:"The message."`
	Emoji  string          `arg:"" help:"One emoji."`
	Remove bool            `help:"Remove the reaction."`
}

// Run adds or removes a reaction.
func (c *messagesReactCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	apply := session.React
	if c.Remove {
		apply = session.Unreact
	}
	m, err := apply(ctx, c.ID, c.Emoji)
	if err != nil {
		return err
	}
	return printReactions(sh.Output, m)
}

// printReactions prints the reactions to a message.
func printReactions(o *cli.Output, m shoal.Message) error {
	rows := make([][]string, len(m.Reactions))
	for i, r := range m.Reactions {
		rows[i] = []string{r.Emoji, cli.JoinIDs(r.EntityIDs, "", ",")}
	}
	return o.PrintTable(m, []string{"EMOJI", "ENTITIES"}, rows...)
}

type messagesRemoveCmd struct {
	ID []shoal.MessageID `arg:"" help:"The messages."`
}

// Run deletes the messages in order. It stops at the first error.
func (c *messagesRemoveCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	for _, id := range c.ID {
		if err := session.DeleteMessage(ctx, id); err != nil {
			return err
		}
		sh.Output.Note("message %s is deleted", id)
	}
	return nil
}
