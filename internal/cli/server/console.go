package server

import (
	"context"

	"github.com/shoal-dev/shoal/internal/cli"
)

// ConsoleCommand is shoal console.
type ConsoleCommand struct {
	Open bool `help:"Open it in a browser: $BROWSER, or the one that this machine opens addresses with."`
}

var consoleHead = []string{"URL", "WORKS UNTIL"}

// Run prints a new link, and opens it if that is asked for.
func (c *ConsoleCommand) Run(ctx context.Context, sh *cli.Shell) error {
	server, err := sh.Client()
	if err != nil {
		return err
	}
	link, err := server.ConsoleLink(ctx)
	if err != nil {
		return err
	}
	if !c.Open {
		return sh.Output.PrintTable(link, consoleHead, []string{link.URL, sh.Output.FormatTime(link.ExpiresAt, "-")})
	}
	// The link is not printed: a reader of the output could open it first.
	if err := cli.Browse(ctx, link.URL); err != nil {
		return err
	}
	sh.Output.Note("the console is opened in your browser")
	return nil
}
