// Command bench measures Shoal beside the least that could do the same work, in
// one run on one machine, and prints tables of ratios.
//
//	make bench                      # about four minutes
//	make bench BENCHFLAGS=-write    # and puts the tables into docs/benchmarks.md
//	go run ./bench -only wake,posts -shoal bin/shoal
//
// The rows beside Shoal are servers of this command itself, each in its own
// process: the floor (net/http, SQLite with synchronous=FULL and group commit,
// no keys, no checks, no spaces), the same log behind the MCP SDK for Go, and,
// where its programs are installed, PostgreSQL taking raw inserts.
//
// A figure counts only as a ratio to a row of the same run. Every table goes
// round-robin through its rows, so that a busy neighbour hits all of them;
// ratios are taken inside a round, and their median is shown. CPU is what the
// server's process used, from /proc/PID/stat, over all rounds together. Only
// Linux has what is read here.
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

// command runs the driver, or one of the servers that it starts.
func command(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "floor":
			return serveFloor(ctx, args[1:])
		case "sdk":
			return serveSDK(ctx, args[1:])
		}
	}
	return drive(ctx, args, out)
}

// tables are what can be measured, in the order of the report.
var tables = []struct {
	name    string
	measure func(*run, context.Context) error
}{
	{"wake", (*run).wakes},
	{"posts", (*run).posts},
	{"idle", (*run).idle},
	{"fan", (*run).fans},
	{"page", (*run).pages},
	{"start", (*run).starts},
}

// run is one run of the driver.
type run struct {
	self, shoal string // programs
	dir         string // of everything that the servers write
	rounds      int
	messages    int // in the large space
	large       string
	rows        string // those to measure, all if empty
	report      report
	log         *log.Logger
}

func drive(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	shoal := flags.String("shoal", filepath.Join("bin", "shoal"), "the `program` to measure")
	only := flags.String("only", "", "measure only these tables, of wake,posts,idle,fan,page,start")
	rows := flags.String("rows", "", "in wake, posts and idle measure only the row with this `name`, for a profiler's sake")
	rounds := flags.Int("rounds", 5, "measured rounds of each table")
	full := flags.Bool("full", false, "page and start with 1,000,000 messages instead of 100,000")
	dir := flags.String("dir", "", "where the servers write; it should lie on a disk (default: a temporary directory)")
	write := flags.Bool("write", false, "replace the tables in docs/benchmarks.md")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r := &run{shoal: *shoal, rounds: *rounds, rows: *rows, messages: 100_000, log: log.New(os.Stderr, "", 0)}
	if *full {
		r.messages = 1_000_000
	}
	if r.self, err = os.Executable(); err != nil {
		return err
	}
	if _, err := os.Stat(r.shoal); err != nil {
		return fmt.Errorf("%w; `make build` makes it", err)
	}
	if r.dir, err = os.MkdirTemp(*dir, "shoal-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.dir)) }()
	r.report.command, r.report.disk = makeCommand(args), r.dir
	chosen := strings.FieldsFunc(*only, func(c rune) bool { return c == ',' })
	for _, t := range tables {
		if len(chosen) > 0 && !slices.Contains(chosen, t.name) {
			continue
		}
		began := time.Now()
		if err := t.measure(r, ctx); err != nil {
			_, _ = io.WriteString(out, r.report.markdown()) // what there is
			return fmt.Errorf("%s: %w", t.name, err)
		}
		r.log.Printf("%s took %.0f s", t.name, time.Since(began).Seconds())
	}
	text := r.report.markdown()
	if _, err := io.WriteString(out, text); err != nil || !*write {
		return err
	}
	return replaceTables(filepath.Join("docs", "benchmarks.md"), text)
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

// pause waits and reports whether ctx still stands.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
