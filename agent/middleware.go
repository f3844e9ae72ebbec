package agent

import (
	"context"
	"iter"
)

// Middleware is a set of hooks around the parts of a turn. All hooks are
// optional. Before hooks run in the order of Options.Middleware, After hooks in
// reverse order; the first wrapper is the outermost. An error of a Before hook or a
// panic of any hook fails the turn as internal. For traces and metrics prefer an
// [Observer], which cannot break a turn.
type Middleware struct {
	Name string
	// BeforeTurn receives the turn's input, AfterTurn its end.
	BeforeTurn func(ctx context.Context, in []Message) error
	AfterTurn  func(ctx context.Context, end TurnFinished)
	// BeforeStep may change the request, which is a copy for this step, but not
	// what its slices and pointers refer to. AfterStep receives the complete step.
	BeforeStep func(ctx context.Context, step int, req *Request) error
	AfterStep  func(ctx context.Context, step Step)
	// Model wraps each attempt of a model call; it may answer without calling next.
	Model func(next ModelFunc) ModelFunc
	// BeforeTools may block calls of a step before permissions are requested; it is
	// called again for those that a resumed turn has yet to run. AfterTools receives all
	// results in the order of the calls.
	BeforeTools func(ctx context.Context, batch *Batch) error
	AfterTools  func(ctx context.Context, results []ToolResult)
	// Tool wraps each tool call; it may answer without calling next.
	Tool func(next ToolFunc) ToolFunc
}

// ModelFunc is [Model.Stream] as a function.
type ModelFunc func(ctx context.Context, req *Request) iter.Seq2[Chunk, error]

// ToolFunc is [Tool.Call] as a function.
type ToolFunc func(ctx context.Context, call ToolCall) (Output, error)

// Batch are the tool calls of one step that may run, in order.
type Batch struct {
	Calls   []ToolCall
	blocked map[string]ToolResult
}

// Block sets the result of a call of the batch, whose tool then does not run. The first
// block of a call wins.
func (b *Batch) Block(callID string, status ResultStatus, text string) {
	for _, c := range b.Calls {
		if _, done := b.blocked[callID]; c.ID == callID && !done {
			if b.blocked == nil {
				b.blocked = map[string]ToolResult{}
			}
			b.blocked[callID] = ToolResult{CallID: callID, Name: c.Name, Status: status, Text: text}
		}
	}
}
