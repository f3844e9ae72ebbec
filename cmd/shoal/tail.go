package main

import (
	"context"

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
	t := &tail{tailCmd: c, shell: sh, timeline: timeline{session, map[shoal.SpaceID]int64{}}}
	options := client.FollowOptions{Space: c.Space, After: c.After, Lost: t.lost}
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
	away     bool // whether the loss of the connection was told
}

func (t *tail) lost(cause error) {
	if !t.away {
		t.shell.output.note("%s; trying again", describe("tail", cause).Message)
	}
	t.away = true
}

func (t *tail) show(ctx context.Context, e shoal.Event) error {
	t.away = false
	if t.shell.output.json {
		return t.shell.output.event(e)
	}
	messages, earlier, err := t.timeline.take(ctx, e)
	if err != nil {
		return err
	}
	if earlier {
		messages = messages[max(0, len(messages)-max(0, t.Lines)):]
	}
	for _, m := range messages {
		if err := t.shell.output.message(m, t.Space == ""); err != nil {
			return err
		}
	}
	return t.notice(e)
}

// notice tells what else happened.
func (t *tail) notice(e shoal.Event) error {
	switch e.Type {
	case shoal.EventMemberJoined, shoal.EventMemberLeft:
		data, err := decode[shoal.MemberData](e)
		did := map[shoal.EventType]string{shoal.EventMemberJoined: "joined", shoal.EventMemberLeft: "left"}[e.Type]
		if err == nil && data.SpaceID != nil {
			t.shell.output.note("%s %s %s", data.Member.EntityID, did, *data.SpaceID)
		}
		return err
	case shoal.EventSpaceClosed:
		data, err := decode[shoal.SpaceData](e)
		if err == nil {
			t.shell.output.note("%s is closed", data.Space.ID)
		}
		return err
	}
	return nil
}

// event prints the data of an event, with the cursor to go on behind it.
func (o *output) event(e shoal.Event) error {
	data := string(e.Data)
	if e.Cursor != "" && e.Type != shoal.EventSnapshot && e.Type != shoal.EventSnapshotEnd && len(data) > 2 && data[0] == '{' {
		cursor, err := quoted(e.Cursor)
		if err != nil {
			return err
		}
		data = `{"cursor":` + cursor + "," + data[1:]
	}
	return o.write(escaped(data) + "\n")
}
