package faults

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// outcome is what a lane saw.
type outcome struct {
	fault      string
	count      int // how often the fault was done
	operations int // answered posts, waits and reads, and ended runs
	found      []string
	slowest    time.Duration // of the starts that followed
	note       string
}

// of counts what was found of a kind.
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

// report puts a lane into the table and fails the test if it found anything.
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

// skipped puts a lane into the table that cannot run here, and says so where it is
// seen: a test that does not run must not look like one that passed.
func skipped(t *testing.T, fault, why string) {
	t.Helper()
	table.Lock()
	defer table.Unlock()
	table.rows = append(table.rows, outcome{fault: fault, note: "SKIPPED: " + why})
	t.Logf("SKIPPED: %s: %s", fault, why)
}

// withoutRoot reports whether a lane must be left out because it needs root.
func withoutRoot(t *testing.T, fault string) bool {
	t.Helper()
	if os.Geteuid() == 0 {
		return false
	}
	skipped(t, fault, "it needs root; run `sudo make torture`")
	return true
}

// printTable prints the table, and below it what was found, to standard output and
// to the file that SHOAL_FAULT_TABLE names: `go test` keeps the output of what
// passed to itself, and who is told only the end of a long output must not miss
// what is wrong.
func printTable() error {
	var b strings.Builder
	if len(table.rows) == 0 {
		return nil
	}
	b.WriteString("| fault | times | operations | lost | doubled | reordered | anything else | slowest start |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
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
			fmt.Fprintf(&b, "\nfound by %q: %s\n", o.fault, f)
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
