package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/view"
)

// TriggerCommand is shoal agents trigger.
type TriggerCommand struct {
	ID             shoal.EntityID `arg:"" help:"The hosted agent." complete:"hosted"`
	Service        string         `arg:"" help:"The name of the service that starts the run; the agent sees it."`
	Payload        string         `arg:"" optional:"" help:"The input of the agent: a JSON value, or @FILE to read it from a file."`
	Wait           bool           `help:"Wait for the end of the run and print it. Exits with 8 if it failed, and with 9 if a person denied a request."`
	Timeout        time.Duration  `help:"How long to wait for the end; 0 for no limit." default:"5m"`
	IdempotencyKey string         `help:"Start only one run for all calls with the same key." placeholder:"KEY"`
}

// Run starts a run, and with --wait waits for its end.
func (c *TriggerCommand) Run(ctx context.Context, sh *cli.Shell) error {
	payload, err := c.payload()
	if err != nil {
		return err
	}
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	var options []client.CallOption
	if c.IdempotencyKey != "" {
		options = append(options, client.IdempotencyKey(c.IdempotencyKey))
	}
	started, err := session.TriggerAgent(ctx, c.ID, c.Service, payload, options...)
	if err != nil {
		return err
	}
	if !c.Wait {
		return sh.Output.PrintTable(started, startedHead, startedRow(started))
	}
	sh.Output.Note("started as %s; waiting for its end", started.RunID)
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		late := shoal.E("", cli.KindTimedOut, fmt.Sprintf("%s was started but has not ended in time; `shoal runs tail %s` continues to follow it", started.RunID, started.RunID))
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, late)
		defer cancel()
	}
	w := &Watch{Session: session, Run: started.RunID}
	run, err := w.WaitForEnd(ctx, func(e shoal.Event) error { return view.NotePending(sh.Output, e) })
	if err != nil {
		return err
	}
	if err := sh.Output.PrintTable(run, runHead, runRow(sh.Output, run)); err != nil {
		return err
	}
	return w.Verdict(run)
}

// payload returns the JSON input of the agent.
func (c *TriggerCommand) payload() (json.RawMessage, error) {
	text, name := []byte(c.Payload), "the payload"
	if path, found := strings.CutPrefix(c.Payload, "@"); found {
		var err error
		if text, err = os.ReadFile(path); err != nil {
			return nil, err
		}
		name = path
	}
	if len(text) > 0 && !json.Valid(text) {
		return nil, shoal.E("", cli.KindUsage, name+` is not JSON; write a text as '"text"' and an object as '{"key":1}'`)
	}
	return text, nil
}
