package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRatiosAreTakenInsideTheRounds(t *testing.T) {
	tab := &table{}
	for _, v := range []float64{100, 200, 1000} { // a neighbour slows every row of a round
		tab.row("base").add(p50, v)
		tab.row("ours").add(p50, 2*v)
	}
	if got := tab.ratio(p50, "ours", "base"); got != 2 {
		t.Errorf("ratio = %v, want 2", got)
	}
	if got := tab.ratio(p50, "ours", "never measured"); !math.IsNaN(got) {
		t.Errorf("ratio to a row that was not measured = %v, want NaN", got)
	}
}

func TestARowThatWasNotMeasuredIsNotShown(t *testing.T) {
	tab := &table{ratios: []ratio{{p50, "never measured", "p50 ÷ nothing"}}, shown: []string{p50}}
	tab.row("never measured")
	tab.row("ours").add(p50, 1)
	var b strings.Builder
	if tab.markdown(&b); strings.Contains(b.String(), "never") || !strings.Contains(b.String(), "| ours | – | 1.00 |") {
		t.Errorf("the table is:\n%s", b.String())
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0.00", 0.00412: "0.00412", 0.05: "0.05", 0.14: "0.14", 9.99: "9.99", 12.34: "12.3", 1234.5: "1234", math.NaN(): "–"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestCPUIsThatOfAllRounds(t *testing.T) {
	tab := &table{}
	base, ours := tab.row("base"), tab.row("ours")
	base.cpu, base.ops = 1, 1000
	ours.cpu, ours.ops = 3, 2000
	if got := ours.value(cpuCol); got != 1500 {
		t.Errorf("CPU of an operation = %v µs, want 1500", got)
	}
	if got := tab.ratio(cpuCol, "ours", "base"); got != 1.5 {
		t.Errorf("ratio = %v, want 1.5", got)
	}
}

func TestPercentile(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		p    float64
		want float64
	}{
		{[]float64{3, 1, 2}, 50, 2},
		{[]float64{4, 3, 2, 1}, 50, 2},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 99, 10},
		{[]float64{7}, 1, 7},
	} {
		if got := percentile(c.of, c.p); got != c.want {
			t.Errorf("percentile(%v, %v) = %v, want %v", c.of, c.p, got, c.want)
		}
	}
}

// A limit that is missed must be seen, one whose rows were not measured must not
// look as if it held.
func TestLimits(t *testing.T) {
	var r report
	r.atMost(1.2, "× floor", 1.3, "slow")
	r.atMost(1.2, "× floor", 1.1, "fast")
	r.atLeast(0.7, "× floor", 0.5, "few")
	r.atLeast(0.7, "× floor", 0.9, "many")
	r.atLeast(0.7, "× floor", math.NaN(), "unknown")
	text := r.markdown()
	for _, line := range []string{
		"| slow | 1.30 × floor | ≤ 1.20 × floor | **missed** |",
		"| fast | 1.10 × floor | ≤ 1.20 × floor | holds |",
		"| few | 0.50 × floor | ≥ 0.70 × floor | **missed** |",
		"| many | 0.90 × floor | ≥ 0.70 × floor | holds |",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("the report lacks %q:\n%s", line, text)
		}
	}
	if strings.Contains(text, "unknown |") {
		t.Errorf("the report judges what was not measured:\n%s", text)
	}
}

func TestReplaceTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "benchmarks.md")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	marked := func(kind, text string) string {
		return "<!-- " + kind + ": begin -->\n" + text + "<!-- " + kind + ": end -->\n"
	}
	write("before\n" + marked(ofServers, "servers\n") + "between\n" + marked(ofModels, "old\n") + "after\n")
	if err := replaceTables(path, ofModels, "new\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if want := "before\n" + marked(ofServers, "servers\n") + "between\n" + marked(ofModels, "new\n") + "after\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	write("no marks\n")
	if err := replaceTables(path, ofModels, "new\n"); err == nil {
		t.Error("a document without marks was taken")
	}
}

// The document that `make bench` writes into has its marks.
func TestTheDocumentHasItsMarks(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, mark := range []string{ofServers + ": begin", ofServers + ": end", ofModels + ": begin", ofModels + ": end"} {
		line := "<!-- " + mark + " -->\n"
		if strings.Count(string(text), line) != 1 {
			t.Errorf("docs/benchmarks.md holds the line %q %d times, want once", strings.TrimSpace(line), strings.Count(string(text), line))
		}
	}
}

func TestCursorIn(t *testing.T) {
	for answer, want := range map[string]string{
		`{"items":[],"cursor":"in:1:2","timedOut":false}`: "in:1:2",
		`{"items":[],"cursor":null,"timedOut":true}`:      "",
	} {
		if got := cursorIn([]byte(answer)); got != want {
			t.Errorf("cursorIn(%s) = %q, want %q", answer, got, want)
		}
	}
}

func TestReadFindsMarksAcrossReads(t *testing.T) {
	f := &fan{}
	one := marked()
	f.read(&pieces{[]string{"data: " + one[:9], one[9:15], one[15:] + "\n\ndata: " + one + "\n\n: @ no mark\n\n"}})
	if got := f.seen.Load(); got != 2 {
		t.Errorf("found %d marks, want 2", got)
	}
}

// pieces is a stream that arrives in pieces.
type pieces struct{ left []string }

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, os.ErrClosed
	}
	n := copy(b, p.left[0])
	p.left = p.left[1:]
	return n, nil
}
