// Package report collects the measurements of a run and prints them as tables of ratios,
// with limits and targets.
package report

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/shoal-dev/shoal/internal/load"
)

// Metrics of the CPU time of one operation. A row computes them from its CPU and
// Operations over all rounds.
const (
	CPUMicros = "CPU µs"
	CPUNanos  = "CPU ns"
)

// Metrics of latencies that several tables share.
const (
	P50 = "p50 µs"
	P99 = "p99 µs"
)

// Table holds the results of one measurement.
type Table struct {
	Title  string
	Note   string
	Ratios []Ratio  // shown as the first columns
	Shown  []string // metrics of the other columns
	Rows   []*Row
}

// Ratio is a column: a metric divided by the same metric of the base row.
type Ratio struct{ Metric, Base, Heading string }

// Row is one server or reader in a table: its metrics of each round, and the CPU time
// of all rounds.
type Row struct {
	Name       string
	Rounds     map[string][]float64
	CPU        float64 // seconds
	Operations float64 // operations that used the CPU time
}

// Row returns the row of a name, a new one if there is none.
func (t *Table) Row(name string) *Row {
	for _, r := range t.Rows {
		if r.Name == name {
			return r
		}
	}
	r := &Row{Name: name, Rounds: map[string][]float64{}}
	t.Rows = append(t.Rows, r)
	return r
}

// Add adds the value of a metric in the next round.
func (r *Row) Add(metric string, v float64) { r.Rounds[metric] = append(r.Rounds[metric], v) }

// AddLatencies adds the percentiles of the latencies of the next round, in µs.
func (r *Row) AddLatencies(latencies []float64) {
	r.Add(P50, load.Percentile(latencies, 50))
	r.Add(P99, load.Percentile(latencies, 99))
}

// AddCPU adds the CPU time in seconds that a number of operations used.
func (r *Row) AddCPU(seconds, operations float64) {
	r.CPU, r.Operations = r.CPU+seconds, r.Operations+operations
}

// Value returns the median over the rounds, or, for CPU metrics, the CPU time per
// operation over all rounds.
func (r *Row) Value(metric string) float64 {
	switch metric {
	case CPUMicros:
		return r.CPU * 1e6 / r.Operations
	case CPUNanos:
		return r.CPU * 1e9 / r.Operations
	}
	return median(r.Rounds[metric])
}

// Worst returns the largest value of the rounds, NaN if there are none.
func (r *Row) Worst(metric string) float64 { return load.Percentile(r.Rounds[metric], 100) }

// Ratio returns the median of the ratios within each round, NaN if no round has both rows.
func (t *Table) Ratio(metric, name, base string) float64 {
	mine, theirs := t.Row(name), t.Row(base)
	if metric == CPUMicros || metric == CPUNanos {
		return mine.Value(metric) / theirs.Value(metric)
	}
	var each []float64
	for i, v := range mine.Rounds[metric] {
		if i < len(theirs.Rounds[metric]) {
			each = append(each, v/theirs.Rounds[metric][i])
		}
	}
	return median(each)
}

func median(xs []float64) float64 { return load.Percentile(xs, 50) }

// Limit is a limit that must hold, a target beyond it, or both.
type Limit struct {
	what   string
	found  float64
	limit  float64 // NaN if there is only a target
	least  bool    // limit and target are lower bounds
	unit   string
	target float64 // the target; NaN if there is none
}

// WithTarget sets the target beyond the limit.
func (g *Limit) WithTarget(target float64) { g.target = target }

func (g *Limit) met(limit float64) bool {
	if g.least {
		return g.found >= limit
	}
	return g.found <= limit
}

// verdict returns holds or missed for a limit, the latter with the factor by which it is
// missed.
func (g *Limit) verdict(limit float64, holds, missed string) string {
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

func (g *Limit) shown(limit float64) string {
	switch {
	case math.IsNaN(limit):
		return "–"
	case g.least:
		return "≥ " + number(limit) + " " + g.unit
	}
	return "≤ " + number(limit) + " " + g.unit
}

// Report collects the results of a run.
type Report struct {
	Command string
	Disk    string // a directory on the measured disk
	tables  []*Table
	limits  []*Limit
}

// Add appends a table and returns it.
func (r *Report) Add(t *Table) *Table {
	r.tables = append(r.tables, t)
	return t
}

// AtMost adds an upper limit without a target. A limit whose rows were not measured is
// left out.
func (r *Report) AtMost(limit float64, unit string, found float64, what string) *Limit {
	return r.addLimit(&Limit{what: what, found: found, limit: limit, unit: unit, target: math.NaN()})
}

// AtLeast adds a lower limit, as AtMost does.
func (r *Report) AtLeast(limit float64, unit string, found float64, what string) *Limit {
	return r.addLimit(&Limit{what: what, found: found, limit: limit, unit: unit, least: true, target: math.NaN()})
}

// TargetAtMost adds a target that is an upper bound, without a limit.
func (r *Report) TargetAtMost(target float64, unit string, found float64, what string) {
	r.AtMost(math.NaN(), unit, found, what).WithTarget(target)
}

// TargetAtLeast adds a target that is a lower bound.
func (r *Report) TargetAtLeast(target float64, unit string, found float64, what string) {
	r.AtLeast(math.NaN(), unit, found, what).WithTarget(target)
}

func (r *Report) addLimit(g *Limit) *Limit {
	if !math.IsNaN(g.found) {
		r.limits = append(r.limits, g)
	}
	return g
}

// Markdown returns the report as Markdown.
func (r *Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "`%s` on %s, %s.\n", r.Command, machine(r.Disk), time.Now().UTC().Format(time.DateOnly))
	for _, t := range r.tables {
		t.markdown(&b)
	}
	fmt.Fprintf(&b, "\n### Limits\n\n| metric | measured | limit | | target | |\n| --- | ---: | ---: | --- | ---: | --- |\n")
	for _, g := range r.limits {
		fmt.Fprintf(&b, "| %s | %s %s | %s | %s | %s | %s |\n", g.what, number(g.found), g.unit,
			g.shown(g.limit), g.verdict(g.limit, "holds", "**missed**"), g.shown(g.target), g.verdict(g.target, "reached", "missed"))
	}
	return b.String()
}

func (t *Table) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n| |", t.Title, t.Note)
	for _, c := range t.Ratios {
		fmt.Fprintf(b, " %s |", c.Heading)
	}
	for _, m := range t.Shown {
		fmt.Fprintf(b, " %s |", m)
	}
	fmt.Fprintf(b, "\n| --- |%s\n", strings.Repeat(" ---: |", len(t.Ratios)+len(t.Shown)))
	for _, r := range t.Rows {
		if r.Operations == 0 && len(r.Rounds) == 0 {
			continue // only referred to by a ratio, never measured
		}
		fmt.Fprintf(b, "| %s |", r.Name)
		for _, c := range t.Ratios {
			fmt.Fprintf(b, " %s |", number(t.Ratio(c.Metric, r.Name, c.Base)))
		}
		for _, m := range t.Shown {
			fmt.Fprintf(b, " %s |", number(r.Value(m)))
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

// Thousands formats a number with commas between groups of three digits.
func Thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
