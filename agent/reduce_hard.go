package agent

import (
	"context"
	"fmt"
	"strings"
)

// Reduce rewrites the stored history to r.Target messages now, whatever r.Hard
// and the thresholds say: a summary in front with [ReduceSummary], else without;
// [ReduceNone] counts. model writes the summary unless r has a Summarizer. A
// turn's input and groups of tool calls and results stay whole, so more may
// stay. If the summary cannot be written, nothing changes and the error is the
// model's. ErrInvalidArgument when r is malformed, ErrConflict while a turn is open or
// when the conversation was changed meanwhile.
func (c *Conversation) Reduce(ctx context.Context, r Reduction, model Model) (Reduced, error) {
	if err := r.check(); err != nil {
		return Reduced{}, err
	}
	if r.Strategy == "" || r.Strategy == ReduceNone {
		r.Strategy = ReduceCount
	}
	if r.Strategy == ReduceSummary && model == nil && r.Summarizer == nil {
		return Reduced{}, Invalid("model", "is missing: somebody has to write the summary")
	}
	record, err := c.Load(ctx)
	if err != nil {
		return Reduced{}, err
	}
	if err := record.refuseOpen("reduce it"); err != nil {
		return Reduced{}, err
	}
	by := newReducer(r, model, record.Summary)
	by.opts.Threshold = 0
	view, did, err := by.view(ctx, record.Messages, false)
	out := Reduced{Strategy: r.Strategy, Before: len(record.Messages), After: len(record.Messages), Hard: true}
	if err != nil || did == nil {
		return out, err
	}
	out.After, out.Cached, out.Usage, out.Model = len(view), did.Cached, did.Usage, did.Model
	record.Messages, record.Summary = stampSummaries(view), nil
	return out, c.rewrite(ctx, record)
}

// ReplaceOldest hard-reduces by hand: it removes the n oldest messages, system
// messages aside, and puts a summary in their place. ErrInvalidArgument when the
// summary is blank, n is not positive or more than there are, or the cut would go
// through a group of tool calls and results; ErrConflict as for
// [Conversation.Reduce].
func (c *Conversation) ReplaceOldest(ctx context.Context, n int, summary string) error {
	switch {
	case strings.TrimSpace(summary) == "":
		return Invalid("summary", "must not be empty")
	case n <= 0:
		return Invalid("n", "Must be greater than zero")
	}
	record, err := c.Load(ctx)
	if err != nil {
		return err
	}
	if err := record.refuseOpen("reduce it"); err != nil {
		return err
	}
	h := newPast(record.Messages)
	if n > len(h.at) {
		return &Error{
			Op: "agent.ReplaceOldest", Kind: ErrInvalidArgument, Fields: []FieldError{{Location: "n", Message: "is too large"}},
			Msg: fmt.Sprintf("Cannot remove %d messages. Only %d non-system messages available.", n, len(h.at)),
		}
	}
	if n < len(h.at) && h.message(n).Role == ToolRole {
		return Invalid("n", "would separate tool calls from their results; take one less or one more")
	}
	var out []Message
	for i, m := range record.Messages {
		if i <= h.at[n-1] && m.Role == System {
			out = append(out, m)
		}
	}
	out = append(out, summaryMessage(summary))
	record.Messages = stampSummaries(append(out, record.Messages[h.at[n-1]+1:]...))
	record.Summary = nil
	return c.rewrite(ctx, record)
}

// stampSummaries gives a new summary message its id and time.
func stampSummaries(messages []Message) []Message {
	for i := range messages {
		if messages[i].Summary && messages[i].ID == "" {
			messages[i] = stamped(messages[i : i+1])[0]
		}
	}
	return messages
}

// rewrite stores a record that was loaded before, if it is still the newest.
func (c *Conversation) rewrite(ctx context.Context, record Record) error {
	if now := nowUTC(); now.After(record.LastActivity) {
		record.LastActivity = now
	}
	return c.store.Replace(ctx, record)
}
