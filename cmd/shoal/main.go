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
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/shoal-dev/shoal/internal/background"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/account"
	"github.com/shoal-dev/shoal/internal/cli/admin"
	"github.com/shoal-dev/shoal/internal/cli/agents"
	"github.com/shoal-dev/shoal/internal/cli/completion"
	"github.com/shoal-dev/shoal/internal/cli/connect"
	"github.com/shoal-dev/shoal/internal/cli/runner"
	"github.com/shoal-dev/shoal/internal/cli/runs"
	"github.com/shoal-dev/shoal/internal/cli/server"
	"github.com/shoal-dev/shoal/internal/cli/talk"
	"github.com/shoal-dev/shoal/internal/wakehook"
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
	Up         server.UpCommand           `cmd:"" group:"Start and look after a server" help:"Start a server in the background and open the console."`
	Down       server.DownCommand         `cmd:"" group:"Start and look after a server" help:"Stop the server that up started."`
	Upgrade    server.UpgradeCommand      `cmd:"" group:"Start and look after a server" help:"Install a newer release, or go back with --rollback."`
	Serve      server.ServeCommand        `cmd:"" group:"Start and look after a server" help:"Run a server in this terminal."`
	Console    server.ConsoleCommand      `cmd:"" group:"Start and look after a server" help:"Create a link that signs a browser in to the console, once; requires --admin."`
	Connect    connect.Command            `cmd:"" group:"Agents and their work" help:"Connect Claude Code, Codex, Cursor, VS Code or Gemini CLI."`
	Runner     runner.Command             `cmd:"" group:"Agents and their work" help:"Run coding agents on this machine: a mention wakes them, and they ask before they act."`
	Runners    runner.ListCommand         `cmd:"" group:"Agents and their work" help:"List the machines on which coding agents run, and remove one."`
	MCP        connect.MCPCommand         `cmd:"" group:"Agents and their work" name:"mcp" help:"Serve MCP over standard input and output."`
	Login      account.LoginCommand       `cmd:"" group:"People, keys and data" help:"Sign in at a server, in a browser."`
	Logout     account.LogoutCommand      `cmd:"" group:"People, keys and data" help:"Sign out at a server."`
	Contexts   account.ContextsCommand    `cmd:"" group:"People, keys and data" help:"List the servers where you are signed in, and choose the current one."`
	Whoami     account.WhoamiCommand      `cmd:"" group:"People, keys and data" help:"Show as whom commands act, at which server, and with which key."`
	Send       talk.SendCommand           `cmd:"" group:"Talk" help:"Post a message."`
	Chat       talk.ChatCommand           `cmd:"" group:"Talk" help:"Chat in a space, on the full screen or line by line."`
	Wake       talk.WakeCommand           `cmd:"" group:"Agents and their work" help:"Test whether a mention wakes an agent."`
	Wait       talk.WaitCommand           `cmd:"" group:"Talk" help:"Wait for messages, print them and acknowledge them."`
	Tail       talk.TailCommand           `cmd:"" group:"Talk" help:"Follow the messages of one space or of all your spaces."`
	Search     talk.SearchCommand         `cmd:"" group:"Talk" help:"Search messages by text, sender, space and time."`
	Messages   talk.MessagesCommand       `cmd:"" group:"Talk" help:"Show, edit and delete messages, and react to them."`
	Files      talk.FilesCommand          `cmd:"" group:"Talk" help:"Delete uploaded files."`
	Spaces     talk.SpacesCommand         `cmd:"" group:"Talk" help:"List, create, show and close spaces; add and remove members."`
	Agents     agents.Command             `cmd:"" group:"Agents and their work" help:"List the participants; apply, show, trigger and remove hosted agents."`
	Runs       runs.Command               `cmd:"" group:"Agents and their work" help:"List, show, follow, cancel and retry the runs of hosted agents."`
	Approvals  runs.ApprovalsCommand      `cmd:"" group:"Agents and their work" help:"List and answer what waits for a person: approvals, questions, tool calls."`
	Plans      agents.PlansCommand        `cmd:"" group:"Agents and their work" help:"List, create and end the schedules of hosted agents."`
	Usage      runs.UsageCommand          `cmd:"" group:"Agents and their work" help:"Show the usage and cost of model calls."`
	Renderers  admin.RenderersCommand     `cmd:"" group:"Agents and their work" help:"Manage the pages that show tool calls in the console."`
	Invite     admin.InviteCommand        `cmd:"" group:"People, keys and data" help:"Invite a person with a link that works once; list and withdraw invitations."`
	Erase      admin.EraseCommand         `cmd:"" group:"People, keys and data" help:"Erase a person or an agent: its name, messages, files and answers."`
	Keys       admin.KeysCommand          `cmd:"" group:"People, keys and data" help:"List, create, replace and revoke keys."`
	Audit      admin.AuditCommand         `cmd:"" group:"People, keys and data" help:"List, follow and verify the records of who did what."`
	SignIns    admin.SignInsCommand       `cmd:"" name:"sign-ins" group:"People, keys and data" help:"List the browsers that are signed in to the console, and sign them out."`
	Sessions   admin.SessionsCommand      `cmd:"" group:"People, keys and data" help:"List and create sessions (isolated workspaces); their limits and rights."`
	Backup     admin.BackupCommand        `cmd:"" group:"People, keys and data" help:"Copy the database into a file while the server runs."`
	Restore    admin.RestoreCommand       `cmd:"" group:"People, keys and data" help:"Put a backup in the place of the database; the server must be stopped."`
	Export     admin.ExportCommand        `cmd:"" group:"People, keys and data" help:"Export a session with all its data as JSON lines."`
	Import     admin.ImportCommand        `cmd:"" group:"People, keys and data" help:"Import a session from an export; requires --admin."`
	Doctor     server.DoctorCommand       `cmd:"" group:"Start and look after a server" help:"Check a server and everything around it, and suggest remedies."`
	Nodes      admin.NodesCommand         `cmd:"" group:"Start and look after a server" help:"List the servers that share the database; requires --admin."`
	Bench      server.BenchCommand        `cmd:"" group:"Start and look after a server" help:"Measure a server from the outside; requires --admin or --throwaway."`
	Completion completion.Command         `cmd:"" group:"This program" help:"Print a completion script for a shell."`
	Version    server.VersionCommand      `cmd:"" group:"This program" help:"Print the version."`
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

// wakeHook is what hooks of coding agents start. It is not among the commands: it reads nothing of their
// configuration, and no error in that may have it exit with the code that wakes a model.
func wakeHook(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return wakehook.Main(ctx, args, os.Stdin, os.Stdout, os.Stderr)
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == wakehook.Name {
		os.Exit(wakeHook(os.Args[2:]))
	}
	args, err := background.Given(os.Args[1:])
	if err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "error: %v\n", err) // standard error may be closed
		os.Exit(cli.ExitCode(cli.KindUsage))
	}
	grammar := newCommands
	if len(args) > 0 && slices.Contains([]string{"version", "--version", "-v"}, args[0]) {
		grammar, args = newVersionOnly, append([]string{"version"}, args[1:]...)
	}
	os.Exit(cli.Run(cli.Stamp{Version: version, Commit: commit, Date: date, ReleaseKey: releaseKey}, grammar, args, os.Stdin, os.Stdout, os.Stderr))
}
