package openai

import (
	"encoding/json"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

var responsesAPI = api{path: "/responses", request: responsesRequest, answer: newResponsesAnswer}

// The events that carry the answer in pieces.
const (
	textDelta      = "response.output_text.delta"
	refusalDelta   = "response.refusal.delta"
	argumentsDelta = "response.function_call_arguments.delta"
	summaryDelta   = "response.reasoning_summary_text.delta"
	thoughtDelta   = "response.reasoning_text.delta" // open models show the thoughts themselves
)

// deltaEvents are those that the scanner reads.
var deltaEvents = [...]string{textDelta, argumentsDelta, summaryDelta, thoughtDelta}

// responseEvent is an event of the Responses wire.
type responseEvent struct {
	Type         string          `json:"type"`
	OutputIndex  int             `json:"output_index"`
	ContentIndex int             `json:"content_index"`
	SummaryIndex int             `json:"summary_index"`
	Delta        lenient         `json:"delta"`
	Item         *responseItem   `json:"item"`
	Response     *response       `json:"response"`
	Error        json.RawMessage `json:"error"`
}

// response is a whole answer, or what is known of it.
type response struct {
	Object     string          `json:"object"`
	Status     string          `json:"status"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []responseItem `json:"output"`
	Usage  *struct {
		Input        int64 `json:"input_tokens"`
		Output       int64 `json:"output_tokens"`
		InputDetails struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		OutputDetails struct {
			Reasoning int64 `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

// itemState is what is known of one item of the answer.
type itemState struct {
	streamed bool // pieces of it were yielded
	part     int  // of the thoughts, the one that grows
	call     int  // its index among the calls, -1 before it is open
	done     bool
}

// responsesAnswer builds one answer from the events of the Responses wire.
type responsesAnswer struct {
	m     *model
	out   *wire.Exchange
	slow  bool // tests: never use the scanner
	piece responsePiece

	items    map[int]*itemState
	calls    int
	thoughts []json.RawMessage // items of the part of thoughts that grows
	texts    []textPiece       // of the part of text that grows, or grew last
	inText   bool
	refused  bool
	ended    agent.FinishReason
	usage    *agent.Usage
}

func newResponsesAnswer(m *model, out *wire.Exchange) answer {
	return &responsesAnswer{m: m, out: out, items: map[int]*itemState{}}
}

func (a *responsesAnswer) item(output int) *itemState {
	s := a.items[output]
	if s == nil {
		s = &itemState{call: -1}
		a.items[output] = s
	}
	return s
}

func (a *responsesAnswer) event(data []byte) (bool, error) {
	if p := &a.piece; !a.slow && p.scan(data) {
		part := p.part
		if p.kind == summaryDelta {
			part = p.thought
		}
		a.delta(p.kind, p.output, part, p.delta)
		return false, nil
	}
	var e responseEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return false, a.out.Malformed("not an event of the Responses API", err)
	}
	switch e.Type {
	case textDelta, refusalDelta, argumentsDelta, thoughtDelta:
		a.delta(e.Type, e.OutputIndex, e.ContentIndex, string(e.Delta))
	case summaryDelta:
		a.delta(e.Type, e.OutputIndex, e.SummaryIndex, string(e.Delta))
	case "response.output_item.added":
		if e.Item != nil && e.Item.Type == "function_call" {
			a.openCall(a.item(e.OutputIndex), e.Item)
		}
	case "response.output_item.done":
		if e.Item != nil {
			a.itemDone(e.OutputIndex, e.Item)
		}
	case "response.completed", "response.incomplete", "response.failed":
		if e.Response == nil {
			return false, a.out.Malformed("an end without a response", nil)
		}
		return true, a.responseDone(e.Response, data)
	case "error":
		return false, a.out.Failure(0, data)
	case "":
		if len(e.Error) > 0 && string(e.Error) != "null" {
			return false, a.out.Failure(0, data)
		}
	}
	return false, nil
}

func (a *responsesAnswer) whole(data []byte) error {
	var r response
	if err := json.Unmarshal(data, &r); err != nil {
		if p := parseProblem(data); p.message != "" { // an error in an array
			return a.out.Failure(0, data)
		}
		return a.out.Malformed("a body that is not an answer", err)
	}
	if len(r.Error) > 0 && string(r.Error) != "null" {
		return a.out.Failure(0, data)
	}
	if r.Status == "" && r.Output == nil {
		return a.out.Malformed("an answer without output", nil)
	}
	return a.responseDone(&r, data)
}

// delta yields a piece of an item.
func (a *responsesAnswer) delta(kind string, output, part int, text string) {
	if text == "" {
		return
	}
	s := a.item(output)
	c := agent.Chunk{Kind: agent.ChunkText, Text: text}
	switch kind {
	case refusalDelta:
		a.refused = true
	case argumentsDelta:
		if s.call < 0 {
			return // never opened: its end brings it whole
		}
		c.Kind, c.Index = agent.ChunkCallDelta, s.call
	case summaryDelta, thoughtDelta:
		if s.streamed && s.part != part {
			c.Text = "\n\n" + text
		}
		c.Kind, s.part = agent.ChunkReasoning, part
	}
	if c.Kind != agent.ChunkReasoning {
		a.thoughts = nil
	}
	if c.Kind == agent.ChunkText && !a.inText {
		a.texts = nil
	}
	if c.Kind != agent.ChunkCallDelta {
		a.inText = c.Kind == agent.ChunkText
	}
	s.streamed = true
	a.out.Emit(c)
}

func (a *responsesAnswer) openCall(s *itemState, item *responseItem) {
	if s.call >= 0 {
		return
	}
	a.thoughts, a.inText = nil, false
	s.call = a.calls
	a.calls++
	a.out.Emit(agent.Chunk{Kind: agent.ChunkCallStart, Index: s.call, ID: item.CallID, Name: item.Name})
}

// itemDone closes an item, and yields it if that was not done in pieces.
func (a *responsesAnswer) itemDone(output int, item *responseItem) {
	s := a.item(output)
	if s.done {
		return
	}
	s.done = true
	switch item.Type {
	case "message":
		if !s.streamed {
			for i, p := range item.Content {
				a.delta(textDelta, output, i, p.Text)
				a.delta(refusalDelta, output, i, p.Refusal)
			}
		}
		if s.streamed {
			a.messageDone(item)
		}
	case "function_call":
		a.openCall(s, item)
		if !s.streamed {
			a.delta(argumentsDelta, output, 0, string(item.Arguments))
		}
		if item.ID != "" {
			a.out.Emit(agent.Chunk{
				Kind: agent.ChunkOpaque, Call: true, Index: s.call, Opaque: a.m.opaque(opaque{ID: item.ID}),
			})
		}
		a.out.Emit(agent.Chunk{Kind: agent.ChunkCallEnd, Index: s.call})
	case "reasoning":
		a.reasoningDone(s, output, item)
	default:
		a.keep(item)
	}
}

// reasoningDone keeps the item itself with its part. Items that follow each
// other are one part for the receiver, so the part keeps all of them.
func (a *responsesAnswer) reasoningDone(s *itemState, output int, item *responseItem) {
	if !s.streamed {
		for i, p := range item.Summary {
			a.delta(summaryDelta, output, i, p.Text)
		}
	}
	if !s.streamed {
		for i, p := range item.Content {
			a.delta(thoughtDelta, output, i, p.Text)
		}
	}
	if item.Encrypted == "" {
		return // the provider knows nothing of it at the next call
	}
	a.inText = false
	if !s.streamed { // hidden thoughts need a part too
		a.out.Emit(agent.Chunk{Kind: agent.ChunkReasoning})
	}
	a.thoughts = append(a.thoughts, item.raw)
	a.out.Emit(agent.Chunk{Kind: agent.ChunkOpaque, Opaque: a.m.opaque(opaque{Items: a.thoughts})})
}

// responseDone takes the end of an answer, with the items that no event ended.
func (a *responsesAnswer) responseDone(r *response, data []byte) error {
	if u := r.Usage; u != nil {
		a.usage = &agent.Usage{
			InputTokens: u.Input, CachedTokens: u.InputDetails.Cached,
			OutputTokens: u.Output, ReasoningTokens: u.OutputDetails.Reasoning,
		}
	}
	if r.Status == "failed" {
		said := data
		if isObject(r.Error) {
			said = r.Error
		}
		return a.out.Failure(0, said)
	}
	silent := len(a.items) == 0
	for i := range r.Output {
		if silent || a.items[i] != nil {
			a.itemDone(i, &r.Output[i])
		}
	}
	a.ended = agent.FinishStop
	switch {
	case r.Incomplete.Reason == "max_output_tokens":
		a.ended = agent.FinishLength
	case r.Incomplete.Reason == "content_filter":
		a.ended = agent.FinishFiltered
	case r.Status == "incomplete" || r.Status == "cancelled":
		a.ended = agent.FinishOther
	case a.calls > 0:
		a.ended = agent.FinishCalls
	case a.refused:
		a.ended = agent.FinishFiltered
	}
	return nil
}

func (a *responsesAnswer) tokens() *agent.Usage { return a.usage }

func (a *responsesAnswer) finish() (agent.FinishReason, bool) { return a.ended, a.ended != "" }
