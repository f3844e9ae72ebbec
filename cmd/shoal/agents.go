package main

import "context"

type agentsCmd struct {
	List agentsListCmd `cmd:"" name:"ls" help:"List the entities of the session, people included."`
}

type agentsListCmd struct{}

// Run lists the entities of the session.
func (*agentsListCmd) Run(ctx context.Context, sh *shell) error {
	session, _, err := sh.connect(ctx)
	if err != nil {
		return err
	}
	all, err := collect(session.Entities(ctx))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, e := range all.Items {
		rows = append(rows, []string{string(e.ID), e.Name, string(e.Kind), string(e.State), timeOr(e.LastSeenAt, "never"), e.Description})
	}
	return sh.output.table(all, []string{"ID", "NAME", "KIND", "STATE", "SEEN", "DESCRIPTION"}, rows...)
}
