package admin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/cli"
)

// InviteCommand is shoal invite.
type InviteCommand struct {
	Create inviteCreateCmd `cmd:"" name:"person" default:"withargs" help:"Create a link with which one person joins the session, once."`
	List   inviteListCmd   `cmd:"" name:"ls" aliases:"list" help:"List the invitations that were not accepted yet."`
	Remove inviteRemoveCmd `cmd:"" name:"rm" help:"Withdraw invitations: their links stop working."`
}

type inviteCreateCmd struct {
	Name    []string          `arg:"" optional:"" help:"Whom you invite; only the list of invitations shows it."`
	Space   []shoal.SpaceID   `help:"Add the person to these spaces (default: welcome, if there is one)." short:"s" placeholder:"ID"`
	Role    shoal.SessionRole `help:"What the person may do in the session: owner, admin, member, guest or auditor." enum:"owner,admin,member,guest,auditor" default:"member"`
	Expires string            `help:"Until when the link works: 90m, 3d or a time such as 2027-01-31T00:00:00Z; at most 30d." default:"72h" placeholder:"WHEN"`
}

// Run creates an invitation and prints its link.
func (c *inviteCreateCmd) Run(ctx context.Context, sh *cli.Shell) error {
	until, err := cli.ParseTime("--expires", c.Expires, time.Now(), 1)
	if err != nil {
		return err
	}
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	n := shoal.NewInvite{Name: strings.Join(c.Name, " "), SessionRole: c.Role, Spaces: c.Space, ExpiresAt: &until}
	if c.Space == nil {
		for s, err := range session.Spaces(ctx) {
			if err != nil {
				return err
			}
			if s.ID == app.Welcome {
				n.Spaces = []shoal.SpaceID{s.ID}
			}
		}
	}
	made, err := session.CreateInvite(ctx, n)
	if err != nil {
		return err
	}
	if made.URL == nil {
		return shoal.E("", shoal.Internal, fmt.Sprintf("the invitation %s was made, but its link was lost on the way: withdraw it with `shoal invite rm %s` and make another", made.ID, made.ID))
	}
	o := sh.Output
	if o.Quiet && !o.JSON {
		return o.PrintText(*made.URL)
	}
	if err := o.PrintTable(made, []string{"LINK", "SPACES", "ROLE", "EXPIRES"}, []string{*made.URL, cli.JoinIDs(made.Spaces, "", ","), string(made.SessionRole), o.FormatTime(&made.ExpiresAt, "-")}); err != nil {
		return err
	}
	o.Note("send it to one person, by a way that nobody else reads: the first one to open it is in")
	return nil
}

type inviteListCmd struct{}

// Run lists the invitations.
func (*inviteListCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	all, err := cli.Collect(session.Invites(ctx))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, i := range all.Items {
		rows = append(rows, []string{
			string(i.ID), i.Name, cli.JoinIDs(i.Spaces, "", ","), string(i.SessionRole), cli.IDOrDash(i.CreatedBy), sh.Output.FormatTime(&i.CreatedAt, "-"), sh.Output.FormatTime(&i.ExpiresAt, "-"),
		})
	}
	return cli.PrintList[shoal.InviteID](sh, all, []string{"ID", "NAME", "SPACES", "ROLE", "BY", "CREATED", "EXPIRES"}, rows...)
}

type inviteRemoveCmd struct {
	ID []shoal.InviteID `arg:"" help:"The ids, as shoal invite ls lists them."`
}

// Run withdraws the invitations in order. It stops at the first error.
func (c *inviteRemoveCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	for _, id := range c.ID {
		if err := session.DeleteInvite(ctx, id); err != nil {
			return err
		}
		sh.Output.Note("%s is withdrawn", id)
	}
	return nil
}
