// Command shoal is the server and the command line of Shoal.
//
//	shoal serve
//	shoal keys create --entity scout --join welcome
//	shoal send welcome 'Hello scout, who are you?' -m scout --wait
//
// It promises to scripts:
//   - data goes to standard output, everything else to standard error;
//   - with --json, data are the objects of the REST face, one in a line, and an
//     error is {"error":{"code","message","hint"}};
//   - without it, tables are for people on a terminal and tab-separated without
//     a head elsewhere, and no text of others reaches a terminal with control
//     characters in it;
//   - the exit code tells what happened: see exits in failure.go.
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

// A release sets these with -ldflags "-X main.version=1.2.3 …": build/release does.
var (
	version    string
	commit     string
	date       string // of the commit, in RFC 3339
	releaseKey string // the public key of minisign with which releases are signed, if they are
)

// commands is the grammar of the command line.
type commands struct {
	cli.Globals
	Up         server.UpCommand           `cmd:"" help:"Start the server in the background, wait until it is ready, and open the console."`
	Down       server.DownCommand         `cmd:"" help:"Stop the server that up has started."`
	Upgrade    server.UpgradeCommand      `cmd:"" help:"Install a newer release and restart the server that up runs; --rollback goes back."`
	Serve      server.ServeCommand        `cmd:"" help:"Run the server."`
	Console    server.ConsoleCommand      `cmd:"" help:"Make a link that opens the console in a browser and signs in there, once; with --admin."`
	Connect    connect.Command            `cmd:"" help:"Connect Claude Code, Codex, Cursor, VS Code or Gemini CLI: print the entry for its configuration, or write it with a key of its own."`
	MCP        connect.MCPCommand         `cmd:"" name:"mcp" help:"Connect a program that speaks MCP over its standard input and output to a server."`
	Send       talk.SendCommand           `cmd:"" help:"Post a message."`
	Chat       talk.ChatCommand           `cmd:"" help:"Talk in a space: over the whole terminal, or in lines."`
	Wait       talk.WaitCommand           `cmd:"" help:"Wait for messages, print them and acknowledge them."`
	Tail       talk.TailCommand           `cmd:"" help:"Follow what is said, in one space or in all."`
	Search     talk.SearchCommand         `cmd:"" help:"Find messages by their words, by who sent them, where and when."`
	Messages   talk.MessagesCommand       `cmd:"" help:"Show and delete messages by their ids."`
	Files      talk.FilesCommand          `cmd:"" help:"Delete uploaded files."`
	Spaces     talk.SpacesCommand         `cmd:"" help:"List, create, show and close spaces; add and remove members."`
	Agents     agents.Command             `cmd:"" help:"List the entities of the session; apply, show, trigger and remove hosted agents."`
	Runs       runs.Command               `cmd:"" help:"List, show, follow, cancel and retry the runs of hosted agents."`
	Approvals  runs.ApprovalsCommand      `cmd:"" help:"List and answer what agents ask for."`
	Plans      agents.PlansCommand        `cmd:"" help:"List, make and end the schedules of hosted agents."`
	Usage      runs.UsageCommand          `cmd:"" help:"Show what model calls used and cost."`
	Renderers  admin.RenderersCommand     `cmd:"" help:"List, push and remove the pages with which the console shows the calls of tools."`
	Keys       admin.KeysCommand          `cmd:"" help:"List, create and revoke keys."`
	Sessions   admin.SessionsCommand      `cmd:"" help:"List and create sessions."`
	Export     admin.ExportCommand        `cmd:"" help:"Write a session with everything in it as JSON lines."`
	Import     admin.ImportCommand        `cmd:"" help:"Make a session of what export has written, here or on another server; with --admin."`
	Doctor     server.DoctorCommand       `cmd:"" help:"Look whether the server, what it stands on and the way to it are well; say what to do where they are not."`
	Bench      server.BenchCommand        `cmd:"" help:"Measure a server as its callers see it: posts, wake-ups, waits and streams; with --admin or --throwaway."`
	Completion completion.Command         `cmd:"" help:"Print what makes a shell complete commands, flags and the ids that there are."`
	Version    server.VersionCommand      `cmd:"" help:"Print the version."`
	Complete   completion.CompleteCommand `cmd:"" name:"__complete" hidden:"" passthrough:"" help:"Answer what could stand in the place of a word."`
}

func newCommands() (any, *cli.Globals) {
	c := new(commands)
	return c, &c.Globals
}

// versionOnly is the grammar of shoal version. Building the grammar of all commands takes
// longer than everything else that this command does, and scripts run it often.
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
		_, _ = fmt.Fprintf(os.Stderr, "error: %v\n", err) // nobody may be there to read it
		os.Exit(cli.ExitCode(cli.KindUsage))
	}
	grammar := newCommands
	if len(args) > 0 && args[0] == "version" {
		grammar = newVersionOnly
	}
	os.Exit(cli.Run(cli.Stamp{Version: version, Commit: commit, Date: date, ReleaseKey: releaseKey}, grammar, args, os.Stdin, os.Stdout, os.Stderr))
}
