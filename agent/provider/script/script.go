// Package script is a model that plays a written script. Tests, examples and a
// first start without a key use it; its [agent.ModelInfo] says what it is, and
// it never pretends to be a model that thinks.
//
//	m := script.New(
//		script.Answer{Calls: []agent.ToolCall{{Name: "weather", Arguments: `{"city":"Kiel"}`}}},
//		script.Answer{Text: "Take an umbrella."},
//	)
//
// Text is streamed word by word, arguments in pieces of about eight bytes, so
// that what reads the stream sees what a model would send. A script is played
// from its first answer to its last, one answer for each model call; [PerTurn]
// plays it anew for each user message. An answer may depend on what the turn has
// brought so far: see [Condition].
package script

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/shoal-dev/shoal/agent"
)

// Answer is one answer of the model: thoughts, text and calls in this order,
// then Err or the finish.
type Answer struct {
	// When, if set, must all hold for this answer to be given; else Else is, which
	// may have conditions of its own. A call that no answer is left for fails as
	// [agent.ClassInvalid].
	When []Condition
	Else *Answer

	Reasoning string
	Text      string
	Calls     []agent.ToolCall // an empty ID is given by the agent
	Usage     agent.Usage      // zero: about a token for every four bytes
	Finish    agent.FinishReason
	// Err, if set, cuts the answer off after what is above.
	Err error
	// Delay is waited for before every chunk.
	Delay time.Duration
}

// Model plays a script. It is safe for concurrent use; calls that run at once
// take the answers in the order in which they came.
type Model struct {
	answers []Answer
	next    atomic.Int64
	choose  func(m *Model, req *agent.Request) (Answer, error)
}

// New plays the answers one after another, one for each call. A call after the
// last one fails as [agent.ClassInvalid].
func New(answers ...Answer) *Model {
	return &Model{answers: answers, choose: func(m *Model, req *agent.Request) (Answer, error) {
		return m.at(int(m.next.Add(1))-1, req)
	}}
}

// PerTurn plays the answers anew for each user message: it takes the answer
// whose place is the number of assistant messages since the last one. A request for a
// closing answer does not count as one. PerTurn keeps nothing between calls, so any number
// of conversations can share it.
func PerTurn(answers ...Answer) *Model {
	return &Model{answers: answers, choose: func(m *Model, req *agent.Request) (Answer, error) {
		said := 0
		for i := len(req.Messages) - 1; i >= 0 && (req.Messages[i].Role != agent.User || asksToClose(req.Messages, i)); i-- {
			if req.Messages[i].Role == agent.Assistant {
				said++
			}
		}
		return m.at(said, req)
	}}
}

// asksToClose reports whether the message at i asks for a closing answer: an agent adds it
// after the last results and does not store it, so that it has no id.
func asksToClose(messages []agent.Message, i int) bool {
	return i > 0 && i == len(messages)-1 && messages[i].ID == "" && messages[i-1].Role == agent.ToolRole
}

// Func answers each call by a function of the request.
func Func(answer func(req *agent.Request) Answer) *Model {
	return &Model{choose: func(_ *Model, req *agent.Request) (Answer, error) { return answer(req), nil }}
}

// Info says that this is a script.
func (m *Model) Info() agent.ModelInfo { return agent.ModelInfo{Provider: "script", Name: "script"} }

func (m *Model) at(place int, req *agent.Request) (Answer, error) {
	if place >= len(m.answers) {
		return Answer{}, invalid("the script has %d answers, and this is call %d", len(m.answers), place+1)
	}
	for answer := &m.answers[place]; answer != nil; answer = answer.Else {
		if answer.fits(req) {
			return *answer, nil
		}
	}
	return Answer{}, invalid("the script has no answer %d for what has happened so far", place+1)
}

func invalid(format string, args ...any) error {
	return &agent.ModelError{Class: agent.ClassInvalid, Provider: "script", Detail: fmt.Sprintf(format, args...)}
}

// Stream plays the next answer.
func (m *Model) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		answer, err := m.choose(m, req)
		if err != nil {
			yield(agent.Chunk{}, err)
			return
		}
		for c := range answer.chunks(req) {
			if err := pause(ctx, answer.Delay); err != nil {
				yield(agent.Chunk{}, err)
				return
			}
			if !yield(c, nil) {
				return
			}
		}
		if answer.Err != nil {
			yield(agent.Chunk{}, answer.Err)
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// chunks yields the answer as a model would stream it.
func (a *Answer) chunks(req *agent.Request) iter.Seq[agent.Chunk] {
	return func(yield func(agent.Chunk) bool) {
		for _, w := range words(a.Reasoning) {
			if !yield(agent.Chunk{Kind: agent.ChunkReasoning, Text: w}) {
				return
			}
		}
		for _, w := range words(a.Text) {
			if !yield(agent.Chunk{Kind: agent.ChunkText, Text: w}) {
				return
			}
		}
		for i, call := range a.Calls {
			if !yieldCall(i, call, yield) {
				return
			}
		}
		if a.Err != nil {
			return
		}
		usage := a.usage(req)
		_ = yield(agent.Chunk{Kind: agent.ChunkUsage, Usage: &usage}) &&
			yield(agent.Chunk{Kind: agent.ChunkFinish, Reason: a.finish()})
	}
}

func yieldCall(i int, call agent.ToolCall, yield func(agent.Chunk) bool) bool {
	if !yield(agent.Chunk{Kind: agent.ChunkCallStart, Index: i, ID: call.ID, Name: call.Name}) {
		return false
	}
	for text := call.Arguments; text != ""; {
		piece := pieceOf(text)
		if !yield(agent.Chunk{Kind: agent.ChunkCallDelta, Index: i, Text: piece}) {
			return false
		}
		text = text[len(piece):]
	}
	return yield(agent.Chunk{Kind: agent.ChunkCallEnd, Index: i})
}

func (a *Answer) finish() agent.FinishReason {
	switch {
	case a.Finish != "":
		return a.Finish
	case len(a.Calls) > 0:
		return agent.FinishCalls
	}
	return agent.FinishStop
}

// usage estimates what the script does not say.
func (a *Answer) usage(req *agent.Request) agent.Usage {
	if a.Usage != (agent.Usage{}) {
		return a.Usage
	}
	in := len(req.Instructions)
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			in += len(p.Text)
			if p.Call != nil {
				in += len(p.Call.Arguments)
			}
			if p.Result != nil {
				in += len(p.Result.Text)
			}
		}
	}
	out := len(a.Text) + len(a.Reasoning)
	for _, c := range a.Calls {
		out += len(c.Arguments)
	}
	return agent.Usage{
		InputTokens: int64(in+3) / 4, OutputTokens: int64(out+3) / 4, ReasoningTokens: int64(len(a.Reasoning)+3) / 4,
	}
}

// words splits a text after its spaces.
func words(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(text, " ")
}

// pieceOf returns the first eight bytes or so, never half a character.
func pieceOf(text string) string {
	const size = 8
	if len(text) <= size {
		return text
	}
	end := size
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	return text[:end]
}
