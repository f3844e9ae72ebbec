package admin

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

// RenderersCommand is shoal renderers.
type RenderersCommand struct {
	List   renderersListCmd   `cmd:"" name:"ls" aliases:"list" default:"withargs" help:"List the renderers, each in its newest version."`
	Push   renderersPushCmd   `cmd:"" help:"Store an HTML page that shows the calls of a tool in the console. Storing the same page again changes nothing."`
	Remove renderersRemoveCmd `cmd:"" name:"rm" help:"Delete renderers. The console shows the calls of their tools in the default way again."`
}

var rendererHead = []string{"NAME", "VERSION", "SIZE", "PUSHED", "URL"}

func rendererRow(o *cli.Output, r shoal.Renderer) []string {
	return []string{string(r.Name), cli.Itoa(int64(r.Version)), cli.Itoa(r.Size), o.FormatTime(&r.CreatedAt, "-"), r.URL}
}

type renderersListCmd struct{}

// Run lists the renderers.
func (*renderersListCmd) Run(ctx context.Context, sh *cli.Shell) error {
	s, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	all, err := cli.Collect(s.Renderers(ctx))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, r := range all.Items {
		rows = append(rows, rendererRow(sh.Output, r))
	}
	return sh.Output.PrintTable(all, rendererHead, rows...)
}

type renderersPushCmd struct {
	Name shoal.RendererName `arg:"" help:"The display.customUI of the tools that it shows, or the name of a tool that has none."`
	File string             `arg:"" help:"A self-contained HTML file; - for standard input."`
}

// Run stores a renderer and prints it.
func (c *renderersPushCmd) Run(ctx context.Context, sh *cli.Shell) error {
	page, err := readPage(c.File, sh.In)
	if err != nil {
		return err
	}
	s, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	stored, err := s.PutRenderer(ctx, c.Name, page)
	if err != nil {
		return err
	}
	return sh.Output.PrintTable(stored, rendererHead, rendererRow(sh.Output, stored))
}

// readPage reads a renderer from a file or standard input.
func readPage(name string, in io.Reader) (page []byte, err error) {
	if name == "-" {
		page, err = io.ReadAll(io.LimitReader(in, shoal.MaxRenderer+1))
	} else {
		page, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("the renderer cannot be read: %w", err)
	}
	return page, shoal.CheckRenderer(page)
}

type renderersRemoveCmd struct {
	Name []shoal.RendererName `arg:"" help:"The names, as shoal renderers ls lists them."`
}

// Run deletes the renderers in order. It stops at the first error.
func (c *renderersRemoveCmd) Run(ctx context.Context, sh *cli.Shell) error {
	s, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	for _, name := range c.Name {
		if err := s.DeleteRenderer(ctx, name); err != nil {
			return err
		}
		sh.Output.Note("the renderer %s is gone", name)
	}
	return nil
}
