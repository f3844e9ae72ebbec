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

// ChatCommand is shoal chat.
type ChatCommand struct {
	Space shoal.SpaceID `arg:"" optional:"" help:"The space (default: one in which something is waiting for you, else the newest)."`
	Plain bool          `help:"Chat line by line instead of on the full screen, for screen readers and scripts. This is the default without a terminal. /help lists the commands."`
	Lines int           `help:"Line by line: how many earlier messages to show first, at most 50." short:"n" default:"10"`
}

// Run chats until the user quits or the input ends.
func (c *ChatCommand) Run(ctx context.Context, sh *cli.Shell) error {
	session, as, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	if as == "" {
		return shoal.E("", cli.KindUsage, "`shoal chat` has to act as an entity: name it with --as ID")
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

// checkReachable requests the space before anything is drawn, so that errors of the key, the
// server and the space are reported as by other commands.
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
