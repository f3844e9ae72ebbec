package main

import (
	"context"

	"github.com/shoal-dev/shoal"
)

type messagesCmd struct {
	Get    messagesGetCmd    `cmd:"" help:"Show a message."`
	Remove messagesRemoveCmd `cmd:"" name:"rm" help:"Delete messages: what they say is erased, also where hosted agents have read it. Yours, those of agents that you own, and as admin or owner of the session all."`
}

type messagesGetCmd struct {
	ID shoal.MessageID `arg:"" help:"The message."`
}

// Run shows a message.
func (c *messagesGetCmd) Run(ctx context.Context, sh *shell) error {
	session, _, err := sh.connect(ctx)
	if err != nil {
		return err
	}
	m, err := session.Message(ctx, c.ID)
	if err != nil {
		return err
	}
	if sh.output.json {
		return sh.output.object(m)
	}
	return sh.output.message(m, true)
}

type messagesRemoveCmd struct {
	ID []shoal.MessageID `arg:"" help:"The messages."`
}

// Run deletes messages, one after the other.
func (c *messagesRemoveCmd) Run(ctx context.Context, sh *shell) error {
	session, _, err := sh.connect(ctx)
	if err != nil {
		return err
	}
	for _, id := range c.ID {
		if err := session.DeleteMessage(ctx, id); err != nil {
			return err
		}
		sh.output.note("message %s is deleted", id)
	}
	return nil
}
