package main

import (
	"context"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

type waitCmd struct {
	Mention  bool             `help:"Wait for mentions and system messages only, the default." xor:"kind"`
	Messages bool             `help:"Wait for every message of your spaces that is not your own." xor:"kind"`
	Space    shoal.SpaceID    `help:"Wait for this space only." placeholder:"ID"`
	From     []shoal.EntityID `help:"Wait for messages of these entities only." placeholder:"ID"`
	Timeout  time.Duration    `help:"How long to wait, 0 to look only." default:"${default_wait}"`
}

// Run prints the next batch, then acknowledges it: what did not reach standard
// output comes again.
func (c *waitCmd) Run(ctx context.Context, sh *shell) error {
	session, as, err := sh.connect(ctx)
	if err != nil {
		return err
	}
	if as == "" {
		return shoal.E("", kindUsage, "wait needs to know whose inbox to read: name the entity with --as ID")
	}
	req := client.WaitRequest{Timeout: c.Timeout, Space: c.Space, From: c.From, Redeliver: true}
	if c.Messages {
		req.Kind = shoal.WaitMessages
	}
	result, err := session.Wait(ctx, as, req)
	if err != nil {
		return err
	}
	if err := printBatch(sh.output, result); err != nil {
		return err
	}
	if result.TimedOut || result.Cursor == nil {
		return shoal.E("", kindTimedOut, fmt.Sprintf("nothing came within %v", c.Timeout))
	}
	req.Timeout, req.Ack, req.Redeliver = 0, *result.Cursor, false
	_, err = session.Wait(ctx, as, req)
	return err
}

// printBatch prints what a wait answers.
func printBatch(o *output, result shoal.WaitResult) error {
	if o.json {
		return o.object(result)
	}
	for _, item := range result.Items {
		for _, m := range item.Messages {
			if o.quiet {
				if err := o.write(line(string(m.ID)) + "\n"); err != nil {
					return err
				}
			} else if err := printMessage(o, m.Message, true); err != nil {
				return err
			}
		}
	}
	return nil
}
