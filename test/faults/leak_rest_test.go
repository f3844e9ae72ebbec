package faults

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// idleBounds is by how much a server at rest may take more than after its first rounds.
// Half a mebibyte is the garbage of reading these figures; eight are for the memory of
// SQLite, which is not collected, and comes and goes by a few from round to round.
var idleBounds = []bound{
	{"shoal_waits_open", 0, 0},
	{"shoal_streams_open", 0, 0},
	{"shoal_runs_executing", 0, 0},
	{"shoal_body_bytes", 0, 0},
	{"shoal_connections_open", 0, 2}, // those by which it is asked
	{"go_goroutines", .05, 2},
	{"process_open_fds", .05, 2},
	{"go_heap_objects_bytes", .05, 512 << 10},
	{"process_resident_memory_bytes", .05, 8 << 20},
}

const (
	// idleTime is how long a server must have nothing to do until it has given back
	// what memory it does not need: it begins with that after a second, and does it
	// three times.
	idleTime = 3 * time.Second
	// rests is how often it may be disturbed in that.
	maxIdleReads = 5
)

// rest returns how low each figure comes while nobody wants anything of the server.
// It is over as soon as all are within the bounds of others, if there are others.
func (w *world) rest(t *testing.T, than serverMetrics) (low serverMetrics) {
	t.Helper()
	low = w.serverMetrics(t)
	for range maxIdleReads {
		// A server that has been at rest for long gives nothing back any more; so it is
		// given something to do first.
		for n := range 4 * len(w.rooms) {
			if _, err := w.admin.Messages(t.Context(), w.rooms[n%len(w.rooms)].id, client.MessagesOptions{Limit: shoal.MaxPage}); err != nil {
				t.Fatal(err)
			}
		}
		for began := time.Now(); time.Since(began) < idleTime; pause(t.Context(), readEvery) {
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

// fillCaches lets the server's caches of the database become as large as they may:
// they grow with the database, which is no leak.
func (w *world) fillCaches(t *testing.T) {
	t.Helper()
	for n := range 6 {
		if _, err := w.admin.UploadFile(t.Context(), strconv.Itoa(n), "application/octet-stream", make([]byte, 4<<20)); err != nil {
			t.Fatal(err)
		}
	}
}

// endLastingClients has nobody last over the rounds: readers come anew in each, and waits end
// soon behind it.
func (w *world) endLastingClients() {
	w.close()
	for _, r := range w.readers {
		r.lasting = false
	}
	for _, x := range w.waiters {
		x.lasts = roundLife
	}
}

// round lets everybody at the server, and besides guests who leave in the middle of
// what they do. When it returns, all have gone.
func (g *guestClients) round(t *testing.T) lifeResult {
	t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	g.leave = leave
	for _, j := range g.work.jobbers {
		g.lasting.Go(func() { j.watch(ctx) })
	}
	l := g.live(t, roundLife, func() { g.visit(t) })
	settled, cancel := context.WithTimeout(t.Context(), settleLimit)
	defer cancel()
	g.work.settle(settled) // the agents do what they have to do
	g.close()
	// Whoever hangs up with an answer in hand may seem not to have it.
	pause(t.Context(), readEvery)
	g.http.CloseIdleConnections()
	g.work.ledger.CloseClientConnections() // those to tools are kept, as many as were needed at once
	return l
}
