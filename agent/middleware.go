package agent

import (
	"context"
	"iter"
)

// Middleware stands between the loop and what it drives. All hooks are
// optional. Before hooks run in the order of Options.Middleware, After hooks in
// reverse; of the wrappers the first is outermost. An error of a Before hook
// fails the turn as internal; what panics does so too. For traces and metrics
// an [Observer] is the safer place: it cannot break a turn.
type Middleware struct {
	Name string
	// BeforeTurn sees the turn's input; AfterTurn how it ended.
	BeforeTurn func(ctx context.Context, in []Message) error
	AfterTurn  func(ctx context.Context, end TurnFinished)
	// BeforeStep may change the request, which is a copy for this step, but not
	// what its slices and pointers refer to. AfterStep sees the whole step.
	BeforeStep func(ctx context.Context, step int, req *Request) error
	AfterStep  func(ctx context.Context, step Step)
	// Model wraps each attempt of a model call; it may answer without calling next.
	Model func(next ModelFunc) ModelFunc
	// BeforeTools may block calls of a step before permissions are asked; it is called
	// again for those that a resumed turn has still to run. AfterTools sees all results
	// in the order of the calls.
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

// Block answers a call of the batch without running its tool. The first block
// of a call stays.
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
