package faults

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// serverMetrics are what a server counts, by name.
type serverMetrics map[string]float64

// figures reads them.
func (w *world) serverMetrics(t *testing.T) serverMetrics {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.server.url()+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	res, err := probe.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // read completely
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("/metrics is answered with %d %s (%v)", res.StatusCode, text, err)
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

// raise raises each figure to that of others that are higher.
func (f serverMetrics) raise(to serverMetrics) {
	for name, n := range to {
		f[name] = max(f[name], n)
	}
}

// bound is by how much a figure may be above what it was: by a part of that, and so
// much more.
type bound struct {
	name       string
	part, more float64
}

// soon are the bounds for a server that may have opened connections to the database
// that it had not needed before.
var wideBounds = []bound{{"go_goroutines", 0, 10}, {"process_open_fds", 0, 10}, {"shoal_streams_open", 0, 10}, {"shoal_waits_open", 0, 10}}

// above says which figures are beyond their bounds of what they were before.
func (f serverMetrics) above(before serverMetrics, bounds []bound) (wrong []string) {
	for _, b := range bounds {
		was, there := before[b.name]
		if !there {
			return []string{"rig: the server does not count " + b.name}
		}
		if f[b.name] > was+b.part*was+b.more {
			wrong = append(wrong, fmt.Sprintf("left behind: %s is %.0f, before it was %.0f", b.name, f[b.name], was))
		}
	}
	return wrong
}

// readEvery is how often figures are read: that makes garbage, and a server that
// makes much of it is not at rest.
const readEvery = 300 * time.Millisecond

// exceeding waits until the figures are within their bounds of what they were
// before, and says what the server has too much of.
func (w *world) exceeding(t *testing.T, before serverMetrics, bounds []bound) (wrong []string) {
	t.Helper()
	for began := time.Now(); ; pause(t.Context(), readEvery) {
		wrong = w.serverMetrics(t).above(before, bounds)
		if len(wrong) == 0 || time.Since(began) > settleLimit {
			return wrong
		}
	}
}
