package sqlstore

import "github.com/shoal-dev/shoal/internal/metrics"

// figures are what the store counts of itself, for an operator.
type figures struct {
	batches  *metrics.Histogram
	commits  *metrics.Histogram
	rejected *metrics.Number
}

func newFigures(m *metrics.Set, s *Store) *figures {
	m.GaugeFunc("shoal_write_queue", "Changes that wait to be written.", func() float64 { return float64(len(s.queue)) })
	m.GaugeFunc("shoal_readers_busy", "Connections for reading that are in use.", func() float64 { return float64(s.readers.busy()) })
	return &figures{
		batches:  m.Histogram("shoal_commit_changes", "How many changes shared a commit.", metrics.Sizes),
		commits:  m.Histogram("shoal_commit_seconds", "How long it took to write and commit the changes that shared a commit.", metrics.Seconds),
		rejected: m.Counter("shoal_writes_rejected_total", "Changes that were refused because too many waited to be written."),
	}
}
