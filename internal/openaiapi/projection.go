package openaiapi

import (
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/exchange"
)

// chunk is a chat completion, or a piece of one.
type chunk struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage,omitempty"`
}

// choice is the one choice of a completion: Message when it is whole, Delta in a piece.
type choice struct {
	Index        int     `json:"index"`
	Message      *spoken `json:"message,omitempty"`
	Delta        *spoken `json:"delta,omitempty"`
	FinishReason *string `json:"finish_reason"`
}

// spoken is what an agent says.
type spoken struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	Reasoning string     `json:"reasoning_content,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	Index    *int   `json:"index,omitempty"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	TotalTokens      int64 `json:"total_tokens"`
	PromptDetails    struct {
		CachedTokens int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		ReasoningTokens int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// projection shows what the runs of an agent write as a chat completion: an [exchange.View]. It is a
// pure state machine but for the time of the completion.
type projection struct {
	id      string
	created int64
	model   string
	mine    func(shoal.RunID) bool // whether a run is the agent's
	tools   map[string]bool        // the client's

	parts   map[shoal.PartID]*part
	order   []*part // texts in the order of their beginnings
	last    *part   // whose text was shown last
	calls   []toolCall
	thought string
	named   map[shoal.PendingID]bool // what was named as waiting
	out     []chunk
	begun   bool
}

// part is a text of the agent: as it is, and as much of it as was shown.
type part struct {
	text, shown string
}

func newProjection(x *completion) *projection {
	p := &projection{
		created: time.Now().Unix(), model: x.in.Model, tools: map[string]bool{}, parts: map[shoal.PartID]*part{}, named: map[shoal.PendingID]bool{},
		mine: func(id shoal.RunID) bool { return x.Runs[id] != nil && x.Runs[id].AgentID == x.agent.ID },
	}
	for id, run := range x.Runs {
		if p.id == "" || run.AgentID == x.agent.ID {
			p.id = string(id)
		}
	}
	for _, t := range x.in.Tools {
		p.tools[t.Function.Name] = true
	}
	return p
}

// take returns the pieces since the last call.
func (p *projection) take() []chunk {
	out := p.out
	p.out = nil
	return out
}

func (p *projection) chunk(object string, choices ...choice) chunk {
	return chunk{ID: p.id, Object: object, Created: p.created, Model: p.model, Choices: append([]choice{}, choices...)}
}

// say adds a piece.
func (p *projection) say(d spoken) {
	if !p.begun {
		p.begun = true
		d.Role = "assistant"
	}
	p.out = append(p.out, p.chunk("chat.completion.chunk", choice{Delta: &d}))
}

// separator is between two texts.
const separator = "\n\n"

// part returns a text of the agent.
func (p *projection) part(h shoal.PartHead) *part {
	x := p.parts[h.PartID]
	if x == nil {
		x = &part{}
		p.parts[h.PartID] = x
		p.order = append(p.order, x)
	}
	return x
}

// set makes a text what it is now, and shows what is new of it. A text that has changed since it was
// shown is shown once more, because the protocol cannot take anything back.
func (p *projection) set(x *part, text string) {
	x.text = text
	if strings.HasPrefix(x.shown, text) {
		return
	}
	rest, grown := strings.CutPrefix(text, x.shown)
	if !grown {
		rest = text
	}
	if (x != p.last || !grown) && p.last != nil {
		rest = separator + rest
	}
	p.last, x.shown = x, text
	p.say(spoken{Content: &rest})
}

// Message shows a message of a run as it is; see [exchange.View].
func (p *projection) Message(m shoal.Message, run shoal.RunID) {
	if !p.mine(run) {
		return
	}
	for _, held := range m.Parts {
		if held.Type != shoal.TextPart || held.Private || held.Text == "" {
			continue
		}
		x := p.part(shoal.PartHead{PartID: held.ID})
		if held.Status == shoal.PartStreaming && strings.HasPrefix(x.text, held.Text) {
			continue // the deltas are newer than the stored text
		}
		p.set(x, held.Text)
	}
}

// Delta shows a piece of a text, or of reasoning.
func (p *projection) Delta(what shoal.EventType, d shoal.DeltaData, run shoal.RunID) {
	if !p.mine(run) || d.Delta == "" {
		return
	}
	switch what {
	case shoal.EventTextDelta:
		x := p.part(d.PartHead)
		if d.Offset <= len(x.text) && d.Offset+len(d.Delta) > len(x.text) {
			p.set(x, x.text[:d.Offset]+d.Delta)
		}
	case shoal.EventReasoningDelta:
		p.think(d.Delta)
	}
}

// think shows reasoning.
func (p *projection) think(text string) {
	p.thought += text
	p.say(spoken{Reasoning: text})
}

// EndText shows a whole text.
func (p *projection) EndText(d shoal.TextData) {
	if x := p.parts[d.PartID]; x != nil || d.RunID != nil && p.mine(*d.RunID) {
		p.set(p.part(d.PartHead), d.Text)
	}
}

// BeginCall does nothing: the server executes its own tools.
func (p *projection) BeginCall(shoal.ToolInputData, shoal.RunID) {}

// EndInput does nothing, as BeginCall.
func (p *projection) EndInput(shoal.ToolInputData, shoal.RunID) {}

// Output does nothing, as BeginCall.
func (p *projection) Output(shoal.ToolOutputData, shoal.RunID) {}

// Reset records that a text is shorter, or gone. What was shown of it stays.
func (p *projection) Reset(d shoal.PartResetData, removed bool) {
	x := p.parts[d.PartID]
	switch {
	case x == nil:
	case removed:
		x.text = ""
	default:
		x.text = x.text[:min(d.Offset, len(x.text))]
	}
}

// Settled does nothing: what waits is asked for when the runs no longer go on.
func (p *projection) Settled(shoal.PendingAction) {}

// waits shows what waits for the client, and returns why the completion ends: tool_calls for calls of the
// client's tools, stop for a question or for a reply, and "" if all that waits has to be answered
// elsewhere.
func (p *projection) waits(waiting []shoal.PendingAction) (finish string) {
	if len(waiting) == 0 {
		return "stop"
	}
	for _, w := range waiting {
		switch {
		case w.Kind == shoal.PendingClientTool && p.tools[w.ToolName]:
			p.call(w)
			finish = "tool_calls"
		case w.Kind == shoal.PendingQuestion && finish == "":
			p.ask(w)
			finish = "stop"
		}
	}
	if finish != "" {
		return finish
	}
	for _, w := range waiting {
		if !p.named[w.ID] {
			p.named[w.ID] = true
			p.think("Waiting for somebody to answer " + w.ToolName + ": in the console of Shoal, or with `shoal approvals`.\n")
		}
	}
	return ""
}

// call shows a call of one of the client's tools.
func (p *projection) call(w shoal.PendingAction) {
	index := len(p.calls)
	c := toolCall{Index: &index, ID: exchange.CallID(w.RunID, w.ToolCallID), Type: "function"}
	c.Function.Name, c.Function.Arguments = w.ToolName, string(w.Args)
	p.calls = append(p.calls, c)
	p.say(spoken{ToolCalls: []toolCall{c}})
}

// ask shows a question.
func (p *projection) ask(w shoal.PendingAction) {
	if w.Question == nil {
		return
	}
	text := *w.Question
	for _, option := range w.Options {
		text += "\n- " + option
	}
	p.set(p.part(shoal.PartHead{PartID: shoal.PartID(w.ID)}), text)
}

// finish adds the last piece.
func (p *projection) finish(reason string) {
	p.out = append(p.out, p.chunk("chat.completion.chunk", choice{Delta: &spoken{}, FinishReason: &reason}))
}

// usage adds the piece that says what the completion has used.
func (p *projection) usage(u shoal.Usage) {
	c := p.chunk("chat.completion.chunk")
	c.Usage = usageOf(u)
	p.out = append(p.out, c)
}

// whole returns the completion in one piece.
func (p *projection) whole(reason string, u shoal.Usage) chunk {
	var texts []string
	for _, x := range p.order {
		if x.text != "" {
			texts = append(texts, x.text)
		}
	}
	content := strings.Join(texts, separator)
	m := spoken{Role: "assistant", Content: &content, Reasoning: p.thought}
	for _, c := range p.calls {
		c.Index = nil
		m.ToolCalls = append(m.ToolCalls, c)
	}
	out := p.chunk("chat.completion", choice{Message: &m, FinishReason: &reason})
	out.Usage = usageOf(u)
	return out
}

func usageOf(u shoal.Usage) *usage {
	out := &usage{PromptTokens: u.InputTokens, CompletionTokens: u.OutputTokens, TotalTokens: u.InputTokens + u.OutputTokens}
	out.PromptDetails.CachedTokens, out.CompletionDetails.ReasoningTokens = u.CachedInputTokens, u.ReasoningTokens
	return out
}
