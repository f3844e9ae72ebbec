// Command compare measures package agent beside other libraries for agents in Go:
//
//	GOWORK=off go -C bench/compare run . [-rounds 9] [-only costs]
//
// One program for each library, in agents, is the same agent: it streams, and has two tools. A
// model on a local port answers all of them alike, and fails them alike. Printed are the
// program and what it links, the faults, and the costs as Markdown for docs/agent.md.
//
// A library is used as its documentation shows, with its defaults; only the number of model calls
// is limited to the same, where it can be. Cost is the processor time of the agent's process
// (getrusage), the model's process not counted, so that a busy machine disturbs little; the
// programs take turns in each round.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/bench/compare/mock"
)

// library is one that is compared.
type library struct {
	name string
	dir  string // its program, below agents
	tags string // with which it is built
	// modules are the prefixes of the modules whose names its program uses.
	modules []string
	// version is the path of the module whose version is printed.
	version string
	program string // as it was built
}

// libraries are compared with the first that speaks the same wire.
var libraries = []*library{
	{name: "Shoal", dir: "shoal", modules: []string{"github.com/shoal-dev/shoal/agent"}, version: "github.com/shoal-dev/shoal/agent"},
	{name: "eino", dir: "eino", modules: []string{"github.com/cloudwego/"}, version: "github.com/cloudwego/eino"},
	{name: "genkit", dir: "genkit", modules: []string{"github.com/firebase/genkit/", "github.com/openai/"}, version: "github.com/firebase/genkit/go"},
	{name: "openai-go", dir: "openaigo", modules: []string{"github.com/openai/"}, version: "github.com/openai/openai-go/v3"},
	{name: "Shoal, responses", dir: "shoal", tags: "responses", modules: []string{"github.com/shoal-dev/shoal/agent"}, version: "github.com/shoal-dev/shoal/agent"},
	{name: "adk, responses", dir: "adk", modules: []string{"google.golang.org/"}, version: "google.golang.org/adk/v2"},
}

// base returns the index of the row that a library is divided by.
func base(i int) int {
	if i >= 4 {
		return 4
	}
	return 0
}

func main() {
	rounds := flag.Int("rounds", 9, "how often each cost is measured")
	only := flag.String("only", "", "print one table: size, faults or costs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := compare(ctx, os.Stdout, *rounds, *only); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func compare(ctx context.Context, out io.Writer, rounds int, only string) (err error) {
	if rounds < 1 || !slices.Contains([]string{"", "size", "faults", "costs"}, only) {
		return errors.New("-rounds is at least 1, and -only is size, faults or costs")
	}
	dir, err := os.MkdirTemp("", "compare")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, l := range libraries {
		if err := l.build(ctx, dir); err != nil {
			return err
		}
	}
	model := mock.Start(answer)
	defer model.Close()
	for _, table := range []struct {
		name  string
		print func() error
	}{
		{"size", func() error { return sizes(ctx, out) }},
		{"faults", func() error { return faults(ctx, out, model) }},
		{"costs", func() error { return costs(ctx, out, model, rounds) }},
	} {
		if only == "" || only == table.name {
			if err := table.print(); err != nil {
				return err
			}
			fmt.Fprintln(out)
		}
	}
	return nil
}

// build builds the program as one would for others: without symbols and paths.
func (l *library) build(ctx context.Context, dir string) error {
	l.program = filepath.Join(dir, l.dir+l.tags)
	cmd := l.goCommand(ctx, "build", "-trimpath", "-ldflags=-s -w", "-o", l.program)
	if problem, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", l.dir, err, problem)
	}
	return nil
}

// goCommand is the go command on the package of the program, which may be a module of its own.
func (l *library) goCommand(ctx context.Context, verb string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", append([]string{verb, "-tags=" + l.tags}, args...)...)
	cmd.Dir = filepath.Join("agents", l.dir)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	return cmd
}

// row prints a row of a table.
func row(out io.Writer, cells ...string) {
	fmt.Fprintln(out, "| "+strings.Join(cells, " | ")+" |")
}

// head prints the first two rows of a table.
func head(out io.Writer, cells ...string) {
	row(out, cells...)
	fmt.Fprintln(out, "| --- "+strings.Repeat("| ---: ", len(cells)-1)+"|")
}
