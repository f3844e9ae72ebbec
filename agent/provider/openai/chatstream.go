package openai

import (
	"encoding/json"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

var chatAPI = api{path: "/chat/completions", request: chatRequest, answer: newChatAnswer}

// The fields in which servers send thoughts.
const (
	fieldReasoningContent = "reasoning_content" // DeepSeek, vLLM, llama.cpp
	fieldReasoning        = "reasoning"         // OpenRouter, Ollama, newer vLLM
)

// chatChunk is a chunk of a stream, or a whole answer.
type chatChunk struct {
	Choices []chatChoice    `json:"choices"`
	Usage   *chatUsage      `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Object  lenient         `json:"object"`
}

type chatChoice struct {
	Index        int        `json:"index"`
	Delta        *chatDelta `json:"delta"`
	Message      *chatDelta `json:"message"`
	FinishReason string     `json:"finish_reason"`
	Usage        *chatUsage `json:"usage"`
}

type chatDelta struct {
	Content          lenient    `json:"content"`
	ReasoningContent lenient    `json:"reasoning_content"`
	Reasoning        lenient    `json:"reasoning"`
	Refusal          string     `json:"refusal"`
	ToolCalls        []callPart `json:"tool_calls"`
}

// callPart is a piece of a tool call.
type callPart struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string   `json:"name"`
		Arguments jsonText `json:"arguments"`
	} `json:"function"`
}

// lenient is a text that some servers wrap: an array of parts with a text.
// Any other value that is not a string decodes as an empty text.
type lenient string

// UnmarshalJSON never fails on valid JSON.
func (l *lenient) UnmarshalJSON(raw []byte) error {
	*l = ""
	switch raw[0] {
	case '"':
		return json.Unmarshal(raw, (*string)(l))
	case '[':
		var parts []struct {
			Type string  `json:"type"`
			Text lenient `json:"text"`
		}
		if json.Unmarshal(raw, &parts) == nil {
			for _, p := range parts {
				*l += p.Text
			}
		}
	}
	return nil
}

// jsonText is a text that some servers send as the JSON that it holds.
type jsonText string

// UnmarshalJSON never fails on valid JSON.
func (t *jsonText) UnmarshalJSON(raw []byte) error {
	*t = ""
	switch raw[0] {
	case '"':
		return json.Unmarshal(raw, (*string)(t))
	case '{', '[':
		*t = jsonText(raw)
	}
	return nil
}

type chatUsage struct {
	Input        int64 `json:"prompt_tokens"`
	Output       int64 `json:"completion_tokens"`
	Total        int64 `json:"total_tokens"`
	CacheHit     int64 `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached       int64 `json:"cached_tokens"`           // Moonshot
	InputDetails struct {
		Cached     int64 `json:"cached_tokens"`
		CacheWrite int64 `json:"cache_write_tokens"` // OpenRouter
	} `json:"prompt_tokens_details"`
	OutputDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *chatUsage) usage() *agent.Usage {
	out := &agent.Usage{
		InputTokens: u.Input, OutputTokens: u.Output,
		CachedTokens:     max(u.InputDetails.Cached, u.CacheHit, u.Cached),
		CacheWriteTokens: u.InputDetails.CacheWrite,
		ReasoningTokens:  u.OutputDetails.Reasoning,
	}
	// xAI counts thoughts beside the output; only the total shows it.
	if out.ReasoningTokens > 0 && u.Total == u.Input+u.Output+out.ReasoningTokens {
		out.OutputTokens += out.ReasoningTokens
	}
	return out
}

// chatAnswer builds one answer from the chunks of the chat wire.
type chatAnswer struct {
	m     *model
	out   *wire.Exchange
	slow  bool // tests: never use the scanner
	piece chatPiece

	thinking bool // the part that grows is one of thoughts
	refused  bool
	calls    callTable
	reason   string
	usage    *agent.Usage
}

func newChatAnswer(m *model, out *wire.Exchange) answer {
	return &chatAnswer{m: m, out: out, calls: callTable{out: out}}
}

func (a *chatAnswer) event(data []byte) (bool, error) {
	if !a.slow && a.piece.scan(data) {
		p := &a.piece
		a.delta(p.content, p.reasoningContent, p.reasoning)
		if p.hasCall {
			a.call(p.index, p.id, p.name, p.arguments)
		}
		return false, nil
	}
	var c chatChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return false, a.out.Malformed("an event that is not a chunk", err)
	}
	return false, a.chunk(&c, data)
}

