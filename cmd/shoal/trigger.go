package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

type agentsTriggerCmd struct {
	ID             shoal.EntityID `arg:"" help:"The hosted agent." complete:"hosted"`
	Service        string         `arg:"" help:"Which service starts it; the agent learns the name."`
	Payload        string         `arg:"" optional:"" help:"What the agent is given: a JSON value, or @FILE for one in a file."`
	Wait           bool           `help:"Wait for the end of the run and print it; exits with 8 if it failed, with 9 if a person said no."`
	Timeout        time.Duration  `help:"How long to wait for it, 0 for ever." default:"5m"`
	IdempotencyKey string         `help:"Start one run, however often this is called with the same key." placeholder:"KEY"`
}

// Run starts a run, and waits for its end if it is to.
func (c *agentsTriggerCmd) Run(ctx context.Context, sh *shell) error {
	payload, err := c.payload()
	if err != nil {
		return err
	}
	session, err := sh.overlook()
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
		return sh.output.table(started, startedHead, startedRow(started))
	}
	sh.output.note("started as %s; waiting for its end", started.RunID)
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		late := shoal.E("", kindTimedOut, fmt.Sprintf("%s was started and has not ended in time; `shoal runs tail %s` goes on", started.RunID, started.RunID))
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, late)
		defer cancel()
	}
	w := &runWatch{session: session, id: started.RunID}
	run, err := w.end(ctx, func(e shoal.Event) error { return notePending(sh.output, e) })
	if err != nil {
		return err
	}
	if err := sh.output.table(run, runHead, runRow(sh.output, run)); err != nil {
		return err
	}
	return w.verdict(run)
}

// payload returns the JSON that the agent is given.
func (c *agentsTriggerCmd) payload() (json.RawMessage, error) {
	text, name := []byte(c.Payload), "the payload"
	if path, found := strings.CutPrefix(c.Payload, "@"); found {
		var err error
		if text, err = os.ReadFile(path); err != nil {
			return nil, err
		}
		name = path
	}
	if len(text) > 0 && !json.Valid(text) {
		return nil, shoal.E("", kindUsage, name+` is no JSON; a text is written '"so"', an object '{"so":1}'`)
	}
	return text, nil
}
