package talk

import (
	"context"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/view"
	"github.com/shoal-dev/shoal/internal/safetext"
)

// WaitCommand is shoal wait.
type WaitCommand struct {
	Mention  bool             `help:"Wait only for mentions and system messages, the default." xor:"kind"`
	Messages bool             `help:"Wait for all messages of others in your spaces." xor:"kind"`
	Space    shoal.SpaceID    `help:"Only messages of this space." placeholder:"ID"`
	From     []shoal.EntityID `help:"Only messages of these entities." placeholder:"ID"`
	Timeout  time.Duration    `help:"How long to wait; 0 returns at once." default:"${default_wait}"`

	Adapter    string `help:"Wait as a program that wakes the model of the entity, such as claude-hook: nothing is acknowledged, and nothing is printed while the entity itself waits." placeholder:"KIND"`
	SessionRef string `help:"With --adapter: what it wakes, such as the id of a terminal session." placeholder:"REF"`
}

// Run prints the next batch and acknowledges it afterwards, so that a batch that did not reach
// standard output is delivered again. An adapter acknowledges nothing.
func (c *WaitCommand) Run(ctx context.Context, sh *cli.Shell) error {
	session, as, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	if as == "" {
		return shoal.E("", cli.KindUsage, "`shoal wait` has to read the inbox of an entity: name it with --as ID")
	}
	req := client.WaitRequest{Timeout: c.Timeout, Space: c.Space, From: c.From, Redeliver: true}
	if c.Messages {
		req.Kind = shoal.WaitMessages
	}
	if c.Adapter != "" {
		req.Adapter, req.Redeliver = &shoal.WaitAdapter{Kind: c.Adapter, SessionRef: c.SessionRef}, false
	}
	result, err := session.Wait(ctx, as, req)
	if err != nil {
		return err
	}
	if err := printBatch(sh.Output, result); err != nil {
		return err
	}
	if result.TimedOut || result.Cursor == nil {
		return shoal.E("", cli.KindTimedOut, fmt.Sprintf("no message arrived within %v", c.Timeout))
	}
	if req.Adapter != nil {
		return nil
	}
	req.Timeout, req.Ack, req.Redeliver = 0, *result.Cursor, false
	_, err = session.Wait(ctx, as, req)
	return err
}

// printBatch prints the messages of a wait.
func printBatch(o *cli.Output, result shoal.WaitResult) error {
	if o.JSON {
		return o.PrintObject(result)
	}
	for _, item := range result.Items {
		for _, m := range item.Messages {
			if o.Quiet {
				if err := o.Write(safetext.Line(string(m.ID)) + "\n"); err != nil {
					return err
				}
			} else if err := view.PrintMessage(o, m.Message, true); err != nil {
				return err
			}
		}
	}
	return nil
}
