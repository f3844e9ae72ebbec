package httpapi

import (
	"strconv"
	"time"

	"github.com/shoal-dev/shoal/internal/metrics"
)

// callMetrics are the metrics of the API.
type callMetrics struct {
	calls   metrics.Counters
	took    metrics.Histograms
	stalled *metrics.Number
}

func newCallMetrics(m *metrics.Set) callMetrics {
	return callMetrics{
		calls:   m.Counters("shoal_rest_calls_total", "Calls of the REST API, by route and status.", "route", "status"),
		took:    m.Histograms("shoal_rest_seconds", "How long calls of the REST API took, without streams; a wait takes as long as it waits.", metrics.Seconds, "route"),
		stalled: m.Counter("shoal_streams_stalled_total", "Streams that were disconnected because their reader accepted no data for too long."),
	}
}

// statuses are the statuses as texts, so that counting does not allocate.
var statuses = func() (texts [600]string) {
	for i := range texts {
		texts[i] = strconv.Itoa(i)
	}
	return texts
}()

// recordCall counts a call that has ended.
func (m *callMetrics) recordCall(rt *route, status int, began time.Time) {
	name := "none"
	if rt != nil {
		name = rt.label
	}
	m.calls.With(name, statuses[min(max(status, 0), len(statuses)-1)]).Add(1)
	if rt == nil || !rt.stream {
		m.took.With(name).Took(began)
	}
}
