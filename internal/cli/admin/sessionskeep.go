package admin

import (
	"context"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/keep"
)

type sessionsKeepCmd struct {
	Messages string `help:"How long a message is kept after it was posted, such as 365d; forever for as long as the server keeps it." placeholder:"TIME"`
	Runs     string `help:"How long a run is kept after its end, such as 90d." placeholder:"TIME"`
	Prompts  string `help:"How long what models were sent is kept after the end of the run, such as 12h." placeholder:"TIME"`
}

// Run changes the times that are set by flags, and prints all of them.
func (c *sessionsKeepCmd) Run(ctx context.Context, sh *cli.Shell) error {
	change, err := c.change()
	if err != nil {
		return err
	}
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	var found shoal.Session
	if change == (shoal.RetentionChange{}) {
		found, err = session.Get(ctx)
	} else {
		found, err = session.Change(ctx, shoal.SessionChange{Retention: &change})
	}
	if err != nil {
		return err
	}
	row := []string{string(found.ID)}
	for _, ms := range []int64{found.Retention.MessagesForMs, found.Retention.RunsForMs, found.Retention.PromptsForMs} {
		if ms == 0 {
			row = append(row, "as the server")
		} else {
			row = append(row, keep.Text(ms))
		}
	}
	return sh.Output.PrintTable(found, []string{"SESSION", "MESSAGES", "RUNS", "PROMPTS"}, row)
}

func (c *sessionsKeepCmd) change() (out shoal.RetentionChange, err error) {
	for _, f := range []struct {
		flag, text string
		to         **int64
	}{{"--messages", c.Messages, &out.MessagesForMs}, {"--runs", c.Runs, &out.RunsForMs}, {"--prompts", c.Prompts, &out.PromptsForMs}} {
		if f.text == "" {
			continue
		}
		ms, err := keep.Parse(f.text)
		if err != nil {
			return out, shoal.E("", cli.KindUsage, fmt.Sprintf("%s %v.", f.flag, err))
		}
		if !keep.Possible(ms) {
			return out, shoal.E("", cli.KindUsage, fmt.Sprintf("%s must be between %s and %s, or forever.", f.flag, keep.Text(keep.LeastMs), keep.Text(keep.MostMs)))
		}
		*f.to = &ms
	}
	return out, nil
}
