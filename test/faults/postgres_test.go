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
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/shoaltest/faultproxy"
	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

// databaseFault is a way to take the database away and give it back, and how often.
type databaseFault struct {
	name   string
	times  int
	strike func() []string
}

// maxOutage is how long the database may be away without harm to runs: one that
// cannot store for longer may fail, and says so.
const maxOutage = 5 * time.Second

// A database that is not there for a while, or does not say what it has done: the
// server stays up and says so, nothing is lost or done twice, and when the database
// is back so is the server.
func TestPostgres(t *testing.T) {
	seed := randomSeed(t)
	d := newDatabase(t)
	s := newServer(t, productBinary(t))
	s.env = []string{"SHOAL_DATABASE=" + d.url()}
	s.start(t)
	away := time.Duration(times(t, "SHOAL_POSTGRES_CUT_SECONDS", 2)) * time.Second
	agents := 2
	if away > maxOutage {
		agents = 0
	}
	w := newWorld(t, s, seed, agents)
	s.slowest, w.uncounted = 0, true
	observed := &statuses{RoundTripper: w.http.Transport}
	w.http.Transport = observed
	restart := func(how shoaltest.PostgresEnd) func() []string {
		return func() []string {
			d.Stop(t, how)
			wrong := w.checkOutage(t)
			d.Start(t)
			return wrong
		}
	}
	seen := databaseOutcome{least: math.MaxFloat64}
	note := []string{}
	o := outcome{fault: "PostgreSQL taken away under load"}
	for _, h := range []databaseFault{
		{"restarts (fast)", times(t, "SHOAL_POSTGRES_RESTARTS", 1), restart(shoaltest.PostgresFast)},
		{"restarts (immediate)", times(t, "SHOAL_POSTGRES_RESTARTS", 1), restart(shoaltest.PostgresImmediate)},
		{"kills of all backends", times(t, "SHOAL_POSTGRES_KILLS", 2), func() []string {
			if d.Exec(t, "shoal", `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`) == 0 {
				return []string{"rig: there was no backend to kill"}
			}
			return nil
		}},
		{fmt.Sprintf("cuts of %v", away), times(t, "SHOAL_POSTGRES_CUTS", 1), func() []string {
			d.line.Cut()
			wrong := w.checkOutage(t)
			pause(t.Context(), away)
			d.heal()
			return wrong
		}},
		{fmt.Sprintf("silences of %v", away), times(t, "SHOAL_POSTGRES_CUTS", 1), func() []string {
			d.line.Harm(faultproxy.Fault{Silent: true}, faultproxy.Fault{Silent: true})
			pause(t.Context(), away)
			d.line.Reset()
			d.heal()
			return nil
		}},
	} {
		o.count += w.injectDatabaseFault(t, h, seed, &seen)
		note = append(note, fmt.Sprintf("%d %s", h.times, h.name))
		if len(w.found) > 0 {
			break
		}
	}
	lost := d.loseCommits(t, w, int64(times(t, "SHOAL_COMMIT_REPLIES_LOST", 40)))
	w.finish(t)
	observed.mu.Lock()
	defer observed.mu.Unlock()
	o.found = append(w.found, observed.wrong...)
	o.count += lost
	o.operations, o.slowest = w.operations(), seen.slowest
	o.note = fmt.Sprintf("%s, %d answers to COMMIT lost; %d calls told busy, %d unknown; at least %.0f answers/s before; the slowest time is that until a post was taken again; %v",
		strings.Join(note, ", "), lost, observed.busy, observed.unknown, seen.least, w.harm())
	if observed.busy == 0 || observed.unknown == 0 {
		t.Errorf("the faults hit nobody: %d calls were told busy, %d unknown", observed.busy, observed.unknown)
	}
	report(t, o)
}

// struck is what was seen over several faults.
type databaseOutcome struct {
	slowest time.Duration // until a post was taken again
	least   float64       // answers a second before a fault
}

