// Command bench measures Shoal and minimal implementations of the same work in one run
// on one machine, and prints tables of ratios.
//
//	make bench                                    # about twenty minutes
//	make bench BENCHFLAGS=-write                  # also writes the tables into docs/benchmarks.md
//	make bench BENCHFLAGS='-only cluster -write'  # only the tables of one kind
//	go run ./bench -only wake,posts -shoal bin/shoal
//
// There are four kinds of tables. The tables of servers compare Shoal with servers that
// this command starts, each in its own process: the floor (net/http, SQLite with
// synchronous=FULL and group commit, no keys, checks or spaces), the same log with the
// MCP SDK for Go, and, where they are installed, the MCP SDK for TypeScript, PostgreSQL,
// Redis and NATS. The tables of a cluster compare several servers on one PostgreSQL database
// with one server. The tables of models compare readers of the stream of a model that
// this command simulates, also in processes of their own: readers that do less than
// Shoal's agent, OpenAI's module for Go, and, where Node is installed, the Vercel AI SDK.
// The tables of coding agents compare those that a mention wakes with those that this
// command drives itself.
//
// A value is meaningful only as a ratio to a row of the same run. Every table measures
// its rows in turn, round by round, so that other load on the machine affects all of
// them; ratios are computed within a round, and the table shows their median. CPU is the
// time that the measured process used over all rounds: a server's is read from
// /proc/PID/stat, a reader reports its own. This works only on Linux.
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

	"github.com/shoal-dev/shoal/bench/cluster"
	"github.com/shoal-dev/shoal/bench/coders"
	"github.com/shoal-dev/shoal/bench/driver"
	"github.com/shoal-dev/shoal/bench/models"
	"github.com/shoal-dev/shoal/bench/peer"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/bench/search"
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

// command runs the driver, or the process that the first argument names.
func command(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "floor":
			return peer.ServeFloor(ctx, args[1:])
		case "sdk":
			return peer.ServeSDK(ctx, args[1:])
		case "model":
			return models.ServeModel(ctx, args[1:])
		case "relay":
			return serveRelay(ctx, args[1:])
		case "reader":
			return models.ServeReader(ctx, args[1:], out)
		case "added":
			return models.ServeAdded(ctx, out)
		case "runs":
			return models.ServeRuns(ctx, args[1:], out)
		}
	}
	return drive(ctx, args, out)
}

// The kinds of tables. The report groups the tables of one kind below a line that states
// how they were measured.
const (
	ofServers = "servers"
	ofCluster = "cluster"
	ofModels  = "models"
	ofCoders  = "coders"
)

var kinds = []string{ofServers, ofCluster, ofModels, ofCoders}

// measurement produces tables of one kind.
type measurement struct {
	name, kind string
	measure    func(*run, context.Context) error
}

// tables lists all measurements in the order of the report.
var tables = []measurement{
	{"wake", ofServers, (*run).wakes},
	{"posts", ofServers, (*run).posts},
	{"sessions", ofServers, (*run).sessions},
	{"members", ofServers, (*run).members},
	{"spaces", ofServers, (*run).spaces},
	{"idle", ofServers, (*run).idle},
	{"crowd", ofServers, (*run).crowd},
	{"fan", ofServers, (*run).fans},
	{"reconnect", ofServers, (*run).reconnect},
	{"gates", ofServers, (*run).gates},
	{"overload", ofServers, (*run).overload},
	{"refuse", ofServers, (*run).refuse},
	{"relay", ofServers, (*run).relays},
	{"hosted", ofServers, (*run).hosted},
	{"page", ofServers, (*run).pages},
	{"search", ofServers, (*run).searches},
	{"start", ofServers, (*run).starts},
	{"cluster-wake", ofCluster, ofServersOnOne((*cluster.Bench).Wakes)},
	{"cluster-posts", ofCluster, ofServersOnOne((*cluster.Bench).Posts)},
	{"cluster-bus", ofCluster, ofServersOnOne((*cluster.Bench).Bus)},
	{"parse", ofModels, ofTables(models.Tables.Parse)},
	{"argument", ofModels, ofTables(models.Tables.Arguments)},
	{"added", ofModels, ofTables(models.Tables.Added)},
	{"runs", ofModels, ofTables(models.Tables.ManyRuns)},
	{"coding-agents", ofCoders, (*run).coders},
}

// ofTables returns a measurement of models.
func ofTables(measure func(models.Tables, context.Context) error) func(*run, context.Context) error {
	return func(r *run, ctx context.Context) error { return measure(models.Tables{Run: r.Run}, ctx) }
}

