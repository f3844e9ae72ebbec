package acp

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal/internal/harness"
)

// content is a block of a message.
type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// toolCall is a tool call, in an update or in a permission request.
type toolCall struct {
	ToolCallID string          `json:"toolCallId"`
	Title      string          `json:"title"`
	Kind       string          `json:"kind"`
	Status     string          `json:"status"`
	RawInput   json.RawMessage `json:"rawInput"`
	RawOutput  json.RawMessage `json:"rawOutput"`
}

// toolContent is a piece of what a tool call shows.
type toolContent struct {
	Type    string  `json:"type"`
	Content content `json:"content"`
	Path    string  `json:"path"`
	OldText string  `json:"oldText"`
	NewText string  `json:"newText"`
}

// update is what a session reports.
type update struct {
	Kind    string          `json:"sessionUpdate"`
	Content json.RawMessage `json:"content"` // a block, or the list of a tool call
	toolCall
	Cost *struct {
		Amount   float64 `json:"amount"`
		Currency string  `json:"currency"`
	} `json:"cost"`
}

// usage is what a prompt has used. Agents report it in one of two places.
type promptResult struct {
	StopReason string `json:"stopReason"`
	Usage      *struct {
		InputTokens      int `json:"inputTokens"`
		OutputTokens     int `json:"outputTokens"`
		CachedReadTokens int `json:"cachedReadTokens"`
	} `json:"usage"`
	Meta struct {
		Quota *struct {
			TokenCount struct {
				InputTokens  int `json:"input_tokens"`
				OutputTokens int `json:"output_tokens"`
			} `json:"token_count"`
		} `json:"quota"`
	} `json:"_meta"`
}

// decoder turns updates into events. It keeps what a later one needs of earlier ones.
type decoder struct {
	started     bool
	cost, spent float64 // of the session: as last reported, and what earlier turns have reported
	priced      bool
	pending     map[string]harness.Tool // calls that nothing was reported of, because they have not begun
}

// decode returns the events of an update.
func (d *decoder) decode(u update) (events []harness.Event) {
	var e harness.Event
	switch u.Kind {
	case "agent_message_chunk":
		e = harness.Text{Delta: text(u.Content)}
	case "agent_thought_chunk":
		e = harness.Thought{Delta: text(u.Content)}
	case "tool_call", "tool_call_update":
		if call := d.begun(u); call != nil {
			e = *call
		}
	case "plan":
	case "usage_update":
		// Agents that do not know the price of their model report 0.
		if u.Cost != nil && u.Cost.Currency == "USD" && u.Cost.Amount > 0 {
			d.cost, d.priced = u.Cost.Amount, true
		}
		return nil
	default:
		return nil
	}
	if !d.started {
		d.started = true
		events = append(events, harness.Started{})
	}
	if e != nil {
		events = append(events, e)
	}
	return events
}

// begun returns a call that has begun. While it has not, its arguments may still arrive.
func (d *decoder) begun(u update) *harness.Tool {
	call := u.tool(texts(u.Content))
	known := d.pending[call.CallID]
	call.Name, call.Title = cmp.Or(call.Name, known.Name), cmp.Or(call.Title, known.Title)
	if call.Args == nil {
		call.Args = known.Args
	}
	if u.Status != "pending" {
		delete(d.pending, call.CallID)
		return &call
	}
	if d.pending == nil {
		d.pending = map[string]harness.Tool{}
	}
	d.pending[call.CallID] = call
	return nil
}

func (c toolCall) tool(output string) harness.Tool {
	t := harness.Tool{CallID: c.ToolCallID, Name: c.Kind, Title: c.Title, Args: c.args(), State: harness.ToolRunning, Output: output}
	switch c.Status {
	case "completed":
		t.State = harness.ToolCompleted
	case "failed":
		t.State = harness.ToolFailed
	}
	return t
}

// args are the arguments, if the agent gave any.
func (c toolCall) args() json.RawMessage {
	if s := strings.TrimSpace(string(c.RawInput)); s == "" || s == "null" || s == "{}" {
		return nil
	}
	return c.RawInput
}

func text(raw json.RawMessage) string {
	var block content
	if json.Unmarshal(raw, &block) != nil {
		return ""
	}
	return block.Text
}

// texts is what a tool call shows, as text.
func texts(raw json.RawMessage) string {
	var parts []toolContent
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var all []string
	for _, p := range parts {
		switch p.Type {
		case "content":
			all = append(all, p.Content.Text)
		case "diff":
			all = append(all, patch(p.Path, p.OldText, p.NewText))
		}
	}
	return strings.Join(all, "\n")
}

// patch shows a change of a file, with a sign before each line that is removed or added.
func patch(path, before, after string) string {
	old, now := lines(before), lines(after)
	same := 0
	for same < len(old) && same < len(now) && old[same] == now[same] {
		same++
	}
	end := 0
	for end < len(old)-same && end < len(now)-same && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	out := []string{"--- " + path, "+++ " + path}
	for _, l := range old[same : len(old)-end] {
		out = append(out, "-"+l)
	}
	for _, l := range now[same : len(now)-end] {
		out = append(out, "+"+l)
	}
	return strings.Join(out, "\n")
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// result returns what a turn has used, and its end.
func (d *decoder) result(r promptResult) (events []harness.Event) {
	if !d.started {
		events = append(events, harness.Started{})
	}
	d.started = false
	clear(d.pending)
	var used harness.Usage
	switch {
	case r.Usage != nil:
		used = harness.Usage{InputTokens: r.Usage.InputTokens, CachedTokens: r.Usage.CachedReadTokens, OutputTokens: r.Usage.OutputTokens}
	case r.Meta.Quota != nil:
		used = harness.Usage{InputTokens: r.Meta.Quota.TokenCount.InputTokens, OutputTokens: r.Meta.Quota.TokenCount.OutputTokens}
	}
	if d.priced {
		cost := d.cost - d.spent
		d.spent = d.cost
		used.Cost = &cost
	}
	end := harness.Ended{Stop: harness.StopCompleted}
	switch r.StopReason {
	case "cancelled":
		end.Stop = harness.StopCanceled
	case "max_tokens", "max_turn_requests":
		end = harness.Ended{Stop: harness.StopLimit, Text: r.StopReason}
	case "refusal":
		end.Stop = harness.StopRefused
	}
	return append(events, used, end)
}
