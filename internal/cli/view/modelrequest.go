package view

import (
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

// PrintModelRequest prints the prompt, the tools and the messages of a model request.
func PrintModelRequest(o *cli.Output, r shoal.ModelRequest) error {
	if o.JSON {
		return o.PrintObject(r)
	}
	var b strings.Builder
	b.WriteString(FormatPrompt(r.System, r.Tools))
	b.WriteString(FormatModelMessages(r.Messages))
	o.Note("this request was sent to %s", r.Model)
	return o.PrintText(b.String())
}

// FormatModelMessages returns the messages of a model request as text, each below a heading.
func FormatModelMessages(messages []shoal.ModelMessage) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(Heading(m.Role))
		for _, c := range m.Content {
			b.WriteString(strings.TrimSuffix(contentText(c), "\n") + "\n")
		}
	}
	return b.String()
}

// Heading returns a heading of the text of a model request.
func Heading(title string) string { return "\n=== " + title + " ===\n" }

// FormatPrompt returns the system prompt and the tools of a model request as text.
func FormatPrompt(system string, tools []shoal.ModelTool) string {
	var b strings.Builder
	b.WriteString(strings.TrimPrefix(Heading("system"), "\n") + strings.TrimSuffix(system, "\n") + "\n" + Heading("tools"))
	for _, t := range tools {
		b.WriteString(t.Name + " " + string(t.InputSchema) + "\n")
		if t.Description != "" {
			b.WriteString("  " + t.Description + "\n")
		}
	}
	return b.String()
}

// contentText returns one content item of a model message as text.
func contentText(c shoal.ModelContent) string {
	switch c.Type {
	case shoal.ModelReasoning:
		return "[thought] " + c.Text
	case shoal.ModelFile:
		return "[file " + fileText(c.File) + "]"
	case shoal.ModelToolCall:
		return fmt.Sprintf("[call %s %s %s]", c.ToolName, c.ToolCallID, c.Args)
	case shoal.ModelToolResult:
		out := fmt.Sprintf("[result %s %s %s] %s", c.ToolName, c.ToolCallID, c.Status, c.Text)
		for _, f := range c.Files {
			out += "\n[file " + fileText(f) + "]"
		}
		return out
	}
	return c.Text
}

func fileText(f shoal.ModelFileInfo) string {
	where := cli.Itoa(f.Size) + " bytes"
	if f.URL != nil {
		where = *f.URL
	}
	return strings.TrimSpace(f.Name + " " + f.MediaType + " " + where)
}
