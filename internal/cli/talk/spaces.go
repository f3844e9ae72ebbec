package talk

import (
	"context"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
)

// SpacesCommand is shoal spaces.
type SpacesCommand struct {
	List   spacesListCmd   `cmd:"" name:"ls" aliases:"list" default:"withargs" help:"List your spaces."`
	Create spacesCreateCmd `cmd:"" help:"Create a space with you as a member."`
	Show   spacesShowCmd   `cmd:"" help:"Show a space and its members."`
	Set    spacesSetCmd    `cmd:"" help:"Change the name of a space, or the agent that answers when nobody is mentioned."`
	Close  spacesCloseCmd  `cmd:"" help:"Close a space: its history stays readable."`
	Delete spacesDeleteCmd `cmd:"" name:"rm" help:"Delete a space with all its messages; for owners of the session, or with --admin."`
	Add    spacesAddCmd    `cmd:"" help:"Add members to a space."`
	Remove spacesRemoveCmd `cmd:"" help:"Remove members from a space."`
	Unread spacesUnreadCmd `cmd:"" help:"Mark the messages of a space as unread, starting from one."`
	Mute   spacesMuteCmd   `cmd:"" help:"Receive only the messages of a space that mention you."`
	Unmute spacesUnmuteCmd `cmd:"" help:"Receive all messages of a space again."`
}

type spacesListCmd struct{}

// Run lists all spaces that the caller sees.
func (*spacesListCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	all, err := cli.Collect(session.Spaces(ctx))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, s := range all.Items {
		rows = append(rows, []string{
			string(s.ID), s.Name, string(s.Status), cli.Itoa(s.MemberCount), cli.Itoa(s.LastSeq), cli.Itoa(s.UnreadCount), cli.Itoa(s.MentionCount),
		})
	}
	return sh.Output.PrintTable(all, []string{"ID", "NAME", "STATUS", "MEMBERS", "MESSAGES", "UNREAD", "MENTIONS"}, rows...)
}

// printSpace prints one space in one row.
func printSpace(o *cli.Output, s shoal.Space) error {
	return o.PrintTable(s, []string{"ID", "NAME", "STATUS", "MEMBERS"}, []string{string(s.ID), s.Name, string(s.Status), memberIDs(s)})
}

func memberIDs(s shoal.Space) string {
	ids := make([]shoal.EntityID, len(s.Members))
	for i, m := range s.Members {
		ids[i] = m.EntityID
	}
	all := cli.JoinIDs(ids, "", ",")
	if !s.Complete() {
		all += fmt.Sprintf(" and %d more", s.MemberCount-int64(len(ids)))
	}
	return all
}

type spacesCreateCmd struct {
	Name       string           `arg:"" help:"The name to show."`
	ID         shoal.SpaceID    `name:"id" help:"The id (default: a generated one)." placeholder:"ID" complete:"-"`
	Member     []shoal.EntityID `help:"Add these entities." short:"m" placeholder:"ID"`
	AdminAgent shoal.EntityID   `help:"The hosted agent that answers when nobody is mentioned." placeholder:"ID"`
}

// Run creates a space and prints it.
func (c *spacesCreateCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	n := shoal.NewSpace{ID: c.ID, Name: c.Name, Members: c.Member}
	if c.AdminAgent != "" {
		n.AdminAgentID = &c.AdminAgent
	}
	made, err := session.CreateSpace(ctx, n)
	if err != nil {
		return err
	}
	return printSpace(sh.Output, made)
}

type spacesShowCmd struct {
	Space shoal.SpaceID `arg:"" help:"The space."`
}

