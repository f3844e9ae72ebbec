// Package server has the commands that run a server on this machine, open its console, check
// it, measure it and upgrade it.
package server

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/background"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/logs"
)

// ServeCommand is shoal serve.
type ServeCommand struct {
	app.Config       // its settings are the flags
	PrintConfig bool `help:"Print the configuration with its sources, and end; also with --json." env:"-"`
	// ManagedBy says what has started the server for `shoal up`.
	ManagedBy background.Manager `hidden:"" env:"-"`
}

// Run serves until a signal ends it.
func (c *ServeCommand) Run(ctx context.Context, sh *cli.Shell, chosen *kong.Context) error {
	data, err := sh.DataDir()
	if err != nil {
		return err
	}
	if c.PrintConfig {
		return c.printConfig(sh, chosen, data)
	}
	command := os.Args[0]
	if sh.Config != "" {
		command += " --config " + shellWord(sh.Config)
	}
	if sh.Data != "" {
		command += " --data " + shellWord(sh.Data)
	}
	config := c.Config
	config.Data, config.Version, config.Command = data, sh.Stamp.Build().Version, command
	config.Manager = c.ManagedBy
	format := c.LogFormat
	if sh.Output.JSON {
		format = "json"
	}
	if config.Log, err = logs.New(sh.Output.Notes, logs.Options{Format: format, Level: c.LogLevel}); err != nil {
		return err
	}
	if !sh.Output.JSON && !sh.Output.Quiet {
		config.Out, config.Terminal = sh.Output.Out, sh.Output.Terminal
	}
	err = app.Run(ctx, config)
	if errors.Is(err, app.ErrDisk) || errors.Is(err, app.ErrTimeline) || errors.Is(err, app.ErrOutdated) {
		return &shoal.Error{Kind: cli.KindDisk, Msg: err.Error(), Err: err}
	}
	return err
}

// shellWord quotes a word for a shell, if it needs that.
func shellWord(s string) string {
	const harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-"
	if strings.Trim(s, harmless) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// printConfig prints what the server would run with, and then what of it would not
// work.
func (c *ServeCommand) printConfig(sh *cli.Shell, chosen *kong.Context, data string) error {
	all := sh.Sources.Configuration(chosen, data)
	var rows [][]string
	for _, s := range all {
		rows = append(rows, []string{s.Name, s.Value, s.Source})
	}
	if err := sh.Output.PrintTable(cli.List[cli.Setting]{Items: all}, []string{"NAME", "VALUE", "SOURCE"}, rows...); err != nil {
		return err
	}
	config := c.Config
	config.Data = data
	return config.Check()
}
