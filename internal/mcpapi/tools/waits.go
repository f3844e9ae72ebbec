package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/naming"
)

// Texts of a wait that timed out; the second says that a time-out is not a failure.
const (
	nothingNew = "No new messages received within the timeout period"
	callAgain  = "This is not an error: call again to continue waiting."
)

// timeoutInput limits how long a tool may block; otherwise is the default in
// milliseconds.
func timeoutInput(otherwise int64) input {
	return input{
		name: "timeoutMs", kind: wholeInput, otherwise: otherwise, most: shoal.MaxWait.Milliseconds(), clamped: true,
		about: "How long to wait, in milliseconds. Stay below 60000 if your client aborts calls after a minute.",
	}
}

var waitInputs = []input{
	timeoutInput(shoal.DefaultWait.Milliseconds()),
	agentInput,
	threadInput.optional("Wait for messages of this thread only."),
	{name: "ack", kind: textInput, length: shoal.MaxCursor, about: "The cursor of your last batch: acknowledges exactly those messages. Pass it as soon as you have handled them."},
	{name: "redeliver", kind: flagInput, about: "Get the last batch again instead of acknowledging it by waiting on."},
}

func waitForMentions() *tool {
	return &tool{
		name:   "wait_for_mentions",
		about:  "Wait until a message mentions you or comes from the system; returns at once if one is unread. Call it repeatedly: this is how you receive messages. A time-out only means that no such message arrived.",
		waits:  true,
		inputs: waitInputs,
		output: shoal.WaitResult{},
		wait: func(ctx context.Context, c *call, while time.Duration) (*inbox.Delivery, *inbox.HeldWait, error) {
			return c.wait(ctx, while, shoal.WaitMentions, nil)
		},
	}
}

func waitForMessages() *tool {
	return &tool{
		name:  "wait_for_messages",
		about: "Like wait_for_mentions, but for every message of your threads that you did not send.",
		waits: true,
		inputs: append(waitInputs[:len(waitInputs):len(waitInputs)],
			input{name: "from", kind: listInput, empty: true, about: "Wait only for messages from the senders in this list."}),
		output: shoal.WaitResult{},
		wait: func(ctx context.Context, c *call, while time.Duration) (*inbox.Delivery, *inbox.HeldWait, error) {
			return c.wait(ctx, while, shoal.WaitMessages, c.ids("from"))
		},
	}
}

// wait blocks until messages arrive, the time is up, or while has passed.
func (c *call) wait(ctx context.Context, while time.Duration, kind shoal.WaitKind, from []shoal.EntityID) (*inbox.Delivery, *inbox.HeldWait, error) {
	return c.Hub.Inbox.WaitShortly(ctx, c.Principal, c.waitRequest(kind, from), while)
}

func (c *call) waitRequest(kind shoal.WaitKind, from []shoal.EntityID) *inbox.WaitRequest {
	return &inbox.WaitRequest{
		Session: c.Session, Kind: kind, Space: c.thread(), From: from, Ack: c.text("ack"), Redeliver: c.onlyReads || c.flag("redeliver"),
		Timeout: c.timeout(),
	}
}

// waited formats the result of a wait.
func (c *call) waited(ctx context.Context, d *inbox.Delivery, err error) (result, error) {
	if err != nil {
		return result{}, err
	}
	if d.Agents != nil {
		return arrivalsResult(d), nil
	}
	out := result{structured: d.Result, delivery: d}
	if d.Result.TimedOut {
		out.text, out.more = nothingNew, []string{callAgain}
		return out, nil
	}
	threads := make([]threadText, len(d.Result.Items))
	for i, item := range d.Result.Items {
		if threads[i], err = c.received(ctx, item, d.Listed); err != nil {
			return result{}, err
		}
	}
	out.text, err = c.messagesText(ctx, threads)
	out.more = []string{fmt.Sprintf("After handling the messages above, acknowledge them: pass ack: %q in your next wait.", *d.Result.Cursor)}
	return out, err
}

// received returns the delivered messages of one thread with its members. known is their space
// with its members, or nil.
func (c *call) received(ctx context.Context, item shoal.WaitItem, known *shoal.Space) (threadText, error) {
	messages := make([]shoal.Message, len(item.Messages))
	for i, m := range item.Messages {
		messages[i] = m.Message
	}
	if known != nil {
		return textOf(*known, messages), nil
	}
	space, err := c.Hub.Spaces.GetWithMembers(ctx, c.Principal, c.Session, item.Space.ID)
	if errors.Is(err, shoal.NotFound) { // the caller was removed a moment ago
		return threadText{space: item.Space, messages: messages}, nil
	}
	return textOf(space, messages), err
}

func textOf(s shoal.Space, messages []shoal.Message) threadText {
	return threadText{
		space: shoal.SpaceRef{ID: s.ID, Name: s.Name, Status: s.Status}, summary: s.Summary, members: s.Members, count: s.MemberCount, messages: messages,
	}
}

// messagesText is the XML form of threads with everybody's names.
func (c *call) messagesText(ctx context.Context, threads []threadText) (string, error) {
	n := names{shoal.System: naming.SystemName}
	var messages []shoal.Message
	for _, t := range threads {
		for _, m := range t.members {
			n[m.EntityID] = m.Name
		}
		messages = append(messages, t.messages...)
	}
	if err := c.addNames(ctx, n, messages); err != nil {
		return "", err
	}
	return messagesXML(threads, naming.DisplayNames(n)), nil
}

// addNames looks up the senders and mentioned entities that are missing from n, such as
// members that have left.
func (c *call) addNames(ctx context.Context, n names, messages []shoal.Message) error {
	var unknown []shoal.EntityID
	add := func(id shoal.EntityID) {
		if _, known := n[id]; !known {
			n[id] = string(id)
			unknown = append(unknown, id)
		}
	}
	for _, m := range messages {
		add(m.EntityID)
		for _, id := range append(slices.Clone(m.Mentions), m.OnBehalfOf...) {
			add(id)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	found, err := c.Hub.Messages.Names(ctx, c.Session, unknown)
	for id, name := range found {
		n[id] = name
	}
	return err
}
