// Command bench measures Shoal beside the least that could do the same work, in
// one run on one machine, and prints tables of ratios.
//
//	make bench                                    # about twenty minutes
//	make bench BENCHFLAGS=-write                  # and puts the tables into docs/benchmarks.md
//	make bench BENCHFLAGS='-only models -write'   # those of one kind alone
//	go run ./bench -only wake,posts -shoal bin/shoal
//
// There are two kinds of tables. In those of servers the rows beside Shoal are
// servers of this command itself, each in its own process: the floor (net/http,
// SQLite with synchronous=FULL and group commit, no keys, no checks, no spaces),
// the same log behind the MCP SDK for Go, and, where their programs are to be had,
// the MCP SDK for TypeScript, PostgreSQL, Redis and NATS. In those of models the rows read the answer of
// a model that this command plays, each in its own process too: with less than
// Shoal's agent does, with OpenAI's module for Go, and, where Node is installed, with
// the Vercel AI SDK.
//
// A figure counts only as a ratio to a row of the same run. Every table goes
// round-robin through its rows, so that a busy neighbour hits all of them;
// ratios are taken inside a round, and their median is shown. CPU is what the
// process in question used, over all rounds together: a server's from
// /proc/PID/stat, a reader's as it tells itself. Only Linux has what is read
// here.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := command(ctx, os.Args[1:], os.Stdout)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	stop()
	os.Exit(1)
}

// command runs the driver, or one of the processes that it starts.
func command(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "floor":
			return serveFloor(ctx, args[1:])
		case "sdk":
			return serveSDK(ctx, args[1:])
		case "model":
			return servePlayed(ctx, args[1:])
		case "relay":
			return serveRelay(ctx, args[1:])
		case "reader":
			return serveReader(ctx, args[1:], out)
		case "added":
			return serveAdded(ctx, out)
		case "runs":
			return serveRuns(ctx, args[1:], out)
		}
	}
	return drive(ctx, args, out)
}

// The kinds of tables. Those of one kind stand together, under a line that says
// how they were measured.
const (
	ofServers = "servers"
	ofModels  = "models"
)

// measurement makes tables of one kind.
type measurement struct {
	name, kind string
	measure    func(*run, context.Context) error
}

// tables are what can be measured, in the order of the report.
var tables = []measurement{
	{"wake", ofServers, (*run).wakes},
	{"posts", ofServers, (*run).posts},
	{"idle", ofServers, (*run).idle},
	{"crowd", ofServers, (*run).crowd},
	{"fan", ofServers, (*run).fans},
	{"reconnect", ofServers, (*run).reconnect},
	{"gates", ofServers, (*run).gates},
	{"overload", ofServers, (*run).overload},
	{"relay", ofServers, (*run).relays},
	{"hosted", ofServers, (*run).hosted},
	{"page", ofServers, (*run).pages},
	{"search", ofServers, (*run).searchSpeed},
	{"start", ofServers, (*run).starts},
	{"parse", ofModels, (*run).parses},
	{"argument", ofModels, (*run).arguments},
	{"added", ofModels, (*run).added},
	{"runs", ofModels, (*run).manyRuns},
}

// selectTables returns the tables that a list of names and kinds asks for, all of them
// for none.
func selectTables(list string) ([]measurement, error) {
	if list == "" {
		return tables, nil
	}
	names := strings.Split(list, ",")
	known := func(name string) bool {
		return slices.ContainsFunc(tables, func(t measurement) bool { return name == t.name || name == t.kind })
	}
	for _, name := range names {
		if !known(name) {
			return nil, fmt.Errorf("-only: there are no tables %q; %s are known", name, tableNames())
		}
	}
	var chosen []measurement
	for _, t := range tables {
		if slices.Contains(names, t.name) || slices.Contains(names, t.kind) {
			chosen = append(chosen, t)
		}
	}
	return chosen, nil
}

