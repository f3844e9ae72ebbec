package view

import (
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

// PrintModelRequest prints what a model was sent.
func PrintModelRequest(o *cli.Output, r shoal.ModelRequest) error {
	if o.JSON {
		return o.PrintObject(r)
	}
	var b strings.Builder
	b.WriteString(FormatPrompt(r.System, r.Tools))
	b.WriteString(FormatModelMessages(r.Messages))
	o.Note("this is what %s was sent", r.Model)
	return o.PrintText(b.String())
}

// FormatModelMessages are messages of a model with a heading for each.
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

func Heading(what string) string { return "\n=== " + what + " ===\n" }

// FormatPrompt is what stands before the messages.
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

// contentText is a piece of a message to a model.
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
