// Package callmetrics has the metrics of the calls of the REST API.
package callmetrics

import (
	"strconv"
	"time"

	"github.com/shoal-dev/shoal/internal/metrics"
)

// Metrics are the metrics of the API. It is safe for concurrent use.
type Metrics struct {
	calls metrics.Counters
	took  metrics.Histograms
	// Stalled counts the streams that were disconnected because their reader accepted no data.
	Stalled *metrics.Number
}

// New returns the metrics of an API in a set; nil is allowed.
func New(m *metrics.Set) Metrics {
	return Metrics{
		calls:   m.Counters("shoal_rest_calls_total", "Calls of the REST API, by route and status.", "route", "status"),
		took:    m.Histograms("shoal_rest_seconds", "How long calls of the REST API took, without streams; a wait takes as long as it waits.", metrics.Seconds, "route"),
		Stalled: m.Counter("shoal_streams_stalled_total", "Streams that were disconnected because their reader accepted no data for too long."),
	}
}

// statuses are the statuses as texts, so that counting does not allocate.
var statuses = func() (texts [600]string) {
	for i := range texts {
		texts[i] = strconv.Itoa(i)
	}
	return texts
}()

// Record counts a call of a route that has ended, and how long it took unless it was a stream.
func (m *Metrics) Record(route string, stream bool, status int, began time.Time) {
	m.calls.With(route, statuses[min(max(status, 0), len(statuses)-1)]).Add(1)
	if !stream {
		m.took.With(route).Took(began)
	}
}
