package main

import (
	"context"

	"github.com/shoal-dev/shoal"
)

type sessionsCmd struct {
	List   sessionsListCmd   `cmd:"" name:"ls" help:"List the sessions that the key may know of; all with --admin."`
	Create sessionsCreateCmd `cmd:"" help:"Create a session, with --admin."`
}

var sessionHead = []string{"ID", "NAME", "STATUS", "CREATED"}

func (o *output) sessionRow(s shoal.Session) []string {
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
		rows = append(rows, sh.output.sessionRow(s))
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
	return sh.output.table(made, sessionHead, sh.output.sessionRow(made))
}
