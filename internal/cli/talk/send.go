// Package talk has the commands of the conversation: sending, waiting, following, searching
// and chatting, and the spaces in which that happens.
package talk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
)

// SendCommand is shoal send.
type SendCommand struct {
	Space           shoal.SpaceID    `arg:"" help:"The space."`
	Text            []string         `arg:"" optional:"" help:"The text of the message."`
	Mention         []shoal.EntityID `help:"Mention these members, which wakes them." short:"m" placeholder:"ID"`
	ReplyTo         shoal.MessageID  `help:"The message of the space that this one replies to." placeholder:"ID"`
	File            string           `help:"Read the text from this file; - for standard input." short:"f" placeholder:"FILE"`
	Wait            bool             `help:"Wait for the next message of a mentioned member in the space, or of the agent that acts without a mention, and print it."`
	Trigger         bool             `help:"Let hosted agents act on the message; --no-trigger prevents it." default:"true" negatable:""`
	Timeout         time.Duration    `help:"With --wait: how long to wait; 0 for no limit." default:"5m"`
	AllowMissing    bool             `help:"Post even if a mentioned entity is not a member of the space. It is then not mentioned."`
	RequireWakeable bool             `help:"Exit with code 7 if a mentioned agent is not reached now: it neither listens, nor works, nor can be woken. The message is posted all the same."`
	IdempotencyKey  string           `help:"Post only once for all calls with the same key." placeholder:"KEY"`
}

var errNoAnswer = &shoal.Error{Kind: cli.KindTimedOut, Msg: "the message was posted, but nobody has answered in time"}

// Run posts the message, and with --wait waits for the answer.
func (c *SendCommand) Run(ctx context.Context, sh *cli.Shell) error {
	text, err := messageText(sh.In, c.Text, c.File)
	if err != nil {
		return err
	}
	session, as, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	if err := c.checkMentions(ctx, session, as); err != nil {
		return err
	}
	if as != "" && (sh.Key != "" || sh.As != nil) {
		sh.Output.Note("posting as %s", as)
	}
	post := func(ctx context.Context) (shoal.Message, error) { return c.post(ctx, sh, session, text) }
	if c.Wait {
		return c.waitForAnswer(ctx, sh, session, post)
	}
	posted, err := post(ctx)
	if err != nil {
		return err
	}
	if err := sh.Output.PrintTable(posted, []string{"ID", "SPACE", "SEQ"}, []string{string(posted.ID), string(posted.SpaceID), cli.Itoa(posted.Seq)}); err != nil {
		return err
	}
	return c.checkReach(posted)
}

// checkReach fails with --require-wakeable if the message does not reach a mentioned agent now.
func (c *SendCommand) checkReach(posted shoal.Message) error {
	var missed, unsure []shoal.EntityID
	for _, r := range posted.Reach {
		switch {
		case r.KnownAt != nil:
			unsure = append(unsure, r.EntityID)
		case r.Missed():
			missed = append(missed, r.EntityID)
		}
	}
	switch {
	case !c.RequireWakeable || len(missed)+len(unsure) == 0:
		return nil
	case len(missed) == 0:
		return shoal.E("", cli.KindNotReached, "the message was posted, but it is not known yet whether it reaches "+cli.JoinIDs(unsure, "", " and "))
	}
	return shoal.E("", cli.KindNotReached, "the message was posted, but does not reach "+cli.JoinIDs(missed, "", " and "))
}

// checkMentions refuses mentions of the sender and, without --allow-missing, of entities that
// are not members of the space. It runs before the post, so that a message that nobody would
// read does not look as if it was delivered.
func (c *SendCommand) checkMentions(ctx context.Context, session *client.Session, as shoal.EntityID) error {
	if as != "" && slices.Contains(c.Mention, as) {
		return shoal.E("", cli.KindUsage, fmt.Sprintf("you act as %s, which cannot mention itself: another key (--key, SHOAL_KEY) or --as acts as somebody else", as))
	}
	if len(c.Mention) == 0 || c.AllowMissing {
		return nil
	}
	space, err := session.Space(ctx, c.Space)
	if err != nil {
		return err
	}
	var missing []string
	for _, id := range c.Mention {
		if slices.ContainsFunc(space.Members, func(m shoal.Member) bool { return m.EntityID == id }) {
			continue
		}
		if !space.Complete() {
			_, err := session.Member(ctx, c.Space, id)
			if err == nil {
				continue
			}
			if !errors.Is(err, shoal.NotFound) {
				return err
			}
		}
		missing = append(missing, string(id))
	}
	if len(missing) == 0 {
		return nil
	}
	return shoal.E("", shoal.NotFound, fmt.Sprintf("nothing was posted: %s must be a member of %s to be mentioned; add it with `shoal spaces add %s %s`, or post without the mention with --allow-missing",
		strings.Join(missing, ", "), c.Space, c.Space, strings.Join(missing, " ")))
}

// post posts the message and prints a note about mentioned entities that do not receive it.
func (c *SendCommand) post(ctx context.Context, sh *cli.Shell, session *client.Session, text string) (shoal.Message, error) {
	var options []client.CallOption
	if c.IdempotencyKey != "" {
		options = append(options, client.IdempotencyKey(c.IdempotencyKey))
	}
	draft := shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: c.Mention, ReplyTo: c.ReplyTo}
	if !c.Trigger {
		draft.TriggerAgents = &c.Trigger
	}
	posted, err := session.Post(ctx, c.Space, draft, options...)
	if err != nil {
		return posted, err
	}
	for _, id := range posted.DroppedMentions {
		sh.Output.Note("%s is not a member of %s and was not mentioned; add it: shoal spaces add %s %s", id, c.Space, c.Space, id)
	}
	for _, id := range posted.SkippedAgents {
		sh.Output.Note("%s is already running and does not act on this message", id)
	}
	for _, r := range posted.Reach {
		switch {
		case r.KnownAt != nil:
			sh.Output.Note("%s: not known yet, because the server has just started; it reads the message when it next waits", r.EntityID)
		case r.Missed() && r.Via == nil:
			sh.Output.Note("not reached: %s (%s); it reads the message when it next waits", r.EntityID, r.Text)
		case r.Missed():
			sh.Output.Note("not reached: %s (%s)", r.EntityID, r.Text)
		case r.Reason != "":
			sh.Output.Note("%s: %s", r.EntityID, r.Reason)
		}
	}
	noteUnmentioned(ctx, sh, session, posted, text)
	return posted, nil
}

// messageText returns the text of a message, from the command line or a file.
func messageText(in io.Reader, words []string, file string) (string, error) {
	switch {
	case (file == "") == (len(words) == 0):
		return "", shoal.E("", cli.KindUsage, "say what to send: either as TEXT or with -f FILE")
	case file == "":
		return strings.Join(words, " "), nil
	case file != "-":
		f, err := os.Open(file)
		if err != nil {
			return "", err
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, shoal.MaxContent+1))
	return string(text), err
}