// Run prints a space, each member in a row.
func (c *spacesShowCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	s, err := session.Space(ctx, c.Space)
	if err != nil {
		return err
	}
	if !s.Complete() {
		all, err := cli.Collect(session.Members(ctx, s.ID, client.MemberFilter{}))
		if err != nil {
			return err
		}
		s.Members = all.Items
	}
	sh.Output.Note("%s (%s) is %s and holds %d messages, %d unread", s.Name, s.ID, s.Status, s.LastSeq, s.UnreadCount)
	if s.OwnerID != nil {
		sh.Output.Note("its owner is %s", *s.OwnerID)
	}
	if s.Muted {
		sh.Output.Note("you have muted it: you get only what mentions you; to change that: shoal spaces unmute %s", s.ID)
	}
	if s.Summary != nil {
		sh.Output.Note("closed with: %s", *s.Summary)
	}
	var rows [][]string
	for _, m := range s.Members {
		by := "-"
		if m.AddedBy != nil {
			by = string(*m.AddedBy)
		}
		rows = append(rows, []string{string(m.EntityID), m.Name, string(m.Kind), sh.Output.FormatTime(&m.JoinedAt, "-"), by})
	}
	return sh.Output.PrintTable(s, []string{"MEMBER", "NAME", "KIND", "JOINED", "ADDED BY"}, rows...)
}

type spacesCloseCmd struct {
	Space   shoal.SpaceID `arg:"" help:"The space."`
	Summary string        `arg:"" help:"The outcome of the conversation, which every member receives."`
}

// Run closes a space and prints it.
func (c *spacesCloseCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	s, err := session.CloseSpace(ctx, c.Space, c.Summary)
	if err != nil {
		return err
	}
	return printSpace(sh.Output, s)
}

type spacesAddCmd struct {
	Space  shoal.SpaceID    `arg:"" help:"The space."`
	Entity []shoal.EntityID `arg:"" help:"The entities to add."`
}

// Run adds members, one after the other, and prints the space.
func (c *spacesAddCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	var s shoal.Space
	for _, id := range c.Entity {
		if s, err = session.AddMember(ctx, c.Space, id); err != nil {
			return err
		}
	}
	return printSpace(sh.Output, s)
}

type spacesRemoveCmd struct {
	Space  shoal.SpaceID    `arg:"" help:"The space."`
	Entity []shoal.EntityID `arg:"" help:"The entities to remove."`
}

// Run removes members, one after the other, and prints the space.
func (c *spacesRemoveCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	var s shoal.Space
	for _, id := range c.Entity {
		if s, err = session.RemoveMember(ctx, c.Space, id); err != nil {
			return err
		}
	}
	return printSpace(sh.Output, s)
}

type spacesMuteCmd struct {
	Space shoal.SpaceID `arg:"" help:"The space."`
}

// Run mutes a space for the caller and prints it.
func (c *spacesMuteCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	s, err := session.MuteSpace(ctx, c.Space)
	if err != nil {
		return err
	}
	return printSpace(sh.Output, s)
}

type spacesUnmuteCmd struct {
	Space shoal.SpaceID `arg:"" help:"The space."`
}

// Run unmutes a space for the caller and prints it.
func (c *spacesUnmuteCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	s, err := session.UnmuteSpace(ctx, c.Space)
	if err != nil {
		return err
	}
	return printSpace(sh.Output, s)
}

type spacesDeleteCmd struct {
	Space shoal.SpaceID `arg:"" help:"The space."`
	Yes   bool          `help:"Delete it; without this the command only says what it would delete." short:"y" env:"-"`
}

// Run deletes a space.
func (c *spacesDeleteCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	if !c.Yes {
		what := fmt.Sprintf("%q, if it exists,", c.Space) // an owner of the session may delete a space that only its members see
		switch s, err := session.Space(ctx, c.Space); {
		case err == nil:
			what = fmt.Sprintf("%s (%s, %s)", s.ID, s.Name, count(int(s.LastSeq), "message"))
		case !errors.Is(err, shoal.NotFound):
			return err
		}
		return shoal.E("", cli.KindUsage, fmt.Sprintf("this would delete the space %s for ever with its messages: add --yes to do so, or keep them with `shoal spaces close`", what))
	}
	if err := session.DeleteSpace(ctx, c.Space); err != nil {
		return err
	}
	sh.Output.Note("space %s is deleted", c.Space)
	return nil
}

type spacesUnreadCmd struct {
	Space shoal.SpaceID `arg:"" help:"The space."`
	Seq   int64         `arg:"" help:"The seq of the first unread message."`
}

// Run marks messages as unread and says how many are.
func (c *spacesUnreadCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	s, err := session.MarkUnread(ctx, c.Space, c.Seq)
	if err != nil {
		return err
	}
	sh.Output.Note("unread in %s: %d", s.ID, s.UnreadCount)
	return printSpace(sh.Output, s)
}
