package connect

import (
	"context"
	"errors"
	"os"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/mcpbridge"
)

// MCPCommand is shoal mcp.
type MCPCommand struct {
	Space []shoal.SpaceID `help:"First add the acting entity to these spaces; requires an admin key or the key of a member." placeholder:"ID"`
}

// Run forwards MCP messages between the standard streams and the server until standard input
// ends. It writes nothing else to standard output.
func (c *MCPCommand) Run(ctx context.Context, sh *cli.Shell) error {
	as, err := sh.Actor(ctx)
	if err != nil && !errors.Is(err, client.ErrUnreachable) { // the server may start later
		return err
	}
	if err := c.join(ctx, sh, as); err != nil {
		return err
	}
	key, _, err := sh.Secret()
	if err != nil {
		return err
	}
	session := string(sh.Session)
	if sh.Session == shoal.DefaultSession {
		session = "" // the key may be of another session, which the server knows
	}
	return mcpbridge.Run(ctx, mcpbridge.Options{URL: sh.URL, HTTP: sh.Options(key).HTTP, Key: key, As: string(as), Session: session, Stdin: os.Stdin, Stdout: os.Stdout})
}

// join adds the acting entity to the spaces.
func (c *MCPCommand) join(ctx context.Context, sh *cli.Shell, as shoal.EntityID) error {
	if len(c.Space) == 0 {
		return nil
	}
	if as == "" {
		return shoal.E("", cli.KindUsage, "--space needs to know whom to add: name the entity with --as ID")
	}
	server, err := sh.Client()
	if err != nil {
		return err
	}
	for _, space := range c.Space {
		if _, err := server.Session(sh.Session).AddMember(ctx, space, as); err != nil {
			return err
		}
	}
	return nil
}