func tableNames() string {
	names := make([]string, 0, len(tables)+2)
	for _, t := range tables {
		names = append(names, t.name)
	}
	return strings.Join(append(names, ofServers, ofModels), ", ")
}

// wholeKinds says that nothing is lost when the chosen tables replace those in
// the document.
func wholeKinds(chosen []measurement) error {
	count := func(in []measurement, kind string) (n int) {
		for _, t := range in {
			if t.kind == kind {
				n++
			}
		}
		return n
	}
	for _, kind := range []string{ofServers, ofModels} {
		if n := count(chosen, kind); n > 0 && n < count(tables, kind) {
			return fmt.Errorf("-write replaces all tables of %s, but not all would be measured: leave -only out, or say -only %s", kind, kind)
		}
	}
	return nil
}

// run is one run of the driver.
type run struct {
	self, shoal string // programs
	dir         string // of everything that the servers write
	rounds      int
	messages    int // in the large space, and in the searched session
	keep        string
	large       string
	rows        string // those to measure, all if empty
	report      report
	log         *log.Logger
}

func drive(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	shoal := flags.String("shoal", filepath.Join("bin", "shoal"), "the `program` to measure")
	only := flags.String("only", "", "measure only these tables, of "+tableNames())
	rows := flags.String("rows", "", "in wake, posts, idle, gates, search and parse measure only the row with this `name`, for a profiler's sake")
	rounds := flags.Int("rounds", 5, "measured rounds of each table")
	full := flags.Bool("full", false, "page, search and start with 1,000,000 messages instead of 100,000, the longest load for five minutes instead of one")
	keep := flags.String("keep", "", "where the database of search (SQLite) stays and is used again (default: it is made anew)")
	dir := flags.String("dir", "", "where the servers write; it should lie on a disk (default: a temporary directory)")
	write := flags.Bool("write", false, "replace the tables in docs/benchmarks.md, those of a kind together")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r := &run{shoal: *shoal, rounds: *rounds, rows: *rows, keep: *keep, messages: 100_000, log: log.New(os.Stderr, "", 0)}
	if *full {
		r.messages = 1_000_000
	}
	if r.self, err = os.Executable(); err != nil {
		return err
	}
	chosen, err := selectTables(*only)
	if err != nil {
		return err
	}
	if *write {
		if err := wholeKinds(chosen); err != nil {
			return err
		}
	}
	if r.dir, err = os.MkdirTemp(*dir, "shoal-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.dir)) }()
	for _, kind := range []string{ofServers, ofModels} {
		of := slices.DeleteFunc(slices.Clone(chosen), func(t measurement) bool { return t.kind != kind })
		if len(of) == 0 {
			continue
		}
		r.report = report{command: makeCommand(args), disk: r.dir}
		failed := r.measureAll(ctx, of)
		text := r.report.markdown() // what there is
		if _, err := io.WriteString(out, text); err != nil || failed != nil {
			return errors.Join(failed, err)
		}
		if *write {
			if err := replaceTables(filepath.Join("docs", "benchmarks.md"), kind, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// measureAll makes tables of one kind.
func (r *run) measureAll(ctx context.Context, of []measurement) error {
	if _, err := os.Stat(r.shoal); err != nil && of[0].kind == ofServers {
		return fmt.Errorf("%w; `make build` makes it", err)
	}
	for _, t := range of {
		began := time.Now()
		if err := t.measure(r, ctx); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		r.log.Printf("%s took %.0f s", t.name, time.Since(began).Seconds())
	}
	return nil
}

// makeCommand is how this run is repeated.
func makeCommand(args []string) string {
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.TrimLeft(a, "-") == "write" })
	if len(args) == 0 {
		return "make bench"
	}
	return fmt.Sprintf("make bench BENCHFLAGS=%q", strings.Join(args, " "))
}

// wants tells whether a row is measured.
func (r *run) wants(row string) bool { return r.rows == "" || r.rows == row }
