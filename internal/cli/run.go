// Package cli is what the commands of the command line share: flags, output, failures and
// exit codes, the configuration file, and the way to a server. The commands themselves are in
// the packages below it, and cmd/shoal puts them together.
//
// Scripts can rely on the following:
//   - Data goes to standard output, everything else to standard error.
//   - With --json, data are the objects of the REST API, one per line, and an error is
//     {"error":{"code","message","hint"}}.
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

// repeatedSignal is how long signals count as one: a parent such as make passes on what
// the whole process group has had.
const repeatedSignal = time.Second

// Run runs one command and returns its exit code.
func Run(stamp Stamp, grammar Grammar, args []string, in io.Reader, out, notes *os.File) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A later signal ends the process at once.
	context.AfterFunc(ctx, func() { time.AfterFunc(repeatedSignal, stop) })

	unsetEmptyVariables()
	if len(args) == 0 {
		args = []string{"--help"}
	}
	commands, globals := grammar()
	sh := &Shell{Globals: globals, In: in, Output: newOutput(out, notes), Sources: new(Sources), Stamp: stamp, Grammar: grammar}
	// Until the flags are parsed, this says how errors are told.
	sh.Output.JSON = slices.Contains(args, "--json") || os.Getenv("SHOAL_JSON") != ""
	parser := NewParser(commands, kong.Writers(out, notes), kong.Resolvers(sh.Sources), kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(sh))
	chosen, err := parser.Parse(args)
	if err != nil {
		var meant *kong.Context
		meant, err = usageError(err)
		sh.Command = meant.Command()
		return sh.finish(ctx, sh.Sources.addOrigin(meant, err))
	}
	sh.Command = chosen.Command()
	sh.SessionChosen = os.Getenv("SHOAL_SESSION") != "" ||
		slices.ContainsFunc(chosen.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == "session" })
	sh.Output.JSON, sh.Output.Quiet = globals.JSON, globals.Quiet
	return sh.finish(ctx, sh.Sources.addOrigin(chosen, chosen.Run()))
}

// unsetEmptyVariables makes a variable that is set to nothing the same as none, as
// people expect who write SHOAL_KEY= in front of a command.
func unsetEmptyVariables() {
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); value == "" && strings.HasPrefix(name, "SHOAL_") {
			_ = os.Unsetenv(name) // fails for names that no variable has
		}
	}
}
