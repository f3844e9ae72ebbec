package agents

import (
	"context"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/view"
)

type agentsPreviewCmd struct {
	ID    shoal.EntityID `arg:"" optional:"" help:"The agent (default: the one that the file names)." complete:"hosted"`
	File  string         `help:"Use this configuration in JSON or YAML instead of the stored one; - for standard input." short:"f" placeholder:"FILE"`
	Space shoal.SpaceID  `help:"The space that would start the run (default: a service would)." placeholder:"ID"`
}

// Run prints the model request that a run would begin with.
func (c *agentsPreviewCmd) Run(ctx context.Context, sh *cli.Shell) error {
	var file configFile
	if c.File != "" {
		files, err := (&agentsApplyCmd{File: []string{c.File}}).files(sh.In)
		if err != nil {
			return err
		}
		if len(files) != 1 {
			return shoal.E("", cli.KindUsage, fmt.Sprintf("directory %s contains %d configurations; name a single file", c.File, len(files)))
		}
		if file = files[0]; c.ID == "" {
			c.ID = file.id
		}
		if wrong := file.syntaxErrors(); wrong != nil {
			return shoal.E("", shoal.InvalidArgument, wrong[0].text(file.name))
		}
	}
	if c.ID == "" {
		return shoal.E("", cli.KindUsage, "name the agent: by its id, or with -f FILE by a configuration that names it")
	}
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	shown, err := session.PreviewAgent(ctx, c.ID, file.format, file.text, c.Space)
	if err != nil {
		return file.locateError(err)
	}
	if sh.Output.JSON {
		return sh.Output.PrintObject(shown)
	}
	for _, warning := range shown.Warnings {
		sh.Output.Note("%s", warning)
	}
	return sh.Output.PrintText(view.FormatPrompt(shown.System, shown.Tools) + view.Heading("input") + shown.Input + "\n")
}
