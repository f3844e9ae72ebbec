package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

// EraseCommand is shoal erase.
type EraseCommand struct {
	ID  shoal.EntityID `arg:"" help:"The id of the person or agent." complete:"entity"`
	Yes bool           `help:"Erase it; without this the command only says what it would erase." short:"y" env:"-"`
}

// Run erases an entity.
func (c *EraseCommand) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%q, which is deleted already,", c.ID)
	switch e, err := session.Entity(ctx, c.ID); {
	case err == nil:
		name = fmt.Sprintf("%s (@%s)", e.Name, e.ID)
	case !errors.Is(err, shoal.NotFound):
		return err
	case !c.Yes:
		return shoal.E("", cli.KindUsage, fmt.Sprintf("no participant has the id %q now: if it was deleted, add --yes to erase what remains of it", c.ID))
	}
	if !c.Yes {
		return shoal.E("", cli.KindUsage, fmt.Sprintf("this would delete %s and erase for ever the name, the keys, and everything that it has said, uploaded and answered: add --yes to do so", name))
	}
	if err := session.EraseEntity(ctx, c.ID); err != nil {
		return err
	}
	sh.Output.Note("%s is erased; the id remains in place of the name", name)
	return nil
}
