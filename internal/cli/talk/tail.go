package talk

import (
	"context"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/runs"
	"github.com/shoal-dev/shoal/internal/cli/view"
)

// TailCommand is shoal tail.
type TailCommand struct {
	Space shoal.SpaceID `arg:"" optional:"" help:"The space (default: all your spaces)."`
	After shoal.Cursor  `help:"Continue after this cursor, which --json prints with every event." placeholder:"CURSOR"`
	Lines int           `help:"How many earlier messages of a space to show first, at most 50." short:"n" default:"10"`
}

// Run follows until it is interrupted. It reconnects when the connection breaks.
func (c *TailCommand) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	t := &tail{
		TailCommand: c, shell: sh, timeline: newTimeline(session), live: liveMessage{out: sh.Output, space: c.Space == ""}, loss: view.Connection{Output: sh.Output},
	}
	options := client.FollowOptions{Space: c.Space, After: c.After, OnDisconnect: t.loss.Lost}
	for event, err := range session.Follow(ctx, options) {
		if err != nil {
			return err
		}
		if err := t.handle(ctx, event); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// tail is one run of the command.
type tail struct {
	*TailCommand
	shell    *cli.Shell
	timeline timeline
	live     liveMessage
	loss     view.Connection
}

func (t *tail) handle(ctx context.Context, e shoal.Event) error {
	t.loss.Restored()
	if t.shell.Output.JSON {
		return view.PrintEvent(t.shell.Output, e)
	}
	messages, earlier, err := t.timeline.newMessages(ctx, e)
	if err != nil {
		return err
	}
	if earlier {
		messages = messages[max(0, len(messages)-max(0, t.Lines)):]
	}
	if t.shell.Output.Terminal && !t.shell.Output.Quiet {
		if seen, err := t.live.show(e); err != nil || seen {
			return err
		}
	}
	for _, m := range messages {
		if err := t.live.endLine(); err != nil {
			return err
		}
		if err := view.PrintMessage(t.shell.Output, m, t.Space == ""); err != nil {
			return err
		}
	}
	return t.printNotice(e)
}

// printNotice prints a note about an event that is not a message.
func (t *tail) printNotice(e shoal.Event) error {
	said, err := noticeText(e)
	if err != nil || said == "" {
		return err
	}
	if err := t.live.endLine(); err != nil {
		return err
	}
	t.shell.Output.Note("%s", said)
	return nil
}

// noticeText returns the note about an event. It is empty for most events.
func noticeText(e shoal.Event) (string, error) {
	switch e.Type {
	case shoal.EventMemberJoined, shoal.EventMemberLeft:
		data, err := view.Decode[shoal.MemberData](e)
		did := map[shoal.EventType]string{shoal.EventMemberJoined: "joined", shoal.EventMemberLeft: "left"}[e.Type]
		if err != nil || data.SpaceID == nil {
			return "", err
		}
		return fmt.Sprintf("%s %s %s", data.Member.EntityID, did, *data.SpaceID), nil
	case shoal.EventSpaceClosed:
		data, err := view.Decode[shoal.SpaceData](e)
		return fmt.Sprintf("%s is closed", data.Space.ID), err
	case shoal.EventPendingOpened:
		data, err := view.Decode[shoal.PendingData](e)
		return view.PendingRequest(data.PendingAction), err
	case shoal.EventPendingSettled:
		data, err := view.Decode[shoal.PendingData](e)
		return view.PendingOutcome(data.PendingAction), err
	case shoal.EventRunFailed, shoal.EventRunCanceled:
		data, err := view.Decode[shoal.RunData](e)
		if err != nil {
			return "", err
		}
		return cli.ErrorText(runs.Failure(data.Run)), nil
	}
	return "", nil
}
