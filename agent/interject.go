package agent

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Interject adds a user message to the turn that is running or waiting, to steer it. The
// message is stored when Interject returns nil, and is not lost from then on, whatever
// happens to the process. The model reads it in the next step; calls of the present step
// end as they would without it. If the model has just given an answer without calls, the
// turn makes a further step, unless MaxSteps, MaxTokens or MaxCost forbids it. The event
// [Interjected] reports that a step reads the message.
//
// If the turn ends first, the message remains in the history after everything else, and
// TurnFinished.Unread names it. A turn that waits, or whose process has died, reads it when
// it is resumed. A turn that runs in another process does not notice it: there it is like
// one that came too late.
//
// Interject may be called while the events of the turn are being handled, and by its tools.
// It fails with ErrConflict if no turn is open: run the conversation with the message as
// its input instead. It fails with ErrInvalidArgument if message is not a user message with
// parts. It sets the id and the time of a message that lacks them. A message with the id of
// one that was interjected before is not added again, so a call whose outcome is unknown can
// be repeated.
func (c *Conversation) Interject(ctx context.Context, message Message) error {
	if message.Role != User {
		return Invalid("message", fmt.Sprintf("has the role %q; only user messages can be interjected", message.Role))
	}
	if err := checkHistory("message", []Message{message}); err != nil {
		return err
	}
	message = stamped([]Message{message})[0]
	write := func() error {
		return c.change(ctx, func(r *Record) error {
			if r.Open == nil {
				return NewError("agent.Interject", ErrConflict, fmt.Sprintf(
					"Conversation %s has no unfinished turn; run it with the message as its input.", c.id))
			}
			if containsID(r.Open.Interjected, message.ID) {
				return nil
			}
			open := *r.Open
			open.Interjected = append(slices.Clip(open.Interjected), message)
			r.Open = &open
			return nil
		})
	}
	if live, ok := claims.Load(c.claimKey()); ok {
		return live.(*liveTurn).add(message, write)
	}
	return write()
}

// liveTurn is how messages reach a turn that runs in this process.
type liveTurn struct {
	some atomic.Bool // messages is not empty

	mu       sync.Mutex
	messages []Message
}

// add stores a message and passes it to the turn, which cannot end in between.
func (l *liveTurn) add(m Message, store func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := store(); err != nil {
		return err
	}
	l.messages = append(l.messages, m)
	l.some.Store(true)
	return nil
}

// take returns the messages that were added since the last call.
func (l *liveTurn) take() []Message {
	if !l.some.Load() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.messages
	l.messages = nil
	l.some.Store(false)
	return out
}
