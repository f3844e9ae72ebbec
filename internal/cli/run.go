// Package cli is what the commands of the command line share: flags, output, failures and
// exit codes, the configuration file, and the way to a server. The commands themselves are in
// the packages below it, and cmd/shoal puts them together.
//
// Scripts can rely on the following:
//   - Data goes to standard output, everything else to standard error.
//   - With --json, data are the objects of the REST API, one per line, and an error is
//     {"error":{"code","message","hint"}}. --jq PROGRAM is --json through a jq program.
//   - Without --json, a terminal gets aligned tables, and a pipe gets tab-separated rows
//     without a header. Text of other participants never carries control characters to a
//     terminal.
//   - The exit code identifies the kind of failure: see exits in failure.go.
package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

// repeatedSignal is how long further signals count as the first one. A parent such as make
// forwards a signal that the whole process group has already received.
const repeatedSignal = time.Second

// Run parses args, runs the command and returns its exit code. SIGINT and SIGTERM cancel the
// command's context; another signal after that ends the process.
func Run(stamp Stamp, grammar Grammar, args []string, in io.Reader, out, notes *os.File) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A later signal ends the process at once.
	context.AfterFunc(ctx, func() { time.AfterFunc(repeatedSignal, stop) })

	unsetEmptyVariables()
	if len(args) == 0 {
		args = []string{"--help"}
	}
	if args[0] == "help" {
		args = append(args[1:len(args):len(args)], "--help")
	}
	commands, globals := grammar()
	sh := &Shell{Globals: globals, In: in, Output: newOutput(out, notes), Sources: new(Sources), Stamp: stamp, Grammar: grammar}
	// Errors of the parser are reported before the flags are known.
	sh.Output.JSON = os.Getenv("SHOAL_JSON") != "" || slices.ContainsFunc(args, func(arg string) bool {
		return arg == "--json" || arg == "--jq" || strings.HasPrefix(arg, "--jq=")
	})
	parser := NewParser(commands, kong.Writers(out, notes), kong.Resolvers(sh.Sources), kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(sh))
	chosen, err := parser.Parse(args)
	if err != nil {
		var meant *kong.Context
		meant, sh.Command, err = usageError(err)
		return sh.finish(ctx, sh.Sources.addOrigin(meant, err))
	}
	sh.Command = chosen.Command()
	sh.SessionChosen = os.Getenv("SHOAL_SESSION") != "" ||
		slices.ContainsFunc(chosen.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == "session" })
	return sh.finish(ctx, sh.Sources.addOrigin(chosen, withFlags(chosen, sh.run(ctx, chosen))))
}

// run runs the command with the output that its flags ask for.
func (sh *Shell) run(ctx context.Context, chosen *kong.Context) (err error) {
	sh.Output.JSON, sh.Output.Quiet = sh.JSON || sh.JQ != "", sh.Quiet
	if sh.JQ != "" {
		if sh.Output.filter, err = newFilter(sh.JQ); err != nil {
			return err
		}
	}
	sh.findServer(chosen)
	defer sh.keepSignIn(ctx)()
	if err := sh.resolveNumbers(chosen); err != nil {
		return err
	}
	return chosen.Run()
}

// unsetEmptyVariables unsets SHOAL variables with an empty value, so that `SHOAL_KEY= shoal …`
// runs a command without a key.
func unsetEmptyVariables() {
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); value == "" && strings.HasPrefix(name, "SHOAL_") {
			_ = os.Unsetenv(name) // fails only for names that no variable can have
		}
	}
}
