package talk

import (
	"context"
	"os"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/chat/screen"
	"github.com/shoal-dev/shoal/internal/cli"
)

type ChatCommand struct {
	Space shoal.SpaceID `arg:"" optional:"" help:"The space; without it, the one where something waits for you, or else the newest."`
	Plain bool          `help:"Lines instead of a full screen, for screen readers and scripts; so it is anyway where no person sits at a terminal. /help there lists what can be typed."`
	Lines int           `help:"In lines: how many earlier messages to show first, at most 50." short:"n" default:"10"`
}

// Run talks until the person leaves or the input ends.
func (c *ChatCommand) Run(ctx context.Context, sh *cli.Shell) error {
	session, as, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	if as == "" {
		return shoal.E("", cli.KindUsage, "chat needs to know who speaks: name the entity with --as ID")
	}
	if err := c.checkReachable(ctx, session); err != nil {
		return err
	}
	in, atTerminal := sh.In.(*os.File)
	out, toTerminal := sh.Output.Out.(*os.File)
	atTerminal = atTerminal && cli.IsTerminal(in)
	if full := atTerminal && toTerminal && sh.Output.Terminal && os.Getenv("TERM") != "dumb"; full && !c.Plain && !sh.Output.JSON && !sh.Output.Quiet {
		return screen.Run(ctx, screen.Options{Session: session, Me: as, Space: c.Space, First: app.Welcome, In: in, Out: out})
	}
	return newLineChat(sh, session, as, c, atTerminal).run(ctx)
}

// checkReachable asks for the space before anything is shown, so that what is wrong with it,
// with the key or with the server is told as everywhere.
func (c *ChatCommand) checkReachable(ctx context.Context, session *client.Session) error {
	if c.Space != "" {
		_, err := session.Space(ctx, c.Space)
		return err
	}
	for _, err := range session.Spaces(ctx) {
		return err
	}
	return nil
}
