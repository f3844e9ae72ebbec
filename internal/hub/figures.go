package hub

import (
	"errors"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// figures are what the hub counts of itself, for an operator.
type figures struct {
	posts     *metrics.Number
	waits     metrics.Counters // by how they ended
	wakes     *metrics.Histogram
	runs      metrics.Counters // by what happened to them
	followers *metrics.Number
	cut       *metrics.Number
}

func newFigures(m *metrics.Set) *figures {
	return &figures{
		posts: m.Counter("shoal_messages_posted_total", "Messages that were posted and stored; those that runs compose apart."),
		waits: m.Counters("shoal_waits_total", "Waits that have ended, by how: with messages, timed_out, gone (the caller went away), refused, or failed.", "outcome"),
		wakes: m.Histogram("shoal_wake_seconds", "From the moment a message was posted, known to a millisecond, to the moment it ended a wait that was open.", metrics.Seconds),
		runs:  m.Counters("shoal_runs_total", "What happened to runs: created, started, waiting_tool, waiting_reply, resumed, completed, failed, canceled.", "event"),

		followers: m.Gauge("shoal_followers_open", "Followers of events."),
		cut:       m.Counter("shoal_followers_cut_total", "Followers that were cut off because they fell behind."),
	}
}

// count counts a wait that has ended.
func (w *HeldWait) count(err error) {
	outcome := "messages"
	var known *shoal.Error
	switch {
	case err == nil && len(w.entries) == 0:
		outcome = "timed_out"
	case errors.Is(err, shoal.TooManyWaiters):
		outcome = "refused"
	case errors.As(err, &known):
		outcome = "failed"
	case err != nil: // the cause of its context, whatever the face says
		outcome = "gone"
	}
	w.inbox.figures.waits.With(outcome).Add(1)
}

// woken counts how long it took from the newest of these messages to its reader.
func (f *figures) woken(entries []InboxEntry) {
	if len(entries) > 0 {
		f.wakes.Observe(max(0, time.Since(entries[len(entries)-1].Message.CreatedAt.Time).Seconds()))
	}
}

// run counts what happens to a run, once it is stored.
func (f *figures) run(ch *change, what shoal.EventType) {
	ch.then(func() { f.runs.With(strings.TrimPrefix(string(what), "run.")).Add(1) })
}

// countWait counts an open wait of a caller, whatever for, until it leaves b.open.
// TooManyWaiters when the server holds as many as it may, or as many as it may hold of
// callers that have their share.
func (b *Inbox) countWait(who shoal.Principal) error {
	if b.open.Enter(limit.Of(who)) != limit.Entered {
		return shoal.E("", shoal.TooManyWaiters, "This server holds as many waits as it may. Try again in a few seconds.")
	}
	return nil
}