// injectDatabaseFault does one fault so often, each time under load, and returns how often
// that was. SHOAL_LEAST_RATE lowers what counts as load, for a machine that has much
// else to do.
func (w *world) injectDatabaseFault(t *testing.T, h databaseFault, seed uint64, seen *databaseOutcome) (counted int) {
	t.Helper()
	floor := float64(setting.Number(t, "SHOAL_LEAST_RATE", minRate))
	for tries := 0; counted < h.times && len(w.found) == 0; tries++ {
		if tries == 2*h.times+5 {
			t.Fatalf("%s: only %d of %d rounds reached %v responses/s: this machine is too busy to test under load", h.name, counted, tries, floor)
		}
		dice := random(seed, uint64(len(h.name)*1000+tries))
		l := w.live(t, 4*minLife+time.Duration(dice.Int64N(int64(maxLife/2))), func() {
			w.found = append(w.found, h.strike()...)
			took, wrong := w.untilPosted(t)
			w.found, seen.slowest = append(w.found, wrong...), max(seen.slowest, took)
		})
		switch {
		case l.died:
			w.found = append(w.found, fmt.Sprintf("end: the server exited by itself: %v", w.server.process.ProcessState))
			return counted
		case l.rate() >= floor:
			counted++
			seen.least = min(seen.least, l.rate())
		default:
			t.Logf("%s: round %d with %.0f responses/s does not count", h.name, tries, l.rate())
		}
		if !w.check(t, false) {
			t.Logf("%s, round %d: %d findings", h.name, tries, len(w.found))
		}
	}
	return counted
}

// loseCommits loses so many answers to COMMIT, and lets everybody find out what
// became of theirs.
func (d *database) loseCommits(t *testing.T, w *world, most int64) int {
	t.Helper()
	limit := 2*settleLimit + time.Duration(most)*time.Second
	for began := time.Now(); d.lost.Load() < most && len(w.found) == 0; {
		l := w.live(t, 4*minLife, func() {
			d.lose.Store(true)
			for target := d.lost.Load() + 10; d.lost.Load() < target && time.Since(began) < limit; {
				pause(t.Context(), thinkTime)
			}
			d.lose.Store(false)
			_, wrong := w.untilPosted(t)
			w.found = append(w.found, wrong...)
		})
		if l.died {
			w.found = append(w.found, fmt.Sprintf("end: the server exited by itself: %v", w.server.process.ProcessState))
		}
		w.check(t, false)
		if time.Since(began) > limit {
			t.Fatalf("only %d answers to COMMIT were lost in %v", d.lost.Load(), time.Since(began))
		}
	}
	return int(d.lost.Load())
}

// checkOutage looks at a server whose database cannot be reached: it is up, and
// answers whoever writes, reads or asks whether it can serve with 503.
func (w *world) checkOutage(t *testing.T) (wrong []string) {
	t.Helper()
	status, body, err := w.probe(t.Context(), fmt.Sprintf("away-%d", time.Now().UnixNano()))
	if err != nil || status != http.StatusServiceUnavailable || !strings.Contains(body, string(shoal.Busy)) {
		wrong = append(wrong, fmt.Sprintf("status: without its database the server answers a post with %d %s (%v)", status, body, err))
	}
	if w.server.ready(t.Context()) {
		wrong = append(wrong, "status: without its database the server says that it is ready")
	}
	if m, err := w.admin.Messages(t.Context(), w.rooms[0].id, client.MessagesOptions{Limit: 1}); err == nil {
		wrong = append(wrong, fmt.Sprintf("status: without its database the server shows %d messages", len(m)))
	}
	return wrong
}

// That answers to COMMIT are really lost shows in a server that does not look at
// idempotency keys: it stores twice what it is asked again.
func TestLostCommitsRevealIgnoredKeys(t *testing.T) {
	const bug = "the idempotency key is ignored"
	seed := randomSeed(t)
	d := newDatabase(t)
	s := newServer(t, plantedBinary(t))
	s.env = []string{"SHOAL_DATABASE=" + d.url(), "RIG_BUG=" + bug}
	s.start(t)
	w := newWorld(t, s, seed, 0)
	o := outcome{count: d.loseCommits(t, w, 10)}
	o.found = w.found
	w.close()
	if o.of("doubled") == 0 {
		t.Errorf("a server with the bug %q lost %d answers to COMMIT, and nothing was found twice: %q", bug, o.count, o.found)
	}
	t.Logf("found after %d lost answers: %d things twice", o.count, o.of("doubled"))
}