func (a *chatAnswer) whole(data []byte) error {
	var c chatChunk
	if err := json.Unmarshal(data, &c); err != nil {
		if p := parseProblem(data); p.message != "" { // an error in an array
			return a.out.Failure(0, data)
		}
		return a.out.Malformed("a body that is not an answer", err)
	}
	if err := a.chunk(&c, data); err != nil {
		return err
	}
	if len(c.Choices) == 0 {
		return a.out.Malformed("an answer without choices", nil)
	}
	return nil
}

func (a *chatAnswer) chunk(c *chatChunk, data []byte) error {
	if c.Usage != nil {
		a.usage = c.Usage.usage()
	}
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue // asked for by ProviderOptions; an agent follows one answer
		}
		for _, d := range []*chatDelta{choice.Delta, choice.Message} {
			if d != nil {
				a.deltaOf(d)
			}
		}
		if choice.FinishReason != "" {
			a.reason = choice.FinishReason
			a.calls.flush()
		}
		if choice.Usage != nil { // Moonshot
			a.usage = choice.Usage.usage()
		}
	}
	switch {
	case len(c.Error) > 0 && string(c.Error) != "null",
		c.Object == "error" && len(c.Choices) == 0, // vLLM
		a.reason == "error":                        // OpenRouter: an upstream failed midway
		return a.out.Failure(0, data)
	}
	return nil
}

func (a *chatAnswer) deltaOf(d *chatDelta) {
	a.delta(string(d.Content), string(d.ReasoningContent), string(d.Reasoning))
	if d.Refusal != "" {
		a.refused = true
		a.text(d.Refusal)
	}
	for i := range d.ToolCalls {
		c := &d.ToolCalls[i]
		index := -1
		if c.Index != nil {
			index = *c.Index
		}
		a.call(index, c.ID, c.Function.Name, string(c.Function.Arguments))
	}
}

// delta takes thoughts before text: a chunk that holds both is where one ends
// and the other begins. Servers that send both fields of thoughts repeat them.
func (a *chatAnswer) delta(content, reasoningContent, reasoning string) {
	switch {
	case reasoningContent != "":
		a.thought(fieldReasoningContent, reasoningContent)
	case reasoning != "":
		a.thought(fieldReasoning, reasoning)
	}
	if content != "" {
		a.text(content)
	}
}

func (a *chatAnswer) thought(field, text string) {
	a.out.Emit(agent.Chunk{Kind: agent.ChunkReasoning, Text: text})
	if !a.thinking && !a.m.Own {
		a.out.Emit(agent.Chunk{Kind: agent.ChunkOpaque, Opaque: a.m.opaque(opaque{Field: field})})
	}
	a.thinking = true
}

func (a *chatAnswer) text(text string) {
	a.thinking = false
	a.out.Emit(agent.Chunk{Kind: agent.ChunkText, Text: text})
}

func (a *chatAnswer) call(index int, id, name, args string) {
	a.thinking = false
	a.calls.add(index, id, name, args)
}

func (a *chatAnswer) tokens() *agent.Usage { return a.usage }

func (a *chatAnswer) finish() (agent.FinishReason, bool) {
	given := a.reason != ""
	switch a.reason {
	case "", "stop", "tool_calls", "function_call":
		switch { // many servers say stop beside calls
		case len(a.calls.calls) > 0:
			return agent.FinishCalls, given
		case a.refused:
			return agent.FinishFiltered, given
		}
		return agent.FinishStop, given
	case "length":
		return agent.FinishLength, given
	case "content_filter":
		return agent.FinishFiltered, given
	}
	return agent.FinishOther, given
}
