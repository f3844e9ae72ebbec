package faults

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
)

// idleBounds is the allowed growth of an idle server since its first rounds. 0.5 MiB of heap
// is the garbage of reading the metrics; 8 MiB resident are the memory of SQLite, which is
// not garbage-collected and varies by a few MiB between rounds.
var idleBounds = []bound{
	{"shoal_waits_open", 0, 0},
	{"shoal_streams_open", 0, 0},
	{"shoal_runs_executing", 0, 0},
	{"shoal_body_bytes", 0, 0},
	{"shoal_connections_open", 0, 2}, // those that read the metrics
	{"go_goroutines", .05, 2},
	{"process_open_fds", .05, 2},
	{"go_heap_objects_bytes", .05, 512 << 10},
	{"process_resident_memory_bytes", .05, 8 << 20},
}

const (
	// idleTime is the time after which an idle server has returned unused memory: it starts
	// to do so after a second, and does it three times.
	idleTime = 3 * time.Second
	// rests is how often the metrics may be read in that time.
	maxIdleReads = 5
)

// rest returns the lowest value of each metric while the server is idle. It returns early
// once all metrics are within the bounds of than, if that is not nil.
func (w *world) rest(t *testing.T, than serverMetrics) (low serverMetrics) {
	t.Helper()
	low = w.serverMetrics(t)
	for range maxIdleReads {
		// A server that has been idle for long returns no more memory; so it gets
		// some work first.
		for n := range 4 * len(w.Rooms) {
			if _, err := w.Admin.Messages(t.Context(), w.Rooms[n%len(w.Rooms)].ID, client.MessagesOptions{Limit: shoal.MaxPage}); err != nil {
				t.Fatal(err)
			}
		}
		for began := time.Now(); time.Since(began) < idleTime; crowd.Pause(t.Context(), readEvery) {
			for name, now := range w.serverMetrics(t) {
				low[name] = min(low[name], now)
			}
			if than != nil && len(low.above(than, idleBounds)) == 0 {
				return low
			}
		}
		if than == nil {
			return low
		}
	}
	return low
}

// fillCaches fills the server's caches of the database: they grow with the database, which
// is not a leak.
func (w *world) fillCaches(t *testing.T) {
	t.Helper()
	for n := range 6 {
		if _, err := w.Admin.UploadFile(t.Context(), strconv.Itoa(n), "application/octet-stream", make([]byte, 4<<20)); err != nil {
			t.Fatal(err)
		}
	}
}

// endLastingClients makes all clients end with their round: readers connect again in each, and
// waits are short.
func (w *world) endLastingClients() {
	w.Close()
	for _, r := range w.Readers {
		r.Lasting = false
	}
	for _, x := range w.Waiters {
		x.Lasts = roundLife
	}
}

// round runs all clients and the guests. When it returns, all have disconnected.
func (g *guestClients) round(t *testing.T) lifeResult {
	t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	g.Leave = leave
	for _, j := range g.Work.Jobbers {
		g.Lasting.Go(func() { j.Watch(ctx) })
	}
	l := g.live(t, roundLife, func() { g.visit(t) })
	settled, cancel := context.WithTimeout(t.Context(), crowd.SettleLimit)
	defer cancel()
	g.Work.Settle(settled) // the agents finish their jobs
	g.Close()
	// The server may notice a disconnection with a delay.
	crowd.Pause(t.Context(), readEvery)
	g.HTTP.CloseIdleConnections()
	g.Work.Ledger.CloseClientConnections() // connections to tools are kept
	return l
}
