package main

import (
	"context"
	"fmt"

	"github.com/shoal-dev/shoal"
)

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
