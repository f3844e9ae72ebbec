package server

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/shoal-dev/shoal"
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
	if err := browse(ctx, link.URL); err != nil {
		return err
	}
	sh.Output.Note("the console is opened in your browser")
	return nil
}

// browse opens an address in a browser and does not wait until that ends.
func browse(ctx context.Context, address string) error {
	program := browser()
	command := exec.CommandContext(context.WithoutCancel(ctx), program[0], append(program[1:], address)...)
	if err := command.Start(); err != nil {
		return &shoal.Error{
			Kind: shoal.NotFound, Err: err,
			Msg: fmt.Sprintf("no browser could be started with %s: name one in the variable BROWSER, or leave --open out and open the printed link yourself", program[0]),
		}
	}
	return command.Process.Release()
}

// browser is the command that opens an address.
func browser() []string {
	if chosen := strings.Fields(os.Getenv("BROWSER")); len(chosen) > 0 {
		return chosen
	}
	switch runtime.GOOS {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}
