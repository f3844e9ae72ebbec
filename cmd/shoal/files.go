package main

import (
	"context"

	"github.com/shoal-dev/shoal"
)

type filesCmd struct {
	Remove filesRemoveCmd `cmd:"" name:"rm" help:"Delete files: those that you uploaded, those of agents that you own, and as admin or owner of the session all."`
}

type filesRemoveCmd struct {
	ID []shoal.FileID `arg:"" help:"The files: the last piece of their url in a message."`
}

// Run deletes files, one after the other.
func (c *filesRemoveCmd) Run(ctx context.Context, sh *shell) error {
	session, _, err := sh.connect(ctx)
	if err != nil {
		return err
	}
	for _, id := range c.ID {
		if err := session.DeleteFile(ctx, id); err != nil {
			return err
		}
		sh.output.note("file %s is deleted", id)
	}
	return nil
}
