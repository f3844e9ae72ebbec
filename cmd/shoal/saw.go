package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
)

type agentsVersionsCmd struct {
	ID shoal.EntityID `arg:"" help:"The agent." complete:"hosted"`
}

// Run lists the versions of a configuration.
func (c *agentsVersionsCmd) Run(ctx context.Context, sh *shell) error {
	session, err := sh.overlook()
	if err != nil {
		return err
	}
	all, err := collect(session.AgentVersions(ctx, c.ID))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, a := range all.Items {
		rows = append(rows, []string{strconv.Itoa(a.Version), sh.output.when(&a.CreatedAt, "-"), a.Hash})
	}
	return sh.output.table(all, []string{"VERSION", "APPLIED", "HASH"}, rows...)
}

type agentsPreviewCmd struct {
	ID    shoal.EntityID `arg:"" optional:"" help:"The agent; without it, the one that the file is about." complete:"hosted"`
	File  string         `help:"A configuration in JSON or YAML, or - for standard input, in place of the stored one." short:"f" placeholder:"FILE"`
	Space shoal.SpaceID  `help:"Where the run would begin; without it, a service would start it." placeholder:"ID"`
}

// Run prints what the model would be sent.
func (c *agentsPreviewCmd) Run(ctx context.Context, sh *shell) error {
	var file configFile
	if c.File != "" {
		files, err := (&agentsApplyCmd{File: []string{c.File}}).files(sh.in)
		if err != nil {
			return err
		}
		if len(files) != 1 {
			return shoal.E("", kindUsage, fmt.Sprintf("%s holds %d configurations; name one file", c.File, len(files)))
		}
		if file = files[0]; c.ID == "" {
			c.ID = file.id
		}
		if wrong := file.wrong(); wrong != nil {
			return shoal.E("", shoal.InvalidArgument, wrong[0].in(file.name))
		}
	}
	if c.ID == "" {
		return shoal.E("", kindUsage, "say which agent: by its id, or with -f by a configuration that names it")
	}
	session, err := sh.overlook()
	if err != nil {
		return err
	}
	shown, err := session.PreviewAgent(ctx, c.ID, file.format, file.text, c.Space)
	if err != nil {
		return file.located(err)
	}
	if sh.output.json {
		return sh.output.object(shown)
	}
	for _, warning := range shown.Warnings {
		sh.output.note("%s", warning)
	}
	return sh.output.text(prompt(shown.System, shown.Tools) + heading("input") + shown.Input + "\n")
}

// sent prints what a model was sent.
func (o *output) sent(r shoal.ModelRequest) error {
	if o.json {
		return o.object(r)
	}
	var b strings.Builder
	b.WriteString(prompt(r.System, r.Tools))
	b.WriteString(modelMessages(r.Messages))
	o.note("this is what %s was sent", r.Model)
	return o.text(b.String())
}

// modelMessages are messages of a model with a heading for each.
func modelMessages(messages []shoal.ModelMessage) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(heading(m.Role))
		for _, c := range m.Content {
			b.WriteString(strings.TrimSuffix(sentContent(c), "\n") + "\n")
		}
	}
	return b.String()
}

func heading(what string) string { return "\n=== " + what + " ===\n" }

// prompt is what stands before the messages.
func prompt(system string, tools []shoal.ModelTool) string {
	var b strings.Builder
	b.WriteString(strings.TrimPrefix(heading("system"), "\n") + strings.TrimSuffix(system, "\n") + "\n" + heading("tools"))
	for _, t := range tools {
		b.WriteString(t.Name + " " + string(t.InputSchema) + "\n")
		if t.Description != "" {
			b.WriteString("  " + t.Description + "\n")
		}
	}
	return b.String()
}

// sentContent is a piece of a message to a model.
func sentContent(c shoal.ModelContent) string {
	switch c.Type {
	case shoal.ModelReasoning:
		return "[thought] " + c.Text
	case shoal.ModelFile:
		return "[file " + sentFile(c.File) + "]"
	case shoal.ModelToolCall:
		return fmt.Sprintf("[call %s %s %s]", c.ToolName, c.ToolCallID, c.Args)
	case shoal.ModelToolResult:
		out := fmt.Sprintf("[result %s %s %s] %s", c.ToolName, c.ToolCallID, c.Status, c.Text)
		for _, f := range c.Files {
			out += "\n[file " + sentFile(f) + "]"
		}
		return out
	}
	return c.Text
}

func sentFile(f shoal.ModelFileInfo) string {
	where := itoa(f.Size) + " bytes"
	if f.URL != nil {
		where = *f.URL
	}
	return strings.TrimSpace(f.Name + " " + f.MediaType + " " + where)
}
