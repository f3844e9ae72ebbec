package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"strings"
)

// Ask runs one turn on a new conversation, which is not kept, with text as the input, and
// returns the text of the answer. The error is that of [Agent.Run]. A turn that ends as
// waiting is an error of kind ErrConflict, because nothing could answer its requests: set
// Options.Answer, or use Run with a conversation.
func (a *Agent) Ask(ctx context.Context, text string) (string, error) {
	r, err := a.Run(ctx, NewConversation(), Say(text))
	if err != nil {
		return "", err
	}
	if err := r.refuseWaiting("agent.Ask"); err != nil {
		return "", err
	}
	return r.Text(), nil
}

// refuseWaiting returns an error if the turn waits.
func (e *TurnFinished) refuseWaiting(op string) error {
	if e.Outcome != Waiting {
		return nil
	}
	kinds := make([]string, 0, len(e.Pending))
	for _, p := range e.Pending {
		kinds = append(kinds, strings.TrimSpace(string(p.Kind)+" "+p.Call.Name))
	}
	return NewError(op, ErrConflict, fmt.Sprintf(
		"The turn waits for an answer (%s), which nothing can give it here. Set Options.Answer, or run the agent with a conversation.", strings.Join(kinds, ", ")))
}

// Typed asks a and returns the answer as a T. It runs one turn on a new conversation, which
// is not kept. The model is asked for JSON of the schema of T ([OutputNative], or the mode
// of the agent's own Options.Output, whose types are ignored); T may be any type that has a
// schema, also a list, a number or a text. The agent's tools and its other options apply.
//
// The error is that of [Agent.Run], where the reason [ReasonOutput] means that the answer
// was not a T; of kind ErrConflict if the turn waits, as for [Agent.Ask]; and of kind
// ErrInvalidArgument if T has no schema.
func Typed[T any](ctx context.Context, a *Agent, prompt string) (T, error) {
	var last T
	for value, err := range typed[T](ctx, a, prompt, false) {
		if err != nil {
			var zero T
			return zero, err
		}
		last = value
	}
	return last, nil
}

// TypedStream is [Typed] with the values so far: it yields a T whenever more of the answer
// has arrived, at most about ten times a second, and the complete answer last. Fields that
// have not arrived have their zero values; the last text of a value may be incomplete. The
// modes with tools have no such values. A retry of the model begins again. If the turn
// fails, its error is the last element. Leaving the range cancels the turn.
func TypedStream[T any](ctx context.Context, a *Agent, prompt string) iter.Seq2[T, error] {
	return typed[T](ctx, a, prompt, true)
}

func typed[T any](ctx context.Context, a *Agent, prompt string, partials bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		asked, in, err := a.withOutput(reflect.TypeFor[T](), partials)
		if err != nil {
			yield(zero, err)
			return
		}
		left := false
		r := &Result{}
		t := asked.run(ctx, NewConversation(), []Message{Say(prompt)}, func(e Event, failed error) bool {
			err = failed
			switch e := e.(type) {
			case OutputPartial:
				if value, failed := decodeAs[T](e.Value, in); failed == nil {
					left = !yield(value, nil)
				}
			case TurnFinished:
				r.TurnFinished = e
			}
			return !left
		})
		if left {
			return
		}
		var value T
		if err == nil {
			value, err = typedResult[T](r, t, in)
		}
		yield(value, err)
	}
}

// typedResult returns the answer of a turn that has ended.
func typedResult[T any](r *Result, t *turn, in bool) (value T, err error) {
	if r.Outcome == Failed || r.Outcome == Canceled {
		return value, &turnError{r.Outcome, r.Reason, r.Message, r.Err}
	}
	if err := r.refuseWaiting("agent.Typed"); err != nil {
		return value, err
	}
	if value, err = decodeAs[T](t.m.output, in); err != nil {
		return value, &turnError{Failed, ReasonOutput, "The model's answer does not have the form that was asked for.", err}
	}
	return value, nil
}

// decodeAs reads a T, which is the field value of an object if in is true.
func decodeAs[T any](text []byte, in bool) (value T, err error) {
	if !in {
		err = json.Unmarshal(text, &value)
		return value, err
	}
	var object struct {
		Value T `json:"value"`
	}
	err = json.Unmarshal(text, &object)
	return object.Value, err
}

// withOutput returns the agent with a structured answer of type t. Providers accept only
// objects: in reports that the answer is the field value of one.
func (a *Agent) withOutput(t reflect.Type, partials bool) (asked *Agent, in bool, err error) {
	schema, err := schemaOf(t)
	if err != nil || !isObjectSchema(schema) {
		in = true
		schema, err = schemaOf(reflect.StructOf([]reflect.StructField{{Name: "Value", Type: t, Tag: `json:"value"`}}))
	}
	if err != nil {
		return nil, in, Invalid("T", fmt.Sprintf("is %s, which has no JSON Schema: %v", t, err))
	}
	out := Structured{Mode: OutputNative, NoPartials: !partials, Types: []OutputSchema{{Name: "answer", Schema: schema}}}
	if own := a.opts.Output; own != nil {
		out.Mode = own.Mode
	}
	other := *a
	other.opts.Output = &out
	if out.Mode != OutputNative && other.opts.ToolChoice.Mode == ToolsAuto {
		other.opts.ToolChoice.Mode = ToolsRequired
	}
	other.team, err = other.newTeam()
	return &other, in, err
}

func isObjectSchema(schema json.RawMessage) bool {
	var s struct {
		Type any `json:"type"`
	}
	return json.Unmarshal(schema, &s) == nil && s.Type == "object"
}
