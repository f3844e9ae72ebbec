package codex

import (
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal/internal/harness"
)

// item is a part of a turn: a text, a thought, a command, a change of files, a call of a tool.
type item struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Status string `json:"status"`

	Command          string          `json:"command"`
	Cwd              string          `json:"cwd"`
	AggregatedOutput string          `json:"aggregatedOutput"`
	ExitCode         *int            `json:"exitCode"`
	Changes          json.RawMessage `json:"changes"`
	Server           string          `json:"server"`
	Tool             string          `json:"tool"`
	Arguments        json.RawMessage `json:"arguments"`
	Result           *toolResult     `json:"result"`
	Error            *struct {
		Message string `json:"message"`
	} `json:"error"`
	Query string `json:"query"`
}

// toolResult is what an MCP server answered.
type toolResult struct {
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
}

// notification is what Codex reports. Which fields it has depends on the method.
type notification struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	Delta    string `json:"delta"`
	Item     item   `json:"item"`
	Turn     struct {
		ID     string `json:"id"`
		Status string `json:"status"`
		Error  *struct {
			Message           string `json:"message"`
			AdditionalDetails string `json:"additionalDetails"`
		} `json:"error"`
	} `json:"turn"`
	TokenUsage struct {
		Last struct {
			InputTokens       int `json:"inputTokens"`
			CachedInputTokens int `json:"cachedInputTokens"`
			OutputTokens      int `json:"outputTokens"`
		} `json:"last"`
	} `json:"tokenUsage"`
}

// decode returns what a notification reports of a turn, or nil. A conversation of a sub-agent has
// a thread of its own, whose notifications belong to nobody here.
func decode(method string, n notification) harness.Event {
	switch method {
	case "turn/started":
		return harness.Started{}
	case "item/agentMessage/delta":
		return harness.Text{Delta: n.Delta}
	case "item/reasoning/summaryTextDelta":
		return harness.Thought{Delta: n.Delta}
	case "item/started", "item/completed":
		if call, ok := n.Item.call(); ok {
			return call
		}
	case "thread/tokenUsage/updated":
		last := n.TokenUsage.Last
		return harness.Usage{InputTokens: last.InputTokens, CachedTokens: last.CachedInputTokens, OutputTokens: last.OutputTokens}
	case "turn/completed":
		return ended(n)
	}
	return nil
}

func ended(n notification) harness.Event {
	e := harness.Ended{Stop: harness.StopCompleted}
	switch n.Turn.Status {
	case "interrupted":
		e.Stop = harness.StopCanceled
	case "failed":
		e.Stop = harness.StopFailed
		if n.Turn.Error != nil {
			e.Text = strings.TrimSpace(n.Turn.Error.Message + " " + n.Turn.Error.AdditionalDetails)
		}
	}
	return e
}

// call returns the item as a tool call; ok is false if it is something else.
func (i item) call() (c harness.Tool, ok bool) {
	c = harness.Tool{CallID: i.ID, State: state(i.Status), Args: i.args()}
	switch i.Type {
	case "commandExecution":
		c.Name, c.Title, c.Output = "shell", i.Command, i.AggregatedOutput
	case "fileChange":
		c.Name, c.Title = "apply_patch", "Change files"
	case "mcpToolCall":
		c.Name, c.Title = i.Server+"."+i.Tool, i.Server+": "+i.Tool
		if i.Result != nil {
			for _, part := range i.Result.Content {
				c.Output += part.Text
			}
		}
	case "webSearch":
		c.Name, c.Title = "web_search", i.Query
	default:
		return c, false
	}
	if i.Error != nil {
		c.Output = i.Error.Message
	}
	return c, true
}

// args are the arguments of the call, as far as Codex shows them.
func (i item) args() json.RawMessage {
	switch i.Type {
	case "commandExecution":
		return object("command", i.Command, "cwd", i.Cwd)
	case "fileChange":
		return object("changes", i.Changes)
	case "mcpToolCall":
		return i.Arguments
	}
	return nil
}

// object encodes names and values.
func object(pairs ...any) json.RawMessage {
	fields := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		fields[pairs[i].(string)] = pairs[i+1]
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil // a part that is not JSON: then the arguments are not known
	}
	return text
}

func state(status string) harness.ToolState {
	switch status {
	case "completed":
		return harness.ToolCompleted
	case "failed", "declined":
		return harness.ToolFailed
	}
	return harness.ToolRunning
}
