package main

import (
	"context"
	"fmt"

	"github.com/shoal-dev/shoal"
)

type sessionsCmd struct {
	List   sessionsListCmd   `cmd:"" name:"ls" help:"List the sessions that the key may know of; all with --admin."`
	Create sessionsCreateCmd `cmd:"" help:"Create a session, with --admin."`
	Limits sessionsLimitsCmd `cmd:"" help:"Show or, with --admin, change what one message may set off in the session."`
	Rights sessionsRightsCmd `cmd:"" help:"Show or, with --admin, change who may change the spaces of the session."`
}

var sessionHead = []string{"ID", "NAME", "STATUS", "CREATED"}

func sessionRow(o *output, s shoal.Session) []string {
	return []string{string(s.ID), s.Name, string(s.Status), o.when(&s.CreatedAt, "-")}
}

type sessionsListCmd struct{}

// Run lists the sessions.
func (*sessionsListCmd) Run(ctx context.Context, sh *shell) error {
	c, err := sh.client()
	if err != nil {
		return err
	}
	all, err := collect(c.Sessions(ctx))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, s := range all.Items {
		rows = append(rows, sessionRow(sh.output, s))
	}
	return sh.output.table(all, sessionHead, rows...)
}

type sessionsCreateCmd struct {
	ID   shoal.SessionID `arg:"" optional:"" help:"The id; without it, one is made." complete:"-"`
	Name string          `help:"The name to show; without it, the id." placeholder:"NAME"`
}

// Run creates a session and prints it.
func (c *sessionsCreateCmd) Run(ctx context.Context, sh *shell) error {
	server, err := sh.client()
	if err != nil {
		return err
	}
	made, err := server.CreateSession(ctx, shoal.NewSession{ID: c.ID, Name: c.Name})
	if err != nil {
		return err
	}
	return sh.output.table(made, sessionHead, sessionRow(sh.output, made))
}

type sessionsLimitsCmd struct {
	Cost   *float64 `help:"US dollars that the model calls which one message sets off may cost; 0 is no limit." placeholder:"USD"`
	Tokens *int64   `help:"Tokens that these calls may use; 0 is no limit." placeholder:"N"`
}

// Run changes the limits, if there is something to change, and prints them.
func (c *sessionsLimitsCmd) Run(ctx context.Context, sh *shell) error {
	session, err := sh.overlook()
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
	return sh.output.table(found, head, row)
}

type sessionsRightsCmd struct {
	Rights shoal.SpaceRights `arg:"" optional:"" help:"members: every member of a space; moderators: its owner, and admins and owners of the session." placeholder:"members|moderators"`
}

// Run changes the rights, if they are given, and prints them.
func (c *sessionsRightsCmd) Run(ctx context.Context, sh *shell) error {
	session, err := sh.overlook()
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
	return sh.output.table(found, []string{"SESSION", "SPACE RIGHTS"}, []string{string(found.ID), string(found.SpaceRights)})
}
