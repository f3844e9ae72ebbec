package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Conversation is a handle on one conversation in a [Store]: the history that a
// model sees, with a name, metadata and, while a turn is open, what that turn
// waits for. It holds no state of its own: every method reads the store, and any
// number of handles may be on one conversation. It is safe for concurrent use.
//
// Reads return snapshots; the caller must not change what they refer to. A
// conversation that nothing was written to yet reads as empty and is made by the
// first write. Every change moves LastActivity.
//
// One process runs at most one turn on a conversation at a time; across
// processes the store decides (see [Store]). Add, Clear and Reduce are refused
// with ErrConflict while a turn is open.
type Conversation struct {
	store Store
	id    string
}

// NewConversation returns a new conversation in a memory of its own. It lasts as
// long as the process; see [OpenConversation] for one that stays.
func NewConversation() *Conversation {
	return OpenConversation(NewMemory(), newID("cnv_"))
}

// OpenConversation returns a handle on the conversation id of store. It does no
// I/O, so it neither fails nor reports whether the conversation exists.
func OpenConversation(store Store, id string) *Conversation {
	return &Conversation{store: store, id: id}
}

// ID returns the conversation's id.
func (c *Conversation) ID() string { return c.id }

// Load returns the whole record as it is now; one with Revision 0 if nothing was
// written yet.
func (c *Conversation) Load(ctx context.Context) (Record, error) {
	r, err := c.store.Load(ctx, c.id)
	if errors.Is(err, ErrNotFound) {
		return Record{ID: c.id}, nil
	}
	return r, err
}

// Messages returns the history, oldest first, whole steps only.
func (c *Conversation) Messages(ctx context.Context) ([]Message, error) {
	r, err := c.Load(ctx)
	return r.Messages, err
}

// Count returns the number of messages.
func (c *Conversation) Count(ctx context.Context) (int, error) {
	r, err := c.Load(ctx)
	return len(r.Messages), err
}

// LastActivity returns when the conversation was last changed; the zero time if
// nothing was written yet.
func (c *Conversation) LastActivity(ctx context.Context) (time.Time, error) {
	r, err := c.Load(ctx)
	return r.LastActivity, err
}

// DisplayName returns the name that was set, else the first user message, cut to
// 30 characters, else "New Conversation".
func (c *Conversation) DisplayName(ctx context.Context) (string, error) {
	r, err := c.Load(ctx)
	if err != nil {
		return "", err
	}
	if r.DisplayName != "" {
		return r.DisplayName, nil
	}
	for _, m := range r.Messages {
		if text := strings.TrimSpace(m.Text()); m.Role == User && !m.Summary && text != "" {
			return shortened(text), nil
		}
	}
	return "New Conversation", nil
}

// shortened cuts a text to 30 characters, the last three being dots.
func shortened(text string) string {
	if runes := []rune(text); len(runes) > 30 {
		return string(runes[:27]) + "..."
	}
	return text
}

// SetDisplayName names the conversation; an empty name returns to the first user
// message.
func (c *Conversation) SetDisplayName(ctx context.Context, name string) error {
	return c.change(ctx, func(r *Record) error {
		r.DisplayName = name
		return nil
	})
}

// Metadata returns what [Conversation.SetMetadata] stored.
func (c *Conversation) Metadata(ctx context.Context) (map[string]string, error) {
	r, err := c.Load(ctx)
	return maps.Clone(r.Metadata), err
}

// SetMetadata stores value under key, over what was there. A blank key is
// refused as ErrInvalidArgument.
func (c *Conversation) SetMetadata(ctx context.Context, key, value string) error {
	if strings.TrimSpace(key) == "" {
		return Invalid("key", "must not be blank")
	}
	return c.change(ctx, func(r *Record) error {
		r.Metadata = merged(r.Metadata, map[string]string{key: value})
		return nil
	})
}

// Add puts messages at the end of the history, all in one write or none.
// Messages without an id or a time get them. ErrInvalidArgument when there are none,
// one has no parts or an unknown role, or tool calls and results do not belong
// together: an assistant message with calls must be followed by one tool message
// with all their results, in order.
func (c *Conversation) Add(ctx context.Context, messages ...Message) error {
	if len(messages) == 0 {
		return Invalid("messages", "must not be empty")
	}
	if err := checkHistory("messages", messages); err != nil {
		return err
	}
	added := stamped(messages)
	return c.change(ctx, func(r *Record) error {
		if err := r.refuseOpen("add messages to it"); err != nil {
			return err
		}
		r.Messages = append(slices.Clip(r.Messages), added...)
		return nil
	})
}

