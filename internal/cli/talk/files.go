package talk

import (
	"context"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

// FilesCommand is shoal files.
type FilesCommand struct {
	Remove filesRemoveCmd `cmd:"" name:"rm" help:"Delete files. You can delete your own files and those of agents that you own; admins and owners of the session can delete all."`
}

type filesRemoveCmd struct {
	ID []shoal.FileID `arg:"" help:"The file ids: the last segment of their URL in a message."`
}

// Run deletes the files in order. It stops at the first error.
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
