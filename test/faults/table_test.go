package faults

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// outcome is the result of a test: a row of the table.
type outcome struct {
	fault      string
	count      int // how often the fault was injected
	operations int // completed posts, waits, reads and runs
	found      []string
	slowest    time.Duration // of the starts after the faults
	note       string
}

// of counts the findings that start with one of the kinds.
func (o *outcome) of(kinds ...string) (n int) {
	for _, f := range o.found {
		for _, kind := range kinds {
			if strings.HasPrefix(f, kind) {
				n++
			}
		}
	}
	return n
}

var table struct {
	sync.Mutex
	rows []outcome
}

// report adds a test to the table and fails the test if there are findings.
func report(t *testing.T, o outcome) {
	t.Helper()
	table.Lock()
	table.rows = append(table.rows, o)
	table.Unlock()
	for _, f := range o.found[:min(len(o.found), shownFaults)] {
		t.Error(f)
	}
	if len(o.found) > 0 {
		t.Errorf("%s: %d findings", o.fault, len(o.found))
	}
	t.Logf("%s: %d times, %d operations, slowest start %v %s", o.fault, o.count, o.operations, o.slowest.Round(time.Millisecond), o.note)
}

// skipped adds a test that cannot run here to the table, with the reason: it must not look
// like one that passed.
func skipped(t *testing.T, fault, why string) {
	t.Helper()
	table.Lock()
	defer table.Unlock()
	table.rows = append(table.rows, outcome{fault: fault, note: "SKIPPED: " + why})
	t.Logf("SKIPPED: %s: %s", fault, why)
}

// withoutRoot reports whether a test must be skipped because it requires root.
func withoutRoot(t *testing.T, fault string) bool {
	t.Helper()
	if os.Geteuid() == 0 {
		return false
	}
	skipped(t, fault, "requires root: run `sudo make torture`")
	return true
}

// printTable writes the table and the findings to standard output and to the file that
// SHOAL_FAULT_TABLE names. `go test` hides the output of passed tests, and the findings
// must be visible at the end of a long output.
func printTable() error {
	var b strings.Builder
	if len(table.rows) == 0 {
		return nil
	}
	b.WriteString("| fault | times | operations | lost | duplicated | reordered | other | slowest start |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, o := range table.rows {
		if o.count == 0 {
			fmt.Fprintf(&b, "| %s | %s | | | | | | |\n", o.fault, o.note)
			continue
		}
		lost, doubled, reordered := o.of("lost", "changed"), o.of("doubled", "two ids"), o.of("reordered", "order", "gap")
		name := o.fault
		if o.note != "" {
			name += " (" + o.note + ")"
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %v |\n",
			name, o.count, o.operations, lost, doubled, reordered, len(o.found)-lost-doubled-reordered, o.slowest.Round(time.Millisecond))
	}
	for _, o := range table.rows {
		for _, f := range o.found[:min(len(o.found), shownFaults)] {
			fmt.Fprintf(&b, "\nfinding of %q: %s\n", o.fault, f)
		}
	}
	if _, err := os.Stdout.WriteString("\n" + b.String()); err != nil {
		return err
	}
	file := os.Getenv("SHOAL_FAULT_TABLE")
	if file == "" {
		return nil
	}
	return os.WriteFile(file, []byte(b.String()), 0o600)
}
