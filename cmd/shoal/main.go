// Command shoal is the server and the command line of Shoal.
//
//	shoal serve
//	shoal keys create --entity scout --join welcome
//	shoal send welcome 'Hello scout, who are you?' -m scout --wait
//
// The commands are in the packages below internal/cli, and what scripts can rely on is in the
// documentation of internal/cli. This package only lists the commands and starts one.
package main

import (
	"fmt"
	"os"

	"github.com/shoal-dev/shoal/internal/background"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/admin"
	"github.com/shoal-dev/shoal/internal/cli/agents"
	"github.com/shoal-dev/shoal/internal/cli/completion"
	"github.com/shoal-dev/shoal/internal/cli/connect"
	"github.com/shoal-dev/shoal/internal/cli/runs"
	"github.com/shoal-dev/shoal/internal/cli/server"
	"github.com/shoal-dev/shoal/internal/cli/talk"
)

// Releases set these with -ldflags "-X main.version=1.2.3 …"; see build/release.
var (
	version    string
	commit     string
	date       string // of the commit, in RFC 3339
	releaseKey string // the minisign public key that verifies releases; empty if they are unsigned
)

// commands is the grammar of the command line.
type commands struct {
	cli.Globals
	Up         server.UpCommand           `cmd:"" help:"Start the server in the background, wait until it is ready, and open the console."`
	Down       server.DownCommand         `cmd:"" help:"Stop the server that up started."`
	Upgrade    server.UpgradeCommand      `cmd:"" help:"Install a newer release and restart the server that up runs; --rollback goes back."`
	Serve      server.ServeCommand        `cmd:"" help:"Run the server."`
	Console    server.ConsoleCommand      `cmd:"" help:"Create a link that opens the console in a browser, signed in. It works once; requires --admin."`
	Connect    connect.Command            `cmd:"" help:"Connect Claude Code, Codex, Cursor, VS Code or Gemini CLI: print the entry for its configuration, or write it with its own key."`
	MCP        connect.MCPCommand         `cmd:"" name:"mcp" help:"Serve MCP over standard input and output, for programs that start their MCP servers."`
	Send       talk.SendCommand           `cmd:"" help:"Post a message."`
	Chat       talk.ChatCommand           `cmd:"" help:"Chat in a space, in a full-screen terminal or line by line."`
	Wait       talk.WaitCommand           `cmd:"" help:"Wait for messages, print them and acknowledge them."`
	Tail       talk.TailCommand           `cmd:"" help:"Follow the messages of one space or of all your spaces."`
	Search     talk.SearchCommand         `cmd:"" help:"Search messages by text, sender, space and time."`
	Messages   talk.MessagesCommand       `cmd:"" help:"Show, edit and delete messages, and react to them."`
	Files      talk.FilesCommand          `cmd:"" help:"Delete uploaded files."`
	Spaces     talk.SpacesCommand         `cmd:"" help:"List, create, show and close spaces; add and remove members."`
	Agents     agents.Command             `cmd:"" help:"List the entities of the session; apply, show, trigger and remove hosted agents."`
	Runs       runs.Command               `cmd:"" help:"List, show, follow, cancel and retry the runs of hosted agents."`
	Approvals  runs.ApprovalsCommand      `cmd:"" help:"List and answer approvals, questions and tool calls that wait for a person."`
	Plans      agents.PlansCommand        `cmd:"" help:"List, create and end the schedules of hosted agents."`
	Usage      runs.UsageCommand          `cmd:"" help:"Show the usage and cost of model calls."`
	Renderers  admin.RenderersCommand     `cmd:"" help:"List, push and remove the pages that show tool calls in the console."`
	Keys       admin.KeysCommand          `cmd:"" help:"List, create and revoke keys."`
	Sessions   admin.SessionsCommand      `cmd:"" help:"List and create sessions (isolated workspaces); show and change their limits."`
	Export     admin.ExportCommand        `cmd:"" help:"Export a session with all its data as JSON lines."`
	Import     admin.ImportCommand        `cmd:"" help:"Import a session from an export of this or another server; requires --admin."`
	Doctor     server.DoctorCommand       `cmd:"" help:"Check the server, its dependencies and connectivity, and suggest how to fix what fails."`
	Bench      server.BenchCommand        `cmd:"" help:"Measure a server from the outside: posts, wake-ups, waits and streams; requires --admin or --throwaway."`
	Completion completion.Command         `cmd:"" help:"Print a completion script for a shell, which completes commands, flags and existing ids."`
	Version    server.VersionCommand      `cmd:"" help:"Print the version."`
	Complete   completion.CompleteCommand `cmd:"" name:"__complete" hidden:"" passthrough:"" help:"Print the candidates for the last word."`
}

func newCommands() (any, *cli.Globals) {
	c := new(commands)
	return c, &c.Globals
}

// versionOnly is the grammar of shoal version, which scripts run often. Building the grammar of
// all commands would take longer than the command itself.
type versionOnly struct {
	cli.Globals
	Version server.VersionCommand `cmd:"" help:"Print the version."`
}

func newVersionOnly() (any, *cli.Globals) {
	c := new(versionOnly)
	return c, &c.Globals
}

func main() {
	args, err := background.Given(os.Args[1:])
	if err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "error: %v\n", err) // standard error may be closed
		os.Exit(cli.ExitCode(cli.KindUsage))
	}
	grammar := newCommands
	if len(args) > 0 && args[0] == "version" {
		grammar = newVersionOnly
	}
	os.Exit(cli.Run(cli.Stamp{Version: version, Commit: commit, Date: date, ReleaseKey: releaseKey}, grammar, args, os.Stdin, os.Stdout, os.Stderr))
}
