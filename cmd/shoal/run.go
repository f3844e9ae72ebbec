package main

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

// sameSignal is how long signals count as one: a parent such as make passes on what
// the whole process group has had.
const sameSignal = time.Second

// run runs one command and returns its exit code.
func run(stamp stamp, grammar grammar, args []string, in io.Reader, out, notes *os.File) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A later signal ends the process at once.
	context.AfterFunc(ctx, func() { time.AfterFunc(sameSignal, stop) })

	forgetEmpty()
	if len(args) == 0 {
		args = []string{"--help"}
	}
	commands, globals := grammar()
	sh := &shell{globals: globals, in: in, output: newOutput(out, notes), sources: new(sources), stamp: stamp, grammar: grammar}
	// Until the flags are parsed, this says how errors are told.
	sh.output.json = slices.Contains(args, "--json") || os.Getenv("SHOAL_JSON") != ""
	parser := newParser(commands, kong.Writers(out, notes), kong.Resolvers(sh.sources), kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(sh))
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
	sh.output.json, sh.output.quiet = globals.JSON, globals.Quiet
	return sh.fail(ctx, sh.sources.blame(chosen, chosen.Run()))
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
