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
// waits for. It holds no state of its own: every method reads the store, and a
// conversation may have any number of handles. It is safe for concurrent use.
//
// Reads return snapshots; the caller must not change what they refer to. A
// conversation that was never written reads as empty; the first write creates it.
// Every change updates LastActivity.
//
// One process runs at most one turn on a conversation at a time; across
// processes the store decides (see [Store]). Add, Clear and Reduce are refused
// with ErrConflict while a turn is open.
type Conversation struct {
	store Store
	id    string
}

// NewConversation returns a new conversation in a memory store of its own. It lasts
// as long as the process; use [OpenConversation] for a durable one.
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

// Load returns the whole record as it is now. If nothing was written yet, the
// record's Revision is 0.
func (c *Conversation) Load(ctx context.Context) (Record, error) {
	r, err := c.store.Load(ctx, c.id)
	if errors.Is(err, ErrNotFound) {
		return Record{ID: c.id}, nil
	}
	return r, err
}

// Messages returns the history, oldest first, complete steps only.
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

// DisplayName returns the name that was set, otherwise the first user message,
// truncated to 30 characters, otherwise "New Conversation".
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

// shortened truncates a text to 30 characters, the last three of which are dots.
func shortened(text string) string {
	if runes := []rune(text); len(runes) > 30 {
		return string(runes[:27]) + "..."
	}
	return text
}

// SetDisplayName names the conversation; an empty name restores the name derived
// from the first user message.
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

// SetMetadata stores value under key and replaces the previous value. It fails with
// ErrInvalidArgument if the key is blank.
func (c *Conversation) SetMetadata(ctx context.Context, key, value string) error {
	if strings.TrimSpace(key) == "" {
		return Invalid("key", "must not be blank")
	}
	return c.change(ctx, func(r *Record) error {
		r.Metadata = merged(r.Metadata, map[string]string{key: value})
		return nil
	})
}

// Add appends messages to the history in one write. It sets the id and the time of
// messages that lack them. It fails with ErrInvalidArgument if messages is empty, if
// a message has no parts or an unknown role, or if tool calls and results do not
// match: an assistant message with calls must be followed by one tool message
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

// Clear removes the messages, the summary and the metadata. The name, remembered
// permissions and the states of context providers remain.
func (c *Conversation) Clear(ctx context.Context) error {
	return c.change(ctx, func(r *Record) error {
		if err := r.refuseOpen("clear it"); err != nil {
			return err
		}
		r.Messages, r.Summary, r.Metadata = nil, nil, nil
		return nil
	})
}

// Fork creates a conversation in the same store from the history up to and
// including the message with the given id; "" means the whole history. An assistant
// message with tool calls and the results that follow it count as one message,
// whichever of them the id names, so they are never separated. The fork copies the
// name, metadata and remembered permissions, the summary if it covers only copied
// messages, the states of context providers if the whole history was copied, and
// never an open turn. The source does not change. Fork fails with ErrNotFound if no
// message has that id.
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

// countCoverable counts the messages that a summary can cover.
func countCoverable(messages []Message) int {
	n := 0
	for i := range messages {
		if messages[i].Role != System {
			n++
		}
	}
	return n
}

// Pending returns the requests of the unfinished turn and of its sub-agents that are
// neither answered nor expired.
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

// refuseOpen returns an error if a turn is open, for changes that would break it.
func (r *Record) refuseOpen(what string) error {
	if r.Open == nil {
		return nil
	}
	return NewError("agent.Conversation", ErrConflict, fmt.Sprintf(
		"Conversation %s has the unfinished turn %s; finish it with a run without input, or discard it, before you %s.", r.ID, r.Open.ID, what))
}

// change loads the record, changes a copy and stores it, and repeats this if another
// writer was faster. change must not write to what the record refers to.
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
