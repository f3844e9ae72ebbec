package faults

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// serverMetrics are the metrics of a server, by name.
type serverMetrics map[string]float64

// figures reads them.
func (w *world) serverMetrics(t *testing.T) serverMetrics {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.server.URL()+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.Key)
	res, err := program.Probe.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // read completely
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("/metrics returned %d %s (%v)", res.StatusCode, text, err)
	}
	out := serverMetrics{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			out[name] = n
		}
	}
	return out
}

// raise raises each metric to the value in to, if that is higher.
func (f serverMetrics) raise(to serverMetrics) {
	for name, n := range to {
		f[name] = max(f[name], n)
	}
}

// bound is the allowed growth of a metric: a share of its old value, plus an absolute
// amount.
type bound struct {
	name       string
	part, more float64
}

// soon are the bounds for a server that may have opened additional connections to
// the database.
var wideBounds = []bound{{"go_goroutines", 0, 10}, {"process_open_fds", 0, 10}, {"shoal_streams_open", 0, 10}, {"shoal_waits_open", 0, 10}}

// above returns the metrics that exceed their bounds.
func (f serverMetrics) above(before serverMetrics, bounds []bound) (wrong []string) {
	for _, b := range bounds {
		was, there := before[b.name]
		if !there {
			return []string{"rig: the server has no metric " + b.name}
		}
		if f[b.name] > was+b.part*was+b.more {
			wrong = append(wrong, fmt.Sprintf("leaked: %s is %.0f, %.0f before", b.name, f[b.name], was))
		}
	}
	return wrong
}

// readEvery is the interval between reads of the metrics. Reading creates garbage, and a
// server with much garbage is not idle.
const readEvery = 300 * time.Millisecond

// exceeding waits until the metrics are within their bounds of before, and returns those
// that are not.
func (w *world) exceeding(t *testing.T, before serverMetrics, bounds []bound) (wrong []string) {
	t.Helper()
	for began := time.Now(); ; crowd.Pause(t.Context(), readEvery) {
		wrong = w.serverMetrics(t).above(before, bounds)
		if len(wrong) == 0 || time.Since(began) > crowd.SettleLimit {
			return wrong
		}
	}
}
