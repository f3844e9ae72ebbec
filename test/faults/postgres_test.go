package faults

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
	"github.com/shoal-dev/shoal/internal/shoaltest/faultproxy"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// databaseFault is a way to interrupt the database and restore it, and the number of times.
type databaseFault struct {
	name   string
	times  int
	strike func() []string
}

// maxOutage is the time for which the database may be unavailable without failed runs: a run
// that cannot write for longer may fail.
const maxOutage = 5 * time.Second

// The database is unavailable for some time, or loses its responses: the server keeps
// running and reports it, nothing is lost or done twice, and the server recovers with the
// database.
func TestPostgres(t *testing.T) {
	seed := randomSeed(t)
	d := newDatabase(t)
	s := program.NewServer(t, productBinary(t))
	s.Env = []string{"SHOAL_DATABASE=" + d.url()}
	s.Start(t)
	away := time.Duration(times(t, "SHOAL_POSTGRES_CUT_SECONDS", 2)) * time.Second
	agents := 2
	if away > maxOutage {
		agents = 0
	}
	w := newWorld(t, s, seed, agents)
	s.Slowest, w.Uncounted = 0, true
	observed := &statuses{RoundTripper: w.HTTP.Transport}
	w.HTTP.Transport = observed
	restart := func(how postgrestest.End) func() []string {
		return func() []string {
			d.Stop(t, how)
			wrong := w.checkOutage(t)
			d.Start(t)
			return wrong
		}
	}
	seen := databaseOutcome{least: math.MaxFloat64}
	note := []string{}
	o := outcome{fault: "PostgreSQL interrupted under load"}
	for _, h := range []databaseFault{
		{"restarts (fast)", times(t, "SHOAL_POSTGRES_RESTARTS", 1), restart(postgrestest.Fast)},
		{"restarts (immediate)", times(t, "SHOAL_POSTGRES_RESTARTS", 1), restart(postgrestest.Immediate)},
		{"kills of all backends", times(t, "SHOAL_POSTGRES_KILLS", 1), func() []string {
			if d.Exec(t, "shoal", `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`) == 0 {
				return []string{"rig: no backend to kill"}
			}
			return nil
		}},
		{fmt.Sprintf("disconnections of %v", away), times(t, "SHOAL_POSTGRES_CUTS", 1), func() []string {
			d.line.Cut()
			wrong := w.checkOutage(t)
			crowd.Pause(t.Context(), away)
			d.heal()
			return wrong
		}},
		{fmt.Sprintf("silent connections of %v", away), times(t, "SHOAL_POSTGRES_CUTS", 1), func() []string {
			d.line.Harm(faultproxy.Fault{Silent: true}, faultproxy.Fault{Silent: true})
			crowd.Pause(t.Context(), away)
			d.line.Reset()
			d.heal()
			return nil
		}},
	} {
		o.count += w.injectDatabaseFault(t, h, seed, &seen)
		note = append(note, fmt.Sprintf("%d %s", h.times, h.name))
		if len(w.Found) > 0 {
			break
		}
	}
	lost := d.loseCommits(t, w, int64(times(t, "SHOAL_COMMIT_REPLIES_LOST", 20)))
	w.finish(t)
	observed.mu.Lock()
	defer observed.mu.Unlock()
	o.found = append(w.Found, observed.wrong...)
	o.count += lost
	o.operations, o.slowest = w.Operations(), seen.slowest
	o.note = fmt.Sprintf("%s, %d responses to COMMIT lost; %d calls returned busy, %d unknown; at least %.0f responses/s before; slowest start is the time until a post succeeded again; %v",
		strings.Join(note, ", "), lost, observed.busy, observed.unknown, seen.least, w.Harm())
	if observed.busy == 0 || observed.unknown == 0 {
		t.Errorf("the faults had no effect: %d calls returned busy, %d unknown", observed.busy, observed.unknown)
	}
	report(t, o)
}

// struck is the result of several faults.
type databaseOutcome struct {
	slowest time.Duration // until a post succeeded again
	least   float64       // responses per second before a fault
}

