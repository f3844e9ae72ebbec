package report

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRatiosWithinRounds(t *testing.T) {
	tab := &Table{}
	for _, v := range []float64{100, 200, 1000} { // other load slows every row of a round
		tab.Row("base").Add("p50 µs", v)
		tab.Row("ours").Add("p50 µs", 2*v)
	}
	if got := tab.Ratio("p50 µs", "ours", "base"); got != 2 {
		t.Errorf("ratio = %v, want 2", got)
	}
	if got := tab.Ratio("p50 µs", "ours", "never measured"); !math.IsNaN(got) {
		t.Errorf("ratio to a row that was not measured = %v, want NaN", got)
	}
}

func TestUnmeasuredRowIsHidden(t *testing.T) {
	tab := &Table{Ratios: []Ratio{{Metric: "p50 µs", Base: "never measured", Heading: "p50 ÷ nothing"}}, Shown: []string{"p50 µs"}}
	tab.Row("never measured")
	tab.Row("ours").Add("p50 µs", 1)
	var b strings.Builder
	if tab.markdown(&b); strings.Contains(b.String(), "never") || !strings.Contains(b.String(), "| ours | – | 1.00 |") {
		t.Errorf("got table:\n%s\nwant the row ours only", b.String())
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0.00", 0.00412: "0.00412", 0.05: "0.05", 0.14: "0.14", 9.99: "9.99", 12.34: "12.3", 1234.5: "1234", math.NaN(): "–"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestCPUOfAllRounds(t *testing.T) {
	tab := &Table{}
	base, ours := tab.Row("base"), tab.Row("ours")
	base.CPU, base.Operations = 1, 1000
	ours.CPU, ours.Operations = 3, 2000
	if got := ours.Value(CPUMicros); got != 1500 {
		t.Errorf("CPU of an operation = %v µs, want 1500", got)
	}
	if got := tab.Ratio(CPUMicros, "ours", "base"); got != 1.5 {
		t.Errorf("ratio = %v, want 1.5", got)
	}
}

// The report marks a missed limit, and omits a limit whose rows were not measured.
func TestLimits(t *testing.T) {
	var r Report
	r.AtMost(1.2, "× floor", 1.3, "slow")
	r.AtMost(1.2, "× floor", 1.1, "fast").WithTarget(1)
	r.AtLeast(0.7, "× floor", 0.5, "few")
	r.AtLeast(0.7, "× floor", 0.9, "many").WithTarget(0.8)
	r.AtMost(0, "events", 3, "lost")
	r.TargetAtMost(1, "× floor", 2, "only aimed at")
	r.AtLeast(0.7, "× floor", math.NaN(), "unknown")
	text := r.Markdown()
	for _, line := range []string{
		"| slow | 1.30 × floor | ≤ 1.20 × floor | **missed** by a factor of 1.08 | – | – |",
		"| fast | 1.10 × floor | ≤ 1.20 × floor | holds | ≤ 1.00 × floor | missed by a factor of 1.10 |",
		"| few | 0.50 × floor | ≥ 0.70 × floor | **missed** by a factor of 1.40 | – | – |",
		"| many | 0.90 × floor | ≥ 0.70 × floor | holds | ≥ 0.80 × floor | reached |",
		"| lost | 3.00 events | ≤ 0.00 events | **missed** | – | – |",
		"| only aimed at | 2.00 × floor | – | – | ≤ 1.00 × floor | missed by a factor of 2.00 |",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("the report lacks %q:\n%s", line, text)
		}
	}
	if strings.Contains(text, "unknown |") {
		t.Errorf("the report has a limit without a measurement:\n%s", text)
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
	write("before\n" + marked("servers", "servers\n") + "between\n" + marked("models", "old\n") + "after\n")
	if err := ReplaceTables(path, "models", "new\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if want := "before\n" + marked("servers", "servers\n") + "between\n" + marked("models", "new\n") + "after\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	write("no marks\n")
	if err := ReplaceTables(path, "models", "new\n"); err == nil {
		t.Error("ReplaceTables accepted a document without marks, want an error")
	}
}
