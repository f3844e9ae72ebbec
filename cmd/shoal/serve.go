package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/background"
	"github.com/shoal-dev/shoal/internal/logs"
)

type serveCmd struct {
	app.Config       // its settings are the flags
	PrintConfig bool `help:"Print the configuration with its sources, and end; also with --json." env:"-"`
	// ManagedBy says what has started the server for `shoal up`.
	ManagedBy background.Manager `hidden:"" env:"-"`
}

// Run serves until a signal ends it.
func (c *serveCmd) Run(ctx context.Context, sh *shell, chosen *kong.Context) error {
	data, err := sh.dataDir()
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
	config.Data, config.Version, config.Command = data, sh.stamp.build().Version, command
	config.Manager = c.ManagedBy
	format := c.LogFormat
	if sh.output.json {
		format = "json"
	}
	if config.Log, err = logs.New(sh.output.notes, logs.Options{Format: format, Level: c.LogLevel}); err != nil {
		return err
	}
	if !sh.output.json && !sh.output.quiet {
		config.Out, config.Terminal = sh.output.out, sh.output.terminal
	}
	err = app.Run(ctx, config)
	if errors.Is(err, app.ErrDisk) || errors.Is(err, app.ErrTimeline) {
		return &shoal.Error{Kind: kindDisk, Msg: err.Error(), Err: err}
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
func (c *serveCmd) printConfig(sh *shell, chosen *kong.Context, data string) error {
	all := sh.sources.configuration(chosen, data)
	var rows [][]string
	for _, s := range all {
		rows = append(rows, []string{s.Name, s.Value, s.Source})
	}
	if err := sh.output.table(items[setting]{Items: all}, []string{"NAME", "VALUE", "SOURCE"}, rows...); err != nil {
		return err
	}
	config := c.Config
	config.Data = data
	return config.Check()
}
