package sqlstore

import "github.com/shoal-dev/shoal/internal/metrics"

// storeMetrics are the metrics of a store for operators.
type storeMetrics struct {
	batches  *metrics.Histogram
	commits  *metrics.Histogram
	rejected *metrics.Number
}

func newMetrics(m *metrics.Set, s *Store) *storeMetrics {
	m.GaugeFunc("shoal_write_queue", "Changes that wait to be written.", func() float64 { return float64(s.waiting()) })
	m.GaugeFunc("shoal_readers_busy", "Connections for reading that are in use.", func() float64 { return float64(s.readers.busy()) })
	return &storeMetrics{
		batches:  m.Histogram("shoal_commit_changes", "How many changes shared a commit.", metrics.Sizes),
		commits:  m.Histogram("shoal_commit_seconds", "How long it took to write and commit the changes that shared a commit.", metrics.Seconds),
		rejected: m.Counter("shoal_writes_rejected_total", "Changes that were refused because too many waited to be written."),
	}
}
