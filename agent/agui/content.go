package agui

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/shoal-dev/shoal/agent"
)

// agentRoles are the roles of messages that become the agent's.
var agentRoles = map[string]agent.Role{
	"user": agent.User, "system": agent.System, "developer": agent.System, roleAssistant: agent.Assistant,
}

// parts returns a message's content. What cannot be used is left out and named
// by skipped: the protocol forbids to fail for it. at is the place of the message
// in the input.
func (m *Message) parts(at string) (parts []agent.Part, skipped []string, err error) {
	if len(m.Content) == 0 || string(m.Content) == "null" {
		return nil, nil, nil
	}
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		if text != "" {
			parts = []agent.Part{agent.Text(text)}
		}
		return parts, nil, nil
	}
	var wrong faults
	var content []ContentPart
	if json.Unmarshal(m.Content, &content) != nil {
		wrong.add(at+".content", "must be a string or a list of parts")
		return nil, nil, wrong.err()
	}
	for i, c := range content {
		place := fmt.Sprintf("%s.content[%d]", at, i)
		switch {
		case c.Type == "text":
			if c.Text != "" {
				parts = append(parts, agent.Text(c.Text))
			}
		case c.file() == nil:
			skipped = append(skipped, place)
		default:
			f := c.file()
			if c.Source.Type == "data" {
				if f.Data, err = base64.StdEncoding.DecodeString(c.Source.Value); err != nil {
					wrong.add(place+".source.value", "is not base64")
				}
			}
			parts = append(parts, agent.Part{Type: agent.FilePart, File: f})
		}
	}
	return parts, skipped, wrong.err()
}

// file returns the file of a media part without its data, or nil for any other part
// that can be used: handles of model providers are not.
func (c *ContentPart) file() *agent.File {
	switch c.Type {
	case "image", "audio", "video", "document":
	default:
		return nil
	}
	if c.Source == nil || c.Source.Type != "data" && c.Source.Type != "url" {
		return nil
	}
	f := &agent.File{MediaType: c.Source.MimeType}
	f.Name, _ = c.Metadata["name"].(string)
	if c.Source.Type == "url" {
		f.URL = c.Source.Value
	}
	return f
}

// result returns a tool message as the answer to its call.
func (m *Message) result(at string) (r agent.ToolResult, skipped []string, err error) {
	parts, skipped, err := m.parts(at)
	r = agent.ToolResult{CallID: m.ToolCallID, Status: agent.ResultOK}
	for _, p := range parts {
		switch p.Type {
		case agent.TextPart:
			r.Text += p.Text
		case agent.FilePart:
			r.Files = append(r.Files, *p.File)
		}
	}
	if m.Error != "" {
		r.Status = agent.ResultFailed
		if r.Text == "" {
			r.Text = m.Error
		}
	}
	return r, skipped, err
}