// stamped returns copies of the messages that have an id and a time.
func stamped(messages []Message) []Message {
	out := slices.Clone(messages)
	for i := range out {
		if out[i].ID == "" {
			out[i].ID = newID("msg_")
		}
		if out[i].CreatedAt.IsZero() {
			out[i].CreatedAt = nowUTC()
		}
	}
	return out
}

// Clear empties the messages, the summary and the metadata. The name, remembered
// permissions and the states of context providers stay.
func (c *Conversation) Clear(ctx context.Context) error {
	return c.change(ctx, func(r *Record) error {
		if err := r.refuseOpen("clear it"); err != nil {
			return err
		}
		r.Messages, r.Summary, r.Metadata = nil, nil, nil
		return nil
	})
}

// Fork makes a new conversation in the same store out of the history up to and
// including the message with the given id; "" takes all of it. An assistant
// message with tool calls and the results that follow it count as one, whichever
// of them is named, so they are never separated. The fork takes the name,
// metadata and remembered permissions along, the summary if it covers no more
// than was taken, the states of context providers if everything was taken, and
// never an open turn. The source stays as it is. ErrNotFound when no message has
// that id.
func (c *Conversation) Fork(ctx context.Context, messageID string) (*Conversation, error) {
	r, err := c.Load(ctx)
	if err != nil {
		return nil, err
	}
	n := len(r.Messages)
	if messageID != "" {
		at := slices.IndexFunc(r.Messages, func(m Message) bool { return m.ID == messageID })
		if at < 0 {
			return nil, NewError("agent.Fork", ErrNotFound, fmt.Sprintf(
				"Conversation %s has no message %s; fork it from one that Messages returns.", c.id, messageID))
		}
		n = at + 1
		for n < len(r.Messages) && r.Messages[n].Role == ToolRole {
			n++
		}
	}
	fork := Record{
		ID: newID("cnv_"), Parent: c.id, DisplayName: r.DisplayName,
		Metadata: maps.Clone(r.Metadata), Rules: maps.Clone(r.Rules), Messages: r.Messages[:n:n],
	}
	if n == len(r.Messages) {
		fork.ContextState = maps.Clone(r.ContextState)
	}
	if r.Summary != nil && r.Summary.Covers <= countCoverable(fork.Messages) {
		fork.Summary = r.Summary
	}
	fork.CreatedAt = nowUTC()
	fork.LastActivity = fork.CreatedAt
	if err := c.store.Replace(ctx, fork); err != nil {
		return nil, err
	}
	return OpenConversation(c.store, fork.ID), nil
}

// countCoverable counts the messages that a summary can stand for.
func countCoverable(messages []Message) int {
	n := 0
	for i := range messages {
		if messages[i].Role != System {
			n++
		}
	}
	return n
}

// Pending returns the requests that the unfinished turn waits for, those of its
// sub-agents included: neither answered nor expired.
func (c *Conversation) Pending(ctx context.Context) ([]Pending, error) {
	r, err := c.Load(ctx)
	if err != nil || r.Open == nil || len(r.Open.Steps) == 0 {
		return nil, err
	}
	now := time.Now()
	var out []Pending
	for _, p := range r.Open.Steps[len(r.Open.Steps)-1].Pending {
		if p.Answer == nil && !p.expired(now) {
			out = append(out, p)
		}
	}
	return out, nil
}

func (p Pending) expired(now time.Time) bool {
	return !p.ExpiresAt.IsZero() && !now.Before(p.ExpiresAt)
}

// refuseOpen refuses a change that a turn would not survive.
func (r *Record) refuseOpen(what string) error {
	if r.Open == nil {
		return nil
	}
	return NewError("agent.Conversation", ErrConflict, fmt.Sprintf(
		"Conversation %s has the unfinished turn %s; finish it by a run without input, or discard it, before you %s.", r.ID, r.Open.ID, what))
}

// change loads the record, changes a copy and stores it, again if somebody else
// was faster. change must not write into what the record refers to.
func (c *Conversation) change(ctx context.Context, change func(*Record) error) error {
	for {
		r, err := c.Load(ctx)
		if err != nil {
			return err
		}
		now := nowUTC()
		if r.Revision == 0 {
			r.CreatedAt = now
		}
		if err := change(&r); err != nil {
			return err
		}
		if now.After(r.LastActivity) {
			r.LastActivity = now
		}
		if err := c.store.Replace(ctx, r); !errors.Is(err, ErrConflict) {
			return err
		}
	}
}
