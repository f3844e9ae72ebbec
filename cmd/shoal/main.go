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
	globals
	Up         upCmd         `cmd:"" help:"Start the server in the background, wait until it is ready, and open the console."`
	Down       downCmd       `cmd:"" help:"Stop the server that up has started."`
	Upgrade    upgradeCmd    `cmd:"" help:"Install a newer release and restart the server that up runs; --rollback goes back."`
	Serve      serveCmd      `cmd:"" help:"Run the server."`
	Console    consoleCmd    `cmd:"" help:"Make a link that opens the console in a browser and signs in there, once; with --admin."`
	Connect    connectCmd    `cmd:"" help:"Connect Claude Code, Codex, Cursor, VS Code or Gemini CLI: print the entry for its configuration, or write it with a key of its own."`
	MCP        mcpCmd        `cmd:"" name:"mcp" help:"Connect a program that speaks MCP over its standard input and output to a server."`
	Send       sendCmd       `cmd:"" help:"Post a message."`
	Chat       chatCmd       `cmd:"" help:"Talk in a space: over the whole terminal, or in lines."`
	Wait       waitCmd       `cmd:"" help:"Wait for messages, print them and acknowledge them."`
	Tail       tailCmd       `cmd:"" help:"Follow what is said, in one space or in all."`
	Search     searchCmd     `cmd:"" help:"Find messages by their words, by who sent them, where and when."`
	Messages   messagesCmd   `cmd:"" help:"Show and delete messages by their ids."`
	Files      filesCmd      `cmd:"" help:"Delete uploaded files."`
	Spaces     spacesCmd     `cmd:"" help:"List, create, show and close spaces; add and remove members."`
	Agents     agentsCmd     `cmd:"" help:"List the entities of the session; apply, show, trigger and remove hosted agents."`
	Runs       runsCmd       `cmd:"" help:"List, show, follow, cancel and retry the runs of hosted agents."`
	Approvals  approvalsCmd  `cmd:"" help:"List and answer what agents ask for."`
	Plans      plansCmd      `cmd:"" help:"List, make and end the schedules of hosted agents."`
	Usage      usageCmd      `cmd:"" help:"Show what model calls used and cost."`
	Renderers  renderersCmd  `cmd:"" help:"List, push and remove the pages with which the console shows the calls of tools."`
	Keys       keysCmd       `cmd:"" help:"List, create and revoke keys."`
	Sessions   sessionsCmd   `cmd:"" help:"List and create sessions."`
	Export     exportCmd     `cmd:"" help:"Write a session with everything in it as JSON lines."`
	Import     importCmd     `cmd:"" help:"Make a session of what export has written, here or on another server; with --admin."`
	Doctor     doctorCmd     `cmd:"" help:"Look whether the server, what it stands on and the way to it are well; say what to do where they are not."`
	Bench      benchCmd      `cmd:"" help:"Measure a server as its callers see it: posts, wake-ups, waits and streams; with --admin or --throwaway."`
	Completion completionCmd `cmd:"" help:"Print what makes a shell complete commands, flags and the ids that there are."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:"" passthrough:"" help:"Answer what could stand in the place of a word."`
}

func grammarOfAll() (any, *globals) {
	c := new(commands)
	return c, &c.globals
}

func main() {
	args, err := background.Given(os.Args[1:])
	if err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "error: %v\n", err) // nobody may be there to read it
		os.Exit(exitCode(kindUsage))
	}
	os.Exit(run(stamp{Version: version, Commit: commit, Date: date, ReleaseKey: releaseKey}, grammarOfAll, args, os.Stdin, os.Stdout, os.Stderr))
}
