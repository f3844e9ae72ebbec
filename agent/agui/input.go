package agui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/shoal-dev/shoal/agent"
)

// Input is what a client asks for: RunAgentInput in the protocol.
type Input struct {
	ThreadID    string `json:"threadId"`
	RunID       string `json:"runId"`
	ParentRunID string `json:"parentRunId"`
	// Messages are the whole conversation as the client sees it.
	Messages []Message `json:"messages"`
	// Tools are the client's own, which the agent may call in this run.
	Tools   []Tool         `json:"tools"`
	Context []ContextEntry `json:"context"`
	// State and ForwardedProps are as they came, nil when absent. State is not used
	// here; ForwardedProps may hold settings, see [Handler].
	State          json.RawMessage `json:"state"`
	ForwardedProps json.RawMessage `json:"forwardedProps"`
	// Resume answers the interrupts of the thread's last run.
	Resume []ResumeEntry `json:"resume"`

	// Conversation is the id of the thread's conversation in the store. It is the
	// ThreadID, unless a [Build] sets it: clients choose the ids of threads, so
	// that is the place to keep them apart.
	Conversation string `json:"-"`
}

// Message is a message as a client sends it.
type Message struct {
	ID            string          `json:"id"`
	Role          string          `json:"role"`
	Content       json.RawMessage `json:"content,omitempty"`
	ToolCalls     []MessageCall   `json:"toolCalls,omitempty"`
	ToolCallID    string          `json:"toolCallId,omitempty"`
	Error         string          `json:"error,omitempty"`
	SubagentRunID string          `json:"subagentRunId,omitempty"`

	raw json.RawMessage // as it came; nil when it was made here
}

// MessageCall is a tool call in an assistant message. Type is function.
type MessageCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function CallFunction `json:"function"`
}

// CallFunction is the tool of a [MessageCall], and the arguments as the model
// wrote them.
type CallFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Tool is a tool that the client executes.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// ContextEntry is something that the model should know in this run.
type ContextEntry struct {
	Description string `json:"description"`
	Value       string `json:"value"`
}

// ResumeEntry answers an [Interrupt]: Status is resolved, or cancelled when
// nobody wanted to answer.
type ResumeEntry struct {
	InterruptID string          `json:"interruptId"`
	Status      string          `json:"status"`
	Payload     json.RawMessage `json:"payload"`
}

// UnmarshalJSON keeps the text of the message too: a snapshot returns it as it
// came.
func (m *Message) UnmarshalJSON(text []byte) error {
	type plain Message
	if err := json.Unmarshal(text, (*plain)(m)); err != nil {
		return err
	}
	m.raw = bytes.Clone(text)
	return nil
}

// maxID bounds the ids that a client makes up, in bytes.
const maxID = 256

var (
	roles    = map[string]bool{"user": true, "system": true, "developer": true, roleAssistant: true, roleTool: true, roleReasoning: true, "activity": true}
	toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

// Decode reads a RunAgentInput. What the protocol does not know is ignored. The
// error is of kind ErrInvalidJSON or ErrInvalidArgument; the latter names every wrong
// field.
func Decode(text []byte) (*Input, error) {
	in := new(Input)
	if err := json.Unmarshal(text, in); err != nil {
		return nil, undecodable(err)
	}
	var wrong faults
	wrong.id("threadId", in.ThreadID)
	wrong.id("runId", in.RunID)
	if in.Messages == nil {
		wrong.add("messages", "is missing; send [] if there are none")
	}
	for i, m := range in.Messages {
		wrong.message(fmt.Sprintf("messages[%d]", i), m)
	}
	names := map[string]bool{}
	for i, t := range in.Tools {
		at := fmt.Sprintf("tools[%d]", i)
		switch {
		case !toolName.MatchString(t.Name):
			wrong.add(at+".name", "must be 1 to 64 of the characters A-Z a-z 0-9 _ -")
		case names[t.Name]:
			wrong.add(at+".name", fmt.Sprintf("%q is there twice", t.Name))
		}
		names[t.Name] = true
	}
	for i, r := range in.Resume {
		at := fmt.Sprintf("resume[%d]", i)
		wrong.id(at+".interruptId", r.InterruptID)
		if r.Status != statusResolved && r.Status != statusCancelled {
			wrong.add(at+".status", "must be resolved or cancelled")
		}
	}
	if err := wrong.err(); err != nil {
		return nil, err
	}
	in.Conversation = in.ThreadID
	return in, nil
}

// undecodable returns what is wrong with the JSON.
func undecodable(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return agent.Invalid("body."+wrong.Field, "must not be "+wrong.Value)
	}
	return &agent.Error{Op: "agui.Decode", Kind: agent.ErrInvalidJSON, Msg: "The body is not a JSON object; send a RunAgentInput.", Err: err}
}

// faults collects wrong fields.
type faults []agent.FieldError

func (f *faults) add(field, message string) {
	*f = append(*f, agent.FieldError{Location: "body." + field, Message: message})
}

func (f *faults) id(field, id string) {
	switch {
	case id == "":
		f.add(field, "is missing")
	case len(id) > maxID:
		f.add(field, fmt.Sprintf("has %d bytes; at most %d are allowed", len(id), maxID))
	}
}

func (f *faults) message(at string, m Message) {
	f.id(at+".id", m.ID)
	if !roles[m.Role] {
		f.add(at+".role", fmt.Sprintf("%q is unknown; user, system, developer, assistant, tool, reasoning and activity are known", m.Role))
	}
	if m.Role == roleTool {
		f.id(at+".toolCallId", m.ToolCallID)
	}
	for i, c := range m.ToolCalls {
		f.id(fmt.Sprintf("%s.toolCalls[%d].id", at, i), c.ID)
	}
}

// err returns one error over all that was added, or nil.
func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	const most = 10 // a client that sends more has one mistake many times
	if len(f) > most {
		f = f[:most]
	}
	said := make([]string, len(f))
	for i, one := range f {
		said[i] = one.Location + " " + one.Message
	}
	return &agent.Error{Op: "agui.Decode", Kind: agent.ErrInvalidArgument, Msg: strings.Join(said, "; "), Fields: f}
}
