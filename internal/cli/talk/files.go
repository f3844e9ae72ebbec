package talk

import (
	"context"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

type FilesCommand struct {
	Remove filesRemoveCmd `cmd:"" name:"rm" help:"Delete files: those that you uploaded, those of agents that you own, and as admin or owner of the session all."`
}

type filesRemoveCmd struct {
	ID []shoal.FileID `arg:"" help:"The files: the last piece of their url in a message."`
}

// Run deletes files, one after the other.
func (c *filesRemoveCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	for _, id := range c.ID {
		if err := session.DeleteFile(ctx, id); err != nil {
			return err
		}
		sh.Output.Note("file %s is deleted", id)
	}
	return nil
}
