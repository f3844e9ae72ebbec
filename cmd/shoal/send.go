package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

type sendCmd struct {
	Space          shoal.SpaceID    `arg:"" help:"The space."`
	Text           []string         `arg:"" optional:"" help:"What to say."`
	Mention        []shoal.EntityID `help:"Mention these members, which wakes them." short:"m" placeholder:"ID"`
	File           string           `help:"Say what this file holds, - for standard input." short:"f" placeholder:"FILE"`
	Wait           bool             `help:"Wait for the next message of a mentioned member in the space, and print that."`
	Timeout        time.Duration    `help:"How long to wait for it, 0 for ever." default:"5m"`
	IdempotencyKey string           `help:"Post once, however often this is called with the same key." placeholder:"KEY"`
}

var errNoAnswer = &shoal.Error{Kind: kindTimedOut, Msg: "the message was posted, but nobody who was mentioned has answered in time"}

// Run posts the message, and waits for an answer if it is to.
func (c *sendCmd) Run(ctx context.Context, sh *shell) error {
	if c.Wait && len(c.Mention) == 0 {
		return shoal.E("", kindUsage, "--wait waits for a mentioned member: name one with -m")
	}
	text, err := c.text(sh.in)
	if err != nil {
		return err
	}
	session, _, err := sh.connect(ctx)
	if err != nil {
		return err
	}
	var options []client.CallOption
	if c.IdempotencyKey != "" {
		options = append(options, client.IdempotencyKey(c.IdempotencyKey))
	}
	posted, err := session.Post(ctx, c.Space, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: c.Mention}, options...)
	if err != nil {
		return err
	}
	for _, id := range posted.DroppedMentions {
		sh.output.note("%s is no member of %s and was not mentioned; add it: shoal spaces add %s %s", id, c.Space, c.Space, id)
	}
	if !c.Wait {
		return sh.output.table(posted, []string{"ID", "SPACE", "SEQ"}, []string{string(posted.ID), string(posted.SpaceID), itoa(posted.Seq)})
	}
	if len(posted.Mentions) == 0 {
		return shoal.E("", shoal.NotFound, "the message was posted as "+string(posted.ID)+", but nobody was mentioned who could answer")
	}
	sh.output.note("posted as %s; waiting for %s", posted.ID, list(posted.Mentions, "", " or "))
	answer, err := c.answer(ctx, session, posted)
	if err != nil {
		return err
	}
	if sh.output.json {
		return sh.output.object(answer)
	}
	return sh.output.text(said(answer))
}

// text returns what to say.
func (c *sendCmd) text(in io.Reader) (string, error) {
	switch {
	case (c.File == "") == (len(c.Text) == 0):
		return "", shoal.E("", kindUsage, "say what to send: either as TEXT or with -f FILE")
	case c.File == "":
		return strings.Join(c.Text, " "), nil
	case c.File != "-":
		f, err := os.Open(c.File)
		if err != nil {
			return "", err
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, shoal.MaxContent+1))
	return string(text), err
}

// answer returns the next message behind posted by somebody whom it mentions.
func (c *sendCmd) answer(ctx context.Context, session *client.Session, posted shoal.Message) (shoal.Message, error) {
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, errNoAnswer)
		defer cancel()
	}
	seen := timeline{session, map[shoal.SpaceID]int64{c.Space: posted.Seq}}
	for event, err := range session.Follow(ctx, client.FollowOptions{Space: c.Space}) {
		if err != nil {
			return shoal.Message{}, err
		}
		messages, _, err := seen.take(ctx, event)
		if err != nil {
			return shoal.Message{}, err
		}
		for _, m := range messages {
			if slices.Contains(posted.Mentions, m.EntityID) {
				return m, nil
			}
		}
		if event.Type == shoal.EventSpaceClosed {
			return shoal.Message{}, shoal.E("", shoal.SpaceClosed, "the space was closed before anybody answered")
		}
	}
	return shoal.Message{}, context.Cause(ctx)
}
