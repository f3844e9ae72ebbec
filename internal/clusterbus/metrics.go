package clusterbus

import (
	"time"

	"github.com/shoal-dev/shoal/internal/metrics"
)

// busMetrics are the metrics of a bus.
type busMetrics struct {
	sent, received, refused, gaps, healed, dropped *metrics.Number
}

func newMetrics(m *metrics.Set, b *Bus) busMetrics {
	m.GaugeFunc("shoal_bus_up", "Whether the bus between the servers works: 1, or 0.", func() float64 {
		if b.State().Problem == "" {
			return 1
		}
		return 0
	})
	m.GaugeFunc("shoal_bus_peers", "Other servers that were heard on the bus within the last three seconds.", func() float64 {
		b.mu.Lock()
		defer b.mu.Unlock()
		return float64(b.peers.others(time.Now().Add(-silence)))
	})
	return busMetrics{
		sent:     m.Counter("shoal_bus_frames_sent_total", "Frames sent to the other servers."),
		received: m.Counter("shoal_bus_frames_received_total", "Frames received from other servers, each once."),
		refused:  m.Counter("shoal_bus_frames_refused_total", "Frames that were damaged or came from another cluster."),
		gaps:     m.Counter("shoal_bus_gaps_total", "How often frames of another server were missing."),
		healed:   m.Counter("shoal_bus_heals_total", "How often all waits and streams read the database because frames may have been missed."),
		dropped:  m.Counter("shoal_bus_events_dropped_total", "Ephemeral events that were not sent to the other servers because there were too many or one was too large."),
	}
}
