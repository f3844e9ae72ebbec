package claude

import (
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal/internal/harness"
)

// line is a line of Claude Code's output. Which fields it has depends on its type.
type line struct {
	Type      string  `json:"type"`
	Subtype   string  `json:"subtype"`
	SessionID string  `json:"session_id"`
	Parent    *string `json:"parent_tool_use_id"` // of a sub-agent's lines
	Status    string  `json:"status"`
	IsReplay  bool    `json:"isReplay"`

	Event struct { // stream_event
		Type  string `json:"type"`
		Delta struct {
			Type     string `json:"type"`
			Text     string `json:"text"`
			Thinking string `json:"thinking"`
		} `json:"delta"`
	} `json:"event"`

	Message struct { // assistant, user
		Content json.RawMessage `json:"content"`
	} `json:"message"`

	RequestID string `json:"request_id"` // control_request
	Request   struct {
		Subtype     string          `json:"subtype"`
		ToolName    string          `json:"tool_name"`
		ToolUseID   string          `json:"tool_use_id"`
		Input       json.RawMessage `json:"input"`
		Description string          `json:"description"`
	} `json:"request"`

	Response struct { // control_response
		RequestID string `json:"request_id"`
		Subtype   string `json:"subtype"`
		Error     string `json:"error"`
	} `json:"response"`

	IsError bool     `json:"is_error"` // result
	Result  string   `json:"result"`
	Errors  []string `json:"errors"`
	Cost    *float64 `json:"total_cost_usd"`
	Usage   struct {
		InputTokens   int `json:"input_tokens"`
		CacheCreation int `json:"cache_creation_input_tokens"`
		CacheRead     int `json:"cache_read_input_tokens"`
		OutputTokens  int `json:"output_tokens"`
	} `json:"usage"`
}

// block is a part of a message.
type block struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	Text      string          `json:"text"`
	IsError   bool            `json:"is_error"`
}

// decoder turns lines into events. It keeps what a later line needs of earlier ones.
type decoder struct {
	started bool
	spent   float64 // the cost that earlier turns of the process have reported
}

// decode returns the events of a line, apart from permissions and the end of the turn.
func (d *decoder) decode(l line) (events []harness.Event) {
	if l.Parent != nil {
		return nil // a sub-agent talks to the agent, not to us
	}
	switch l.Type {
	case "system":
		if l.Subtype == "status" && l.Status == "requesting" && !d.started {
			d.started = true
			return []harness.Event{harness.Started{}}
		}
	case "stream_event":
		if !d.started {
			d.started = true
			events = append(events, harness.Started{})
		}
		switch delta := l.Event.Delta; delta.Type {
		case "text_delta":
			events = append(events, harness.Text{Delta: delta.Text})
		case "thinking_delta":
			events = append(events, harness.Thought{Delta: delta.Thinking})
		}
	case "assistant", "user":
		return calls(l.Message.Content)
	}
	return events
}

// calls returns the tool calls that a message begins or ends.
func calls(content json.RawMessage) (events []harness.Event) {
	var blocks []block
	if json.Unmarshal(content, &blocks) != nil {
		return nil // a message that is one text
	}
	for _, b := range blocks {
		switch b.Type {
		case "tool_use":
			events = append(events, harness.Tool{
				CallID: b.ID, Name: b.Name, Title: title(b.Name, b.Input), Args: b.Input, State: harness.ToolRunning,
			})
		case "tool_result":
			state := harness.ToolCompleted
			if b.IsError {
				state = harness.ToolFailed
			}
			events = append(events, harness.Tool{CallID: b.ToolUseID, State: state, Output: output(b.Content)})
		}
	}
	return events
}

// output is the text of a tool's result, which is one text or several.
func output(content json.RawMessage) string {
	var one string
	if json.Unmarshal(content, &one) == nil {
		return one
	}
	var blocks []block
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}
	var all strings.Builder
	for _, b := range blocks {
		all.WriteString(b.Text)
	}
	return all.String()
}

// title describes a call in one line, by the argument that says the most about it.
func title(name string, input json.RawMessage) string {
	var args map[string]any
	if json.Unmarshal(input, &args) != nil {
		return name
	}
	for _, key := range []string{"command", "file_path", "notebook_path", "pattern", "url", "query", "prompt", "description"} {
		if text, ok := args[key].(string); ok && text != "" {
			first, _, _ := strings.Cut(text, "\n")
			return first
		}
	}
	return name
}

// result returns what a turn has used, and its end.
func (d *decoder) result(l line, interrupted bool) []harness.Event {
	d.started = false
	used := harness.Usage{
		InputTokens:  l.Usage.InputTokens + l.Usage.CacheCreation + l.Usage.CacheRead,
		CachedTokens: l.Usage.CacheRead, OutputTokens: l.Usage.OutputTokens,
	}
	if l.Cost != nil { // of the process since its start
		cost := *l.Cost - d.spent
		d.spent = *l.Cost
		used.Cost = &cost
	}
	end := harness.Ended{Stop: harness.StopCompleted}
	switch {
	case interrupted:
		end.Stop = harness.StopCanceled
	case l.Subtype == "error_max_turns" || l.Subtype == "error_max_budget_usd":
		end = harness.Ended{Stop: harness.StopLimit, Text: l.Subtype}
	case l.IsError || l.Subtype != "success":
		end = harness.Ended{Stop: harness.StopFailed, Text: l.Result}
		if end.Text == "" {
			end.Text = strings.Join(l.Errors, " ")
		}
	}
	return []harness.Event{used, end}
}