// ofServersOnOne returns a measurement of servers that share a database.
func ofServersOnOne(measure func(*cluster.Bench, context.Context) error) func(*run, context.Context) error {
	return func(r *run, ctx context.Context) error {
		return measure(&cluster.Bench{Run: r.Run, Postgres: r.withPostgres}, ctx)
	}
}

// selectTables returns the tables that a comma-separated list of names and kinds
// selects, or all tables for an empty list.
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
			return nil, fmt.Errorf("-only: unknown table %q: use %s", name, tableNames())
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
	names := make([]string, 0, len(tables)+len(kinds))
	for _, t := range tables {
		names = append(names, t.name)
	}
	return strings.Join(append(names, kinds...), ", ")
}

// wholeKinds returns an error if the chosen tables include only some of a kind: writing
// them would remove the others from the document.
func wholeKinds(chosen []measurement) error {
	count := func(in []measurement, kind string) (n int) {
		for _, t := range in {
			if t.kind == kind {
				n++
			}
		}
		return n
	}
	for _, kind := range kinds {
		if n := count(chosen, kind); n > 0 && n < count(tables, kind) {
			return fmt.Errorf("-write replaces all tables of %s, but -only selects only some of them: omit -only, or use -only %s", kind, kind)
		}
	}
	return nil
}

// run is one run of the driver.
type run struct {
	*driver.Run
	messages int // in the large space, and in the session for searches
	keep     string
	large    string
}

// coders measures how fast a mention wakes coding agents.
func (r *run) coders(ctx context.Context) error { return (&coders.Bench{Run: r.Run}).Measure(ctx) }

// searches measures searches.
func (r *run) searches(ctx context.Context) error {
	postgres := func(ctx context.Context, do func(url string) error) error {
		return r.withPostgres(ctx, func(_ *process.Process, url string) error { return do(url) })
	}
	return (&search.Bench{Run: r.Run, Messages: r.messages, Keep: r.keep, Postgres: postgres}).Measure(ctx)
}

func drive(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	shoal := flags.String("shoal", filepath.Join("bin", "shoal"), "the `program` to measure")
	only := flags.String("only", "", "measure only these tables, a comma-separated list of: "+tableNames())
	rows := flags.String("rows", "", "in wake, posts, idle, crowd, gates, refuse, search, parse and coding-agents measure only the row with this `name`, for use with a profiler")
	rounds := flags.Int("rounds", 5, "measured rounds of each table")
	full := flags.Bool("full", false, "page, search and start with 1,000,000 messages instead of 100,000, the longest load for five minutes instead of one")
	keep := flags.String("keep", "", "the directory in which the database of search (SQLite) is kept and reused (default: create it in each run)")
	dir := flags.String("dir", "", "the directory in which the servers write; it should be on a disk (default: a temporary directory)")
	write := flags.Bool("write", false, "replace the tables in docs/benchmarks.md, all tables of a kind together")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r := &run{Run: &driver.Run{Shoal: *shoal, Rounds: *rounds, Rows: *rows, Log: log.New(os.Stderr, "", 0)}, keep: *keep, messages: 100_000}
	if *full {
		r.messages = 1_000_000
	}
	if r.Self, err = os.Executable(); err != nil {
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
	if r.Dir, err = os.MkdirTemp(*dir, "shoal-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.Dir)) }()
	for _, kind := range kinds {
		of := slices.DeleteFunc(slices.Clone(chosen), func(t measurement) bool { return t.kind != kind })
		if len(of) == 0 {
			continue
		}
		r.Report = report.Report{Command: makeCommand(args), Disk: r.Dir}
		failed := r.measureAll(ctx, of)
		text := r.Report.Markdown() // also of an incomplete run
		if _, err := io.WriteString(out, text); err != nil || failed != nil {
			return errors.Join(failed, err)
		}
		if *write {
			if err := report.ReplaceTables(filepath.Join("docs", "benchmarks.md"), kind, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// measureAll produces tables of one kind.
func (r *run) measureAll(ctx context.Context, of []measurement) error {
	if _, err := os.Stat(r.Shoal); err != nil && of[0].kind != ofModels {
		return fmt.Errorf("%w: run `make build` first", err)
	}
	for _, t := range of {
		began := time.Now()
		if err := t.measure(r, ctx); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		r.Log.Printf("%s took %.0f s", t.name, time.Since(began).Seconds())
	}
	return nil
}

// makeCommand returns the make command that repeats this run.
func makeCommand(args []string) string {
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.TrimLeft(a, "-") == "write" })
	if len(args) == 0 {
		return "make bench"
	}
	return fmt.Sprintf("make bench BENCHFLAGS=%q", strings.Join(args, " "))
}
