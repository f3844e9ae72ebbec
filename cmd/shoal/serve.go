package main

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
)

type serveCmd struct {
	Addr         string   `help:"Where to listen; port 0 takes a free one." default:"127.0.0.1:7462" placeholder:"HOST:PORT"`
	Database     string   `help:"sqlite://PATH (default: shoal.db in the data directory) or postgres://…" placeholder:"URL"`
	Bus          string   `help:"How several servers tell each other what happens: memory, there is only one." default:"memory"`
	Auth         string   `help:"off lets everybody in; on loopback only." enum:"on,off" default:"on"`
	AllowOrigin  []string `help:"Let web pages of these origins in." placeholder:"ORIGIN"`
	AllowHost    []string `help:"Answer under these names, too." placeholder:"HOST"`
	AllowPrivate []string `help:"Let request tools and MCP servers of agents reach these loopback and private networks; may be repeated." placeholder:"CIDR"`
	AllowEnv     []string `help:"Let agent configs refer to these variables of the environment; may be repeated." placeholder:"NAME"`
	PrintConfig  bool     `help:"Print the configuration with its sources, and end."`
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
	if sh.Data != "" {
		command += " --data " + shellWord(sh.Data)
	}
	greeting := sh.output.out
	if sh.output.json || sh.output.quiet {
		greeting = nil
	}
	err = app.Run(ctx, app.Config{
		Addr: c.Addr, Data: data, Database: c.Database, Bus: c.Bus, AuthOff: c.Auth == "off",
		AllowOrigins: c.AllowOrigin, AllowHosts: c.AllowHost, AllowPrivate: c.AllowPrivate, AllowEnv: c.AllowEnv, Version: thisBuild().Version,
		Log: sh.output.logger(), Out: greeting, Command: command,
	})
	if errors.Is(err, app.ErrDisk) {
		return &shoal.Error{Kind: kindDisk, Msg: err.Error(), Err: err}
	}
	return err
}

// logger writes the server's log to where notes go, with times as they are
// shown everywhere.
func (o *output) logger() *slog.Logger {
	options := &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			a.Value = slog.StringValue(shoal.At(a.Value.Time()).String())
		}
		return a
	}}
	if o.json {
		return slog.New(slog.NewJSONHandler(o.notes, options))
	}
	return slog.New(slog.NewTextHandler(o.notes, options))
}

// shellWord quotes a word for a shell, if it needs that.
func shellWord(s string) string {
	const harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-"
	if strings.Trim(s, harmless) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// setting is one line of the configuration.
type setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// printConfig prints what the server would run with. No secret is in it.
func (c *serveCmd) printConfig(sh *shell, chosen *kong.Context, data string) error {
	database := c.Database
	if database == "" {
		database = "sqlite://" + filepath.Join(data, "shoal.db")
	}
	database = redacted(database)
	all := []setting{
		{"addr", c.Addr, ""},
		{"data", data, ""},
		{"database", database, ""},
		{"bus", c.Bus, ""},
		{"auth", c.Auth, ""},
		{"allow-origin", strings.Join(c.AllowOrigin, ","), ""},
		{"allow-host", strings.Join(c.AllowHost, ","), ""},
		{"allow-private", strings.Join(c.AllowPrivate, ","), ""},
		{"allow-env", strings.Join(c.AllowEnv, ","), ""},
	}
	var rows [][]string
	for i := range all {
		all[i].Source = source(chosen, all[i].Name)
		rows = append(rows, []string{all[i].Name, all[i].Value, all[i].Source})
	}
	return sh.output.table(items[setting]{Items: all}, []string{"NAME", "VALUE", "SOURCE"}, rows...)
}

// redacted returns the URL of a database without its password.
func redacted(database string) string {
	at, err := url.Parse(database)
	if err != nil {
		return "set, but no URL"
	}
	if query := at.Query(); query.Has("password") {
		query.Set("password", "xxxxx")
		at.RawQuery = query.Encode()
	}
	return at.Redacted()
}

// source tells where the value of a flag comes from.
func source(chosen *kong.Context, name string) string {
	for _, p := range chosen.Path {
		if p.Flag != nil && p.Flag.Name == name {
			return "flag"
		}
	}
	for _, f := range chosen.Flags() {
		if f.Name != name {
			continue
		}
		for _, env := range f.Envs {
			if _, set := os.LookupEnv(env); set {
				return env
			}
		}
	}
	return "default"
}
