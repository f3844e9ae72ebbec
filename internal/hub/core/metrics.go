package core

import (
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// Metrics are the hub's metrics for the operator.
type Metrics struct {
	Posts     *metrics.Number
	Waits     metrics.Counters // by outcome
	wakes     *metrics.Histogram
	runs      metrics.Counters // by event
	Followers *metrics.Number
	CutOff    *metrics.Number
}

func newMetrics(m *metrics.Set) *Metrics {
	return &Metrics{
		Posts: m.Counter("shoal_messages_posted_total", "Messages that were posted and stored, without those that runs compose."),
		Waits: m.Counters("shoal_waits_total", "Waits that have ended, by outcome: messages, timed_out, gone (the caller disconnected), refused, or failed.", "outcome"),
		wakes: m.Histogram("shoal_wake_seconds", "Time from the posting of a message, known to a millisecond, to the end of the open wait that it ended.", metrics.Seconds),
		runs:  m.Counters("shoal_runs_total", "Events of runs: created, started, waiting_tool, waiting_reply, resumed, completed, failed, canceled.", "event"),

		Followers: m.Gauge("shoal_followers_open", "Followers of events."),
		CutOff:    m.Counter("shoal_followers_cut_total", "Followers that were disconnected because they were too slow."),
	}
}

// CountWakeUp records the time from the newest message of entries to now, when its reader
// gets it.
func (f *Metrics) CountWakeUp(entries []storage.InboxEntry) {
	if len(entries) > 0 {
		f.wakes.Observe(max(0, time.Since(entries[len(entries)-1].Message.CreatedAt.Time).Seconds()))
	}
}

// CountRun counts an event of a run once it is stored.
func (f *Metrics) CountRun(ch *Change, what shoal.EventType) {
	ch.OnCommit(func() { f.runs.With(strings.TrimPrefix(string(what), "run.")).Add(1) })
}
