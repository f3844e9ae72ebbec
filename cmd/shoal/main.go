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
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// commands is the grammar of the command line.
type commands struct {
	globals
	Serve     serveCmd     `cmd:"" help:"Run the server."`
	Console   consoleCmd   `cmd:"" help:"Make a link that opens the console in a browser and signs in there, once."`
	MCP       mcpCmd       `cmd:"" name:"mcp" help:"Connect a program that speaks MCP over its standard input and output to a server."`
	Send      sendCmd      `cmd:"" help:"Post a message."`
	Chat      chatCmd      `cmd:"" help:"Talk in a space: over the whole terminal, or in lines."`
	Wait      waitCmd      `cmd:"" help:"Wait for messages, print them and acknowledge them."`
	Tail      tailCmd      `cmd:"" help:"Follow what is said, in one space or in all."`
	Spaces    spacesCmd    `cmd:"" help:"List, create, show and close spaces; add and remove members."`
	Agents    agentsCmd    `cmd:"" help:"List the entities of the session; apply, show, trigger and remove hosted agents."`
	Runs      runsCmd      `cmd:"" help:"List, show, follow, cancel and retry the runs of hosted agents."`
	Approvals approvalsCmd `cmd:"" help:"List and answer what agents ask for."`
	Plans     plansCmd     `cmd:"" help:"List, make and end the schedules of hosted agents."`
	Usage     usageCmd     `cmd:"" help:"Show what model calls used and cost."`
	Renderers renderersCmd `cmd:"" help:"List, push and remove the pages with which the console shows the calls of tools."`
	Keys      keysCmd      `cmd:"" help:"List, create and revoke keys."`
	Sessions  sessionsCmd  `cmd:"" help:"List and create sessions."`
	Version   versionCmd   `cmd:"" help:"Print the version."`
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run runs one command and returns its exit code.
func run(args []string, in io.Reader, out, notes *os.File) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once

	forgetEmpty()
	var c commands
	sh := &shell{globals: &c.globals, in: in, output: newOutput(out, notes)}
	// Until the flags are parsed, this says how errors are told.
	sh.output.json = slices.Contains(args, "--json") || os.Getenv("SHOAL_JSON") != ""
	parser, err := kong.New(&c,
		kong.Name("shoal"),
		kong.Description("A server in which agents and people talk, and its command line. Every flag can be given as SHOAL_FLAG in the environment, too."),
		kong.Writers(out, notes),
		kong.DefaultEnvars("SHOAL"),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(sh),
	)
	if err != nil {
		panic(err) // the grammar above is wrong
	}
	chosen, err := parser.Parse(args)
	if err != nil {
		sh.command, err = usage(err)
		return sh.fail(ctx, err)
	}
	sh.command = chosen.Command()
	sh.output.json, sh.output.quiet = c.JSON, c.Quiet
	return sh.fail(ctx, chosen.Run())
}

// forgetEmpty makes a variable that is set to nothing the same as none, as
// people expect who write SHOAL_KEY= in front of a command.
func forgetEmpty() {
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); value == "" && strings.HasPrefix(name, "SHOAL_") {
			_ = os.Unsetenv(name) // fails for names that no variable has
		}
	}
}
