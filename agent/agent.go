package agent

import (
	"context"
	"errors"
	"iter"
)

// Agent is a model with instructions, tools and rules. It is immutable and safe
// for concurrent use.
type Agent struct {
	model  Model
	models []Model // that model consists of
	opts   Options
	team   map[string]*member // itself and those that it can transfer to, by name
}

// Stream runs one turn on c and yields its events as they happen; the last one is
// [TurnFinished]. The error is non-nil only if the turn could not begin: then a
// [*BeginError] is the first and only element:
//
//   - ErrInvalidArgument: input is malformed, or there is neither input nor history.
//   - ErrConflict: c is running a turn, or has an unfinished turn and there is input.
//   - The store's error, or that of ctx, if it had ended before.
//
// Without input, an unfinished turn is resumed; if there is no unfinished turn, the
// model answers the history as it is. Stream blocks between events for as long as
// the model, the tools and the consumer take. When ctx ends, the turn is canceled
// and stored as canceled; leaving the range early does the same, without further
// events. Every goroutine of the turn has ended when the range ends (see [Tool] for
// tools that ignore their context).
func (a *Agent) Stream(ctx context.Context, c *Conversation, input ...Message) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) { a.run(ctx, c, input, yield) }
}

// BeginError reports that a turn could not begin. Its text is that of Err, which it wraps.
// Nothing is stored unless TurnID is set: then the store failed after it had stored the
// input, and running the conversation without input resumes the turn.
type BeginError struct {
	TurnID string
	Err    error
}

// Error implements [error].
func (e *BeginError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *BeginError) Unwrap() error { return e.Err }

// Run runs one turn on c and returns its result, which is nil only together with a
// [*BeginError] without a TurnID. The error is that of [Agent.Stream], or, if the turn
// failed or was canceled, one that names the reason; the result is complete in that case.
// If the turn took longer than Options.TurnTimeout, errors.Is finds
// [context.DeadlineExceeded] in the error. A suspended turn is not an error.
func (a *Agent) Run(ctx context.Context, c *Conversation, input ...Message) (*Result, error) {
	r := &Result{}
	var err error
	t := a.run(ctx, c, input, func(e Event, failed error) bool {
		if done, ok := e.(TurnFinished); ok {
			r.TurnFinished = done
		}
		err = failed
		return true
	})
	if err != nil {
		var failed *BeginError
		if !errors.As(err, &failed) || failed.TurnID == "" {
			return nil, err
		}
		r.TurnID, r.Outcome, r.Reason, r.Unsaved = failed.TurnID, Failed, ReasonStorage, true
		return r, err
	}
	r.Messages = t.turnMessages()
	if t.m != nil && r.Outcome == Completed {
		r.Output, r.Structured = t.m.output, t.m.outName
	}
	if r.Outcome == Failed || r.Outcome == Canceled {
		return r, &turnError{r.Outcome, r.Reason, r.Message, r.Err}
	}
	return r, nil
}

// Result is the result of a turn.
type Result struct {
	TurnFinished
	// Messages are the messages that the turn added after its input: complete steps,
	// in order. Those of a resumed turn start with its first step.
	Messages []Message
	// Output is the structured answer, nil unless one was requested and received.
	Output []byte
	// Structured is the name of the type that the model chose, in union mode.
	Structured string
}

// Text returns the text of the last assistant message.
func (r *Result) Text() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == Assistant {
			return r.Messages[i].Text()
		}
	}
	return ""
}
