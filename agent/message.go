package agent

import (
	"encoding/json"
	"strings"
	"time"
)

// Role is the author of a [Message].
type Role string

// The roles. Tool messages carry the results of one step's calls.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one entry of the history that the model sees. A message is never
// changed after it was passed to this package or returned by it; neither side
// may write to its parts.
type Message struct {
	ID   string `json:"id,omitempty"`
	Role Role   `json:"role"`
	// Parts are in the order of the model's output or of the author's input.
	Parts []Part `json:"parts"`
	// Interrupted marks an assistant message whose text is incomplete.
	Interrupted bool `json:"interrupted,omitempty"`
	// Summary marks a message that replaces older ones; see [Reduction].
	Summary   bool      `json:"summary,omitempty"`
	CreatedAt time.Time `json:"createdAt,omitzero"`
	// Agent is the name of the agent that wrote an assistant message, if the agent
	// can transfer the conversation to another one or received it from one; see [AsHandoff].
	Agent string `json:"agent,omitempty"`
	// CacheBoundary marks, in a [Request], the end of a beginning that requests of other
	// conversations have as well. A provider that caches only what ends at a mark sets one
	// there. It is not stored.
	CacheBoundary bool `json:"-"`
}

// PartType says which fields of a [Part] are used.
type PartType string

// The types of parts.
const (
	TextPart      PartType = "text"
	ReasoningPart PartType = "reasoning"
	FilePart      PartType = "file"
	CallPart      PartType = "tool_call"
	ResultPart    PartType = "tool_result"
)

// Part is one piece of a message: Text for [TextPart] and [ReasoningPart], or
// the pointer that its type names.
type Part struct {
	Type   PartType    `json:"type"`
	Text   string      `json:"text,omitempty"`
	File   *File       `json:"file,omitempty"`
	Call   *ToolCall   `json:"call,omitempty"`
	Result *ToolResult `json:"result,omitempty"`
	// Opaque is data that the provider expects back unchanged with this part, such
	// as a signature of its reasoning or an encrypted item. A provider includes its
	// own name in it and ignores the data of other providers.
	Opaque json.RawMessage `json:"opaque,omitempty"`
	// Citations are the sources of a text, in the order in which the provider named them.
	Citations []Citation `json:"citations,omitempty"`
}

// Citation is a source that supports a range of a text part. Providers do not read it: what
// they want back of a citation is in Part.Opaque.
type Citation struct {
	// URL is empty for a document that was part of the conversation.
	URL   string `json:"url,omitempty"`
	Title string `json:"title,omitempty"`
	// Quote is the cited passage of the source, from providers that send it.
	Quote string `json:"quote,omitempty"`
	// Start and End are the range of Part.Text in bytes, which begins and ends at
	// characters. Both are 0 if the range is not known.
	Start int `json:"start,omitempty"`
	End   int `json:"end,omitempty"`
}

// File is an image or a document in an input or a tool result: Data, or a URL
// that the provider can fetch itself.
type File struct {
	Name      string `json:"name,omitempty"`
	MediaType string `json:"mediaType"`
	Data      []byte `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
}

// ToolCall is the model's request to call a tool.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is the text that the model wrote. It should be one JSON object but
	// may be anything; if it cannot be parsed, the result is an error and the tool is
	// not called.
	Arguments string `json:"arguments"`
}

// ResultStatus is how a tool call ended. The code that ends the call sets it; it is
// never derived from the text of the result.
type ResultStatus string

// The statuses of results. All but [ResultOK] and [ResultDenied] count as
// failures.
const (
	ResultOK          ResultStatus = "ok"
	ResultFailed      ResultStatus = "failed"      // the tool returned an error
	ResultInvalid     ResultStatus = "invalid"     // the arguments do not fit the schema
	ResultUnknown     ResultStatus = "unknown"     // no tool has that name
	ResultDenied      ResultStatus = "denied"      // a person or a rule denied the call
	ResultTimedOut    ResultStatus = "timed_out"   // the tool took too long
	ResultCanceled    ResultStatus = "canceled"    // the turn was canceled
	ResultSkipped     ResultStatus = "skipped"     // the turn ended before it could start
	ResultRepeated    ResultStatus = "repeated"    // refused: the same call had the same result before
	ResultInterrupted ResultStatus = "interrupted" // the process died; the effect is unknown
)

// Failed reports whether the status counts towards the stop at too many
// consecutive errors.
func (s ResultStatus) Failed() bool { return s != ResultOK && s != ResultDenied }

// Flagged reports whether the result is marked as an error in wire formats that have a
// flag for it: the call did not do what it should.
func (s ResultStatus) Flagged() bool { return s != ResultOK }

// ToolResult is the one result of a [ToolCall]. Text is what the model reads.
type ToolResult struct {
	CallID string       `json:"callId"`
	Name   string       `json:"name"`
	Status ResultStatus `json:"status"`
	Text   string       `json:"text"`
	Files  []File       `json:"files,omitempty"`
	// TransferredTo is the name of the agent that the call has transferred the conversation to;
	// see [AsHandoff].
	TransferredTo string `json:"transferredTo,omitempty"`
}

// Say returns a user message with one text.
func Say(text string) Message { return Message{Role: User, Parts: []Part{Text(text)}} }

// Text returns a text part.
func Text(text string) Part { return Part{Type: TextPart, Text: text} }

// Image returns a file part with data of a media type such as image/png.
func Image(mediaType string, data []byte) Part {
	return Part{Type: FilePart, File: &File{MediaType: mediaType, Data: data}}
}

// Text returns the message's text parts, joined without a separator.
func (m Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Type == TextPart {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Calls returns the message's tool calls in order.
func (m Message) Calls() []ToolCall {
	var calls []ToolCall
	for _, p := range m.Parts {
		if p.Type == CallPart {
			calls = append(calls, *p.Call)
		}
	}
	return calls
}

// Results returns the message's tool results in order.
func (m Message) Results() []ToolResult {
	var results []ToolResult
	for _, p := range m.Parts {
		if p.Type == ResultPart {
			results = append(results, *p.Result)
		}
	}
	return results
}
