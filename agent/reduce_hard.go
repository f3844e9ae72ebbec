package agent

import (
	"context"
	"fmt"
	"strings"
)

// Reduce rewrites the stored history to r.Target messages now, regardless of r.Hard
// and the thresholds. With [ReduceSummary] a summary precedes them; [ReduceNone] is
// treated as [ReduceCount]. model writes the summary unless r has a Summarizer. A
// turn's input and groups of tool calls and results are not split, so more messages
// may remain. If the summary cannot be written, nothing changes and Reduce returns the
// model's error. It fails with ErrInvalidArgument if r is malformed, and with
// ErrConflict while a turn is open or if the conversation has changed meanwhile.
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

// ReplaceOldest replaces the n oldest messages, not counting system messages, with a
// summary. It fails with ErrInvalidArgument if the summary is blank, if n is not
// positive or exceeds the number of messages, or if the cut would split a group of tool
// calls and results, and with ErrConflict as [Conversation.Reduce] does.
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

// stampSummaries sets the id and time of new summary messages.
func stampSummaries(messages []Message) []Message {
	for i := range messages {
		if messages[i].Summary && messages[i].ID == "" {
			messages[i] = stamped(messages[i : i+1])[0]
		}
	}
	return messages
}

// rewrite stores a changed record, if the conversation has not changed since it was
// loaded.
func (c *Conversation) rewrite(ctx context.Context, record Record) error {
	if now := nowUTC(); now.After(record.LastActivity) {
		record.LastActivity = now
	}
	return c.store.Replace(ctx, record)
}
