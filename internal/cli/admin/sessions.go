// Package admin has the commands that manage a server's data: keys, sessions, exports and
// renderers.
package admin

import (
	"context"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

// SessionsCommand is shoal sessions.
type SessionsCommand struct {
	List   sessionsListCmd   `cmd:"" name:"ls" aliases:"list" default:"withargs" help:"List the sessions that the key can access; all with --admin."`
	Create sessionsCreateCmd `cmd:"" help:"Create a session; requires --admin."`
	Limits sessionsLimitsCmd `cmd:"" help:"Show or, with --admin, change the limits on model calls that one message can cause."`
	Rights sessionsRightsCmd `cmd:"" help:"Show or, with --admin, change who may change the spaces of the session."`
	Keep   sessionsKeepCmd   `cmd:"" help:"Show or change how long the session keeps messages, runs and what models were sent."`
}

var sessionHead = []string{"ID", "NAME", "STATUS", "CREATED"}

func sessionRow(o *cli.Output, s shoal.Session) []string {
	return []string{string(s.ID), s.Name, string(s.Status), o.FormatTime(&s.CreatedAt, "-")}
}

type sessionsListCmd struct{}

// Run lists the sessions.
func (*sessionsListCmd) Run(ctx context.Context, sh *cli.Shell) error {
	c, err := sh.Client()
	if err != nil {
		return err
	}
	all, err := cli.Collect(c.Sessions(ctx))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, s := range all.Items {
		rows = append(rows, sessionRow(sh.Output, s))
	}
	return sh.Output.PrintTable(all, sessionHead, rows...)
}

type sessionsCreateCmd struct {
	ID   shoal.SessionID `arg:"" optional:"" help:"The id (default: a generated one)." complete:"-"`
	Name string          `help:"The display name (default: the id)." placeholder:"NAME"`
}

// Run creates a session and prints it.
func (c *sessionsCreateCmd) Run(ctx context.Context, sh *cli.Shell) error {
	server, err := sh.Client()
	if err != nil {
		return err
	}
	made, err := server.CreateSession(ctx, shoal.NewSession{ID: c.ID, Name: c.Name})
	if err != nil {
		return err
	}
	return sh.Output.PrintTable(made, sessionHead, sessionRow(sh.Output, made))
}

type sessionsLimitsCmd struct {
	Cost   *float64 `help:"The maximum cost in US dollars of the model calls that one message causes; 0 for no limit." placeholder:"USD"`
	Tokens *int64   `help:"The maximum number of tokens of those calls; 0 for no limit." placeholder:"N"`
}

// Run changes the limits that are set by flags, and prints the limits.
func (c *sessionsLimitsCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	var found shoal.Session
	if c.Cost == nil && c.Tokens == nil {
		found, err = session.Get(ctx)
	} else {
		found, err = session.Change(ctx, shoal.SessionChange{Limits: &shoal.LimitsChange{MaxCostPerRequest: c.Cost, MaxTokensPerRequest: c.Tokens}})
	}
	if err != nil {
		return err
	}
	head, row := []string{"SESSION", "COST OF A REQUEST", "TOKENS OF A REQUEST"}, []string{string(found.ID), "no limit", "no limit"}
	if most := found.Limits.MaxCostPerRequest; most > 0 {
		row[1] = fmt.Sprintf("%.2f USD", most)
	}
	if most := found.Limits.MaxTokensPerRequest; most > 0 {
		row[2] = fmt.Sprint(most)
	}
	return sh.Output.PrintTable(found, head, row)
}

type sessionsRightsCmd struct {
	Rights shoal.SpaceRights `arg:"" optional:"" help:"members: every member of a space; moderators: its owner, and admins and owners of the session." placeholder:"members|moderators"`
}

// Run changes the rights if they are given, and prints them.
func (c *sessionsRightsCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	var found shoal.Session
	if c.Rights == "" {
		found, err = session.Get(ctx)
	} else {
		found, err = session.Change(ctx, shoal.SessionChange{SpaceRights: &c.Rights})
	}
	if err != nil {
		return err
	}
	return sh.Output.PrintTable(found, []string{"SESSION", "SPACE RIGHTS"}, []string{string(found.ID), string(found.SpaceRights)})
}
