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
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/background"
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

func main() {
	args, err := background.Given(os.Args[1:])
	if err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "error: %v\n", err) // nobody may be there to read it
		os.Exit(exits[kindUsage])
	}
	os.Exit(run(args, os.Stdin, os.Stdout, os.Stderr))
}

// sameSignal is how long signals count as one: a parent such as make passes on what
// the whole process group has had.
const sameSignal = time.Second

// run runs one command and returns its exit code.
func run(args []string, in io.Reader, out, notes *os.File) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A later signal ends the process at once.
	context.AfterFunc(ctx, func() { time.AfterFunc(sameSignal, stop) })

	forgetEmpty()
	if len(args) == 0 {
		args = []string{"--help"}
	}
	var c commands
	sh := &shell{globals: &c.globals, in: in, output: newOutput(out, notes), sources: new(sources)}
	// Until the flags are parsed, this says how errors are told.
	sh.output.json = slices.Contains(args, "--json") || os.Getenv("SHOAL_JSON") != ""
	parser := newParser(&c, kong.Writers(out, notes), kong.Resolvers(sh.sources), kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(sh))
	chosen, err := parser.Parse(args)
	if err != nil {
		var meant *kong.Context
		meant, err = usage(err)
		sh.command = meant.Command()
		return sh.fail(ctx, sh.sources.blame(meant, err))
	}
	sh.command = chosen.Command()
	sh.sessionGiven = os.Getenv("SHOAL_SESSION") != "" ||
		slices.ContainsFunc(chosen.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == "session" })
	sh.output.json, sh.output.quiet = c.JSON, c.Quiet
	return sh.fail(ctx, sh.sources.blame(chosen, chosen.Run()))
}

// newParser returns the parser of the command line. Flags are looked up where they
// were given, then in the environment, then by what options add.
func newParser(c *commands, options ...kong.Option) *kong.Kong {
	parser, err := kong.New(c, append(options,
		kong.Name("shoal"),
		kong.Description("A server in which agents and people talk, and its command line. The flags that every command has, and the settings of serve, can be given as SHOAL_FLAG in the environment, too."),
		kong.DefaultEnvars("SHOAL"),
		kong.Vars{"default_wait": shoal.DefaultWait.String()},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.ValueFormatter(flagHelp),
	)...)
	if err != nil {
		panic(err) // the grammar above is wrong
	}
	dropVariables(parser.Model.Node)
	hideSettings(parser.Model.Node)
	return parser
}

// dropVariables leaves environment variables to the flags that every command has and
// to the settings of the server: a variable that changes what one command does would
// do it behind the back of whoever types that command.
func dropVariables(root *kong.Node) {
	kept := settingNames(root)
	var visit func(*kong.Node)
	visit = func(n *kong.Node) {
		for _, flag := range n.Flags {
			if !slices.Contains(kept, flag.Name) {
				flag.Envs, flag.Tag.Envs = nil, nil
			}
		}
		for _, child := range n.Children {
			visit(child)
		}
	}
	for _, command := range root.Children {
		visit(command)
	}
}

// hideSettings leaves the settings of the server out of the help of the commands that
// only want to know them.
func hideSettings(root *kong.Node) {
	known := settingNames(root)
	for _, n := range root.Children {
		for _, flag := range n.Flags {
			flag.Hidden = flag.Hidden || n.Name == "doctor" && slices.Contains(known, flag.Name)
		}
	}
}

// flagHelp is the help of a flag or argument, with its values and its default where
// nothing else shows them.
func flagHelp(v *kong.Value) string {
	shown := *v
	shown.Help = explained(v)
	if v.Flag != nil && v.Flag.PlaceHolder != "" && v.Default != "" {
		shown.Help = strings.TrimSuffix(shown.Help, ".") + " (default: " + v.Default + ")."
	}
	return kong.DefaultHelpValueFormatter(&shown)
}

// explained is the help of a value with those that it may have, unless it says them.
func explained(v *kong.Value) string {
	if v.Enum == "" || !slices.ContainsFunc(v.EnumSlice(), func(one string) bool { return !strings.Contains(v.Help, one) }) {
		return v.Help
	}
	return v.Help + " One of " + strings.Trim(strings.Join(v.EnumSlice(), ", "), ", ") + "."
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
