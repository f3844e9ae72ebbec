package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/shoal-dev/shoal/internal/load"
)

// Names of rows and metrics that several tables share.
const (
	floorRow = "floor (net/http + SQLite)"
	sdkRow   = "MCP SDK for Go + SQLite"
	restRow  = "Shoal REST"
	mcpRow   = "Shoal MCP"

	p50    = "p50 µs"
	p99    = "p99 µs"
	cpuCol = "CPU µs"
	cpuNs  = "CPU ns"
)

// table holds the results of one measurement.
type table struct {
	title  string
	note   string
	ratios []ratio  // shown as the first columns
	shown  []string // metrics of the other columns
	rows   []*row
}

// ratio is a column: a metric divided by the same metric of the base row.
type ratio struct{ metric, base, heading string }

// row is one server or reader in a table: its metrics of each round, and the CPU time
// of all rounds.
type row struct {
	name   string
	rounds map[string][]float64
	cpu    float64 // seconds
	ops    float64 // operations that used the CPU time
}

func (t *table) row(name string) *row {
	for _, r := range t.rows {
		if r.name == name {
			return r
		}
	}
	r := &row{name: name, rounds: map[string][]float64{}}
	t.rows = append(t.rows, r)
	return r
}

func (r *row) add(metric string, v float64) { r.rounds[metric] = append(r.rounds[metric], v) }

// value returns the median over the rounds, or, for CPU metrics, the CPU time per
// operation over all rounds.
func (r *row) value(metric string) float64 {
	switch metric {
	case cpuCol:
		return r.cpu * 1e6 / r.ops
	case cpuNs:
		return r.cpu * 1e9 / r.ops
	}
	return median(r.rounds[metric])
}

// worst returns the largest value of the rounds, NaN if there are none.
func (r *row) worst(metric string) float64 { return load.Percentile(r.rounds[metric], 100) }

// ratio returns the median of the ratios within each round, NaN if no round has both rows.
func (t *table) ratio(metric, name, base string) float64 {
	mine, theirs := t.row(name), t.row(base)
	if metric == cpuCol || metric == cpuNs {
		return mine.value(metric) / theirs.value(metric)
	}
	var each []float64
	for i, v := range mine.rounds[metric] {
		if i < len(theirs.rounds[metric]) {
			each = append(each, v/theirs.rounds[metric][i])
		}
	}
	return median(each)
}

func median(xs []float64) float64 { return load.Percentile(xs, 50) }

// gate is a limit that must hold, a target beyond it, or both.
type gate struct {
	what   string
	found  float64
	limit  float64 // NaN if there is only a target
	least  bool    // limit and target are lower bounds
	unit   string
	target float64 // the target; NaN if there is none
}

// withTarget sets the target beyond the limit.
func (g *gate) withTarget(target float64) { g.target = target }

func (g *gate) met(limit float64) bool {
	if g.least {
		return g.found >= limit
	}
	return g.found <= limit
}

// verdict returns holds or missed for a limit, the latter with the factor by which it is
// missed.
func (g *gate) verdict(limit float64, holds, missed string) string {
	switch {
	case math.IsNaN(limit):
		return "–"
	case g.met(limit):
		return holds
	case limit == 0 || g.found == 0:
		return missed
	}
	by := g.found / limit
	if g.least {
		by = limit / g.found
	}
	return fmt.Sprintf("%s by a factor of %s", missed, number(by))
}

func (g *gate) shown(limit float64) string {
	switch {
	case math.IsNaN(limit):
		return "–"
	case g.least:
		return "≥ " + number(limit) + " " + g.unit
	}
	return "≤ " + number(limit) + " " + g.unit
}

// report collects the results of a run.
type report struct {
	command string
	disk    string // a directory on the measured disk
	tables  []*table
	gates   []*gate
}

func (r *report) add(t *table) *table {
	r.tables = append(r.tables, t)
	return t
}

// atMost and atLeast add a gate without a target. A gate whose rows were not measured is
// left out.
func (r *report) atMost(limit float64, unit string, found float64, what string) *gate {
	return r.gate(&gate{what: what, found: found, limit: limit, unit: unit, target: math.NaN()})
}

func (r *report) atLeast(limit float64, unit string, found float64, what string) *gate {
	return r.gate(&gate{what: what, found: found, limit: limit, unit: unit, least: true, target: math.NaN()})
}

// targetAtMost and targetAtLeast add a gate that has only a target.
func (r *report) targetAtMost(target float64, unit string, found float64, what string) {
	r.atMost(math.NaN(), unit, found, what).withTarget(target)
}

func (r *report) targetAtLeast(target float64, unit string, found float64, what string) {
	r.atLeast(math.NaN(), unit, found, what).withTarget(target)
}

func (r *report) gate(g *gate) *gate {
	if !math.IsNaN(g.found) {
		r.gates = append(r.gates, g)
	}
	return g
}

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "`%s` on %s, %s.\n", r.command, machine(r.disk), time.Now().UTC().Format(time.DateOnly))
	for _, t := range r.tables {
		t.markdown(&b)
	}
	fmt.Fprintf(&b, "\n### Limits\n\n| metric | measured | limit | | target | |\n| --- | ---: | ---: | --- | ---: | --- |\n")
	for _, g := range r.gates {
		fmt.Fprintf(&b, "| %s | %s %s | %s | %s | %s | %s |\n", g.what, number(g.found), g.unit,
			g.shown(g.limit), g.verdict(g.limit, "holds", "**missed**"), g.shown(g.target), g.verdict(g.target, "reached", "missed"))
	}
	return b.String()
}

func (t *table) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n| |", t.title, t.note)
	for _, c := range t.ratios {
		fmt.Fprintf(b, " %s |", c.heading)
	}
	for _, m := range t.shown {
		fmt.Fprintf(b, " %s |", m)
	}
	fmt.Fprintf(b, "\n| --- |%s\n", strings.Repeat(" ---: |", len(t.ratios)+len(t.shown)))
	for _, r := range t.rows {
		if r.ops == 0 && len(r.rounds) == 0 {
			continue // only referred to by a ratio, never measured
		}
		fmt.Fprintf(b, "| %s |", r.name)
		for _, c := range t.ratios {
			fmt.Fprintf(b, " %s |", number(t.ratio(c.metric, r.name, c.base)))
		}
		for _, m := range t.shown {
			fmt.Fprintf(b, " %s |", number(r.value(m)))
		}
		fmt.Fprintln(b)
	}
}

// number formats a value with three significant digits; the measurements are not more
// precise.
func number(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "–"
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	case v > 0 && v < 0.0995:
		return fmt.Sprintf("%.3g", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// machine describes the computer for the report.
func machine(dir string) string {
	model := "unknown processor"
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, found := strings.CutPrefix(line, "model name"); found {
			model = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), ":"))
			break
		}
	}
	return fmt.Sprintf("%d cores (%s), %s, %s, %s/%s", runtime.NumCPU(), model, fileSystem(dir), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// fileSystem returns the name of the file system of a directory: a durable write means
// little on a file system in memory.
func fileSystem(dir string) string {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return "unknown file system"
	}
	switch uint32(s.Type) {
	case 0xef53:
		return "ext4"
	case 0x58465342:
		return "xfs"
	case 0x9123683e:
		return "btrfs"
	case 0x01021994:
		return "tmpfs (not durable)"
	case 0x794c7630:
		return "overlayfs"
	}
	return fmt.Sprintf("file system %#x", s.Type)
}