// injectDatabaseFault injects one fault repeatedly, each time under load, and returns the
// number of times.
func (w *world) injectDatabaseFault(t *testing.T, h databaseFault, seed uint64, seen *databaseOutcome) (counted int) {
	t.Helper()
	for ; counted < h.times && len(w.Found) == 0; counted++ {
		dice := random(seed, uint64(len(h.name)*1000+counted))
		l := w.live(t, 4*minLife+time.Duration(dice.Int64N(int64(maxLife/2))), func() {
			w.Found = append(w.Found, h.strike()...)
			took, wrong := w.untilPosted(t)
			w.Found, seen.slowest = append(w.Found, wrong...), max(seen.slowest, took)
		})
		if l.died {
			w.Found = append(w.Found, fmt.Sprintf("end: the server exited by itself: %v", w.server.Process.ProcessState))
			return counted
		}
		seen.least = min(seen.least, l.rate())
		if !w.Check(t, false) {
			t.Logf("%s, round %d: %d findings", h.name, counted, len(w.Found))
		}
	}
	return counted
}

// loseCommits loses most responses to COMMIT, while the clients determine the outcome of
// their posts.
func (d *database) loseCommits(t *testing.T, w *world, most int64) int {
	t.Helper()
	limit := 2*crowd.SettleLimit + time.Duration(most)*time.Second
	for began := time.Now(); d.lost.Load() < most && len(w.Found) == 0; {
		l := w.live(t, 4*minLife, func() {
			d.lose.Store(true)
			for target := d.lost.Load() + 10; d.lost.Load() < target && time.Since(began) < limit; {
				crowd.Pause(t.Context(), crowd.ThinkTime)
			}
			d.lose.Store(false)
			_, wrong := w.untilPosted(t)
			w.Found = append(w.Found, wrong...)
		})
		if l.died {
			w.Found = append(w.Found, fmt.Sprintf("end: the server exited by itself: %v", w.server.Process.ProcessState))
		}
		w.Check(t, false)
		if time.Since(began) > limit {
			t.Fatalf("only %d responses to COMMIT were lost in %v", d.lost.Load(), time.Since(began))
		}
	}
	return int(d.lost.Load())
}

// checkOutage checks a server whose database is unavailable: it runs, and returns 503 for
// writes, reads and the readiness check.
func (w *world) checkOutage(t *testing.T) (wrong []string) {
	t.Helper()
	status, body, err := w.probe(t.Context(), fmt.Sprintf("away-%d", time.Now().UnixNano()))
	if err != nil || status != http.StatusServiceUnavailable || !strings.Contains(body, string(shoal.Busy)) {
		wrong = append(wrong, fmt.Sprintf("status: without its database the server returns %d %s for a post (%v)", status, body, err))
	}
	if w.server.Ready(t.Context()) {
		wrong = append(wrong, "status: without its database the server reports that it is ready")
	}
	if m, err := w.Admin.Messages(t.Context(), w.Rooms[0].ID, client.MessagesOptions{Limit: 1}); err == nil {
		wrong = append(wrong, fmt.Sprintf("status: without its database the server returns %d messages", len(m)))
	}
	return wrong
}

// A server that ignores idempotency keys stores repeated posts twice, which shows that
// responses to COMMIT are really lost.
func TestLostCommitsRevealIgnoredKeys(t *testing.T) {
	const bug = "the idempotency key is ignored"
	seed := randomSeed(t)
	d := newDatabase(t)
	s := program.NewServer(t, plantedBinary(t))
	s.Env = []string{"SHOAL_DATABASE=" + d.url(), "RIG_BUG=" + bug}
	s.Start(t)
	w := newWorld(t, s, seed, 0)
	o := outcome{count: d.loseCommits(t, w, 10)}
	o.found = w.Found
	w.Close()
	if o.of("doubled") == 0 {
		t.Errorf("a server with the bug %q: got no duplicates after %d lost responses to COMMIT: %q", bug, o.count, o.found)
	}
	t.Logf("found after %d lost responses: %d duplicates", o.count, o.of("doubled"))
}
