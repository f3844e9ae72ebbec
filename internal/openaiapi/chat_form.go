package openaiapi

import (
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/eventstream"
	"github.com/shoal-dev/shoal/internal/exchange"
	"github.com/shoal-dev/shoal/internal/guard"
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

// chatForm shows an answer as a chat completion.
type chatForm struct {
	id        string
	created   int64
	model     string
	withUsage bool // whether a stream ends with what it has used

	last    *part // whose text was shown last
	calls   []toolCall
	thought string
	out     []any
	begun   bool
}

func newChatForm(x *turn, withUsage bool) form {
	return &chatForm{id: x.id(), created: time.Now().Unix(), model: x.in.model, withUsage: withUsage}
}

func (f *chatForm) take() []any {
	out := f.out
	f.out = nil
	return out
}

func (f *chatForm) chunk(object string, choices ...choice) chunk {
	return chunk{ID: f.id, Object: object, Created: f.created, Model: f.model, Choices: append([]choice{}, choices...)}
}

// say adds a piece.
func (f *chatForm) say(d spoken) {
	if !f.begun {
		f.begun = true
		d.Role = "assistant"
	}
	f.out = append(f.out, f.chunk("chat.completion.chunk", choice{Delta: &d}))
}

// separator is between two texts.
const separator = "\n\n"

func (f *chatForm) text(x *part, piece string, again bool) {
	if (x != f.last || again) && f.last != nil {
		piece = separator + piece
	}
	f.last = x
	f.say(spoken{Content: &piece})
}

func (f *chatForm) ended(*part) {}

func (f *chatForm) think(text string) {
	f.thought += text
	f.say(spoken{Reasoning: text})
}

func (f *chatForm) call(w shoal.PendingAction) {
	index := len(f.calls)
	c := toolCall{Index: &index, ID: exchange.CallID(w.RunID, w.ToolCallID), Type: "function"}
	c.Function.Name, c.Function.Arguments = w.ToolName, string(w.Args)
	f.calls = append(f.calls, c)
	f.say(spoken{ToolCalls: []toolCall{c}})
}

func (f *chatForm) sayCancelled() bool { return false }

func (f *chatForm) finish(_ []*part, reason string, u shoal.Usage) {
	f.out = append(f.out, f.chunk("chat.completion.chunk", choice{Delta: &spoken{}, FinishReason: &reason}))
	if f.withUsage {
		c := f.chunk("chat.completion.chunk")
		c.Usage = usageOf(u)
		f.out = append(f.out, c)
	}
}

func (f *chatForm) whole(all []*part, reason string, u shoal.Usage) any {
	var texts []string
	for _, x := range all {
		if x.text != "" {
			texts = append(texts, x.text)
		}
	}
	content := strings.Join(texts, separator)
	m := spoken{Role: "assistant", Content: &content, Reasoning: f.thought}
	for _, c := range f.calls {
		c.Index = nil
		m.ToolCalls = append(m.ToolCalls, c)
	}
	out := f.chunk("chat.completion", choice{Message: &m, FinishReason: &reason})
	out.Usage = usageOf(u)
	return out
}

func (f *chatForm) failed(e guard.OpenAIError) []any { return []any{map[string]any{"error": e}} }

func (f *chatForm) close(to *eventstream.Stream) error { return to.WriteText("[DONE]") }

func usageOf(u shoal.Usage) *usage {
	out := &usage{PromptTokens: u.InputTokens, CompletionTokens: u.OutputTokens, TotalTokens: u.InputTokens + u.OutputTokens}
	out.PromptDetails.CachedTokens, out.CompletionDetails.ReasoningTokens = u.CachedInputTokens, u.ReasoningTokens
	return out
}
