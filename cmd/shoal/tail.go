package main

import (
	"context"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

type tailCmd struct {
	Space shoal.SpaceID `arg:"" optional:"" help:"The space; without it, all of yours."`
	After shoal.Cursor  `help:"Go on behind this place, which --json shows with every event." placeholder:"CURSOR"`
	Lines int           `help:"How many earlier messages of a space to show first, at most 50." short:"n" default:"10"`
}

// Run follows until it is interrupted; the connection may break meanwhile.
func (c *tailCmd) Run(ctx context.Context, sh *shell) error {
	session, _, err := sh.connect(ctx)
	if err != nil {
		return err
	}
	t := &tail{
		tailCmd: c, shell: sh, timeline: newTimeline(session), live: live{out: sh.output, space: c.Space == ""}, loss: loss{output: sh.output},
	}
	options := client.FollowOptions{Space: c.Space, After: c.After, Lost: t.loss.told}
	for event, err := range session.Follow(ctx, options) {
		if err != nil {
			return err
		}
		if err := t.show(ctx, event); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// tail is one run of the command.
type tail struct {
	*tailCmd
	shell    *shell
	timeline timeline
	live     live
	loss     loss
}

func (t *tail) show(ctx context.Context, e shoal.Event) error {
	t.loss.over()
	if t.shell.output.json {
		return printEvent(t.shell.output, e)
	}
	messages, earlier, err := t.timeline.take(ctx, e)
	if err != nil {
		return err
	}
	if earlier {
		messages = messages[max(0, len(messages)-max(0, t.Lines)):]
	}
	if t.shell.output.terminal && !t.shell.output.quiet {
		if seen, err := t.live.take(e); err != nil || seen {
			return err
		}
	}
	for _, m := range messages {
		if err := t.live.pause(); err != nil {
			return err
		}
		if err := printMessage(t.shell.output, m, t.Space == ""); err != nil {
			return err
		}
	}
	return t.notice(e)
}

// notice tells what else happened.
func (t *tail) notice(e shoal.Event) error {
	said, err := notice(e)
	if err != nil || said == "" {
		return err
	}
	if err := t.live.pause(); err != nil {
		return err
	}
	t.shell.output.note("%s", said)
	return nil
}

// notice returns what to tell a person about an event, nothing for most.
func notice(e shoal.Event) (string, error) {
	switch e.Type {
	case shoal.EventMemberJoined, shoal.EventMemberLeft:
		data, err := decode[shoal.MemberData](e)
		did := map[shoal.EventType]string{shoal.EventMemberJoined: "joined", shoal.EventMemberLeft: "left"}[e.Type]
		if err != nil || data.SpaceID == nil {
			return "", err
		}
		return fmt.Sprintf("%s %s %s", data.Member.EntityID, did, *data.SpaceID), nil
	case shoal.EventSpaceClosed:
		data, err := decode[shoal.SpaceData](e)
		return fmt.Sprintf("%s is closed", data.Space.ID), err
	case shoal.EventPendingOpened:
		data, err := decode[shoal.PendingData](e)
		return asking(data.PendingAction), err
	case shoal.EventPendingSettled:
		data, err := decode[shoal.PendingData](e)
		return settled(data.PendingAction), err
	case shoal.EventRunFailed, shoal.EventRunCanceled:
		data, err := decode[shoal.RunData](e)
		if err != nil {
			return "", err
		}
		return errorText(failed(data.Run)), nil
	}
	return "", nil
}
