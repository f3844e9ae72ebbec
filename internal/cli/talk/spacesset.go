package talk

import (
	"context"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

type spacesSetCmd struct {
	Space        shoal.SpaceID   `arg:"" help:"The space."`
	Name         *string         `help:"The name to show."`
	AdminAgent   *shoal.EntityID `help:"The hosted agent that answers when nobody is mentioned; it must be a member." placeholder:"ID" xor:"admin"`
	NoAdminAgent bool            `help:"No agent answers when nobody is mentioned; refused for a space with several hosted agents." xor:"admin"`
}

// Run changes what is given, and prints the space.
func (c *spacesSetCmd) Run(ctx context.Context, sh *cli.Shell) error {
	change := shoal.SpaceChange{Name: c.Name, AdminAgentID: c.AdminAgent}
	if c.NoAdminAgent {
		nobody := shoal.EntityID("")
		change.AdminAgentID = &nobody
	}
	if change.Name == nil && change.AdminAgentID == nil {
		return shoal.Invalid("--admin-agent", "or --no-admin-agent or --name is needed: say what to change")
	}
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	s, err := session.ChangeSpace(ctx, c.Space, change)
	if err != nil {
		return err
	}
	admin := shoal.EntityID("nobody")
	if s.AdminAgentID != nil {
		admin = *s.AdminAgentID
	}
	sh.Output.Note("messages that mention nobody are answered by %s", admin)
	return printSpace(sh.Output, s)
}
