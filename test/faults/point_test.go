package faults

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// maxPassings limits how often a server passes a point before it kills itself there.
var maxPassings = map[string]int64{
	"after a checkpoint": 1, "while the index is updated": 3, "before a step is stored": 25, "after a write of a run": 60, "before a wait counts as written": 20,
}

// reachWithin is the time within which a server under load must reach a point.
const reachWithin = 8 * time.Second

// A server under load is killed at a named point and keeps the invariants.
func TestPoints(t *testing.T) {
	seed := randomSeed(t)
	each := times(t, "SHOAL_POINTS", 1)
	s := program.NewServer(t, plantedBinary(t))
	s.Start(t)
	w := newWorld(t, s, seed, 3)
	counted := map[string]int{}
lanes:
	for i, p := range points {
		for n, tries := 0, 0; n < each; tries++ {
			if tries > 3*each {
				w.Found = append(w.Found, fmt.Sprintf("rig: the server reaches the point %q too rarely", p.name))
				break
			}
			dice := random(seed, uint64(i*10_000+tries))
			most := maxPassings[p.name]
			if most == 0 {
				most = 150
			}
			nth := 1 + dice.Int64N(most)
			if n == 0 && most == 150 {
				nth += 10 // the start passes the point, too
			}
			if dieAtPoint(t, w, p.name, nth) {
				n++
				counted[p.name]++
			}
			if !w.Check(t, false) {
				t.Logf("SHOAL_FAULT_SEED=%d: at the %d. passing of the point %q: %d findings", seed, nth, p.name, len(w.Found))
				break lanes
			}
		}
	}
	w.finish(t)
	for i, p := range points {
		o := outcome{fault: "kill -9 " + p.name, count: counted[p.name], slowest: s.Slowest}
		if i == 0 {
			o.operations, o.found = w.Operations(), w.Found // of all points
		}
		report(t, o)
	}
}

// dieAtPoint restarts the server so that it kills itself at the point, runs the clients
// until then, and restarts it again. It reports whether the point was reached.
func dieAtPoint(t *testing.T, w *world, point string, nth int64) bool {
	t.Helper()
	s := w.server
	s.Kill()
	s.Env = []string{dieAt(point, nth, 0)}
	_, err := s.TryStart(t.Context())
	var ended *program.ExitError
	died := errors.As(err, &ended) && program.Killed(ended.State)
	switch {
	case died: // during its start
	case err != nil:
		t.Fatal(err)
	default:
		died = w.live(t, reachWithin, s.Kill).died
		if died && !program.Killed(s.Process.ProcessState) {
			w.Found = append(w.Found, fmt.Sprintf("end: at the point %q: %v", point, s.Process.ProcessState))
		}
	}
	s.Env = nil
	s.Start(t)
	return died
}

// rewritingMigration is a migration that copies and changes existing rows.
const rewritingMigration = `CREATE TABLE rig AS SELECT doc, seq, id FROM messages; CREATE INDEX rig_seq ON rig (seq); DELETE FROM rig WHERE seq % 2 = 0;`

// A server is killed while it migrates its database: an empty one through all
// migrations, a full one through an additional migration.
func TestPointsOfMigration(t *testing.T) {
	seed := randomSeed(t)
	each := times(t, "SHOAL_POINTS", 1)
	full := program.NewServer(t, plantedBinary(t))
	full.Start(t)
	w := newWorld(t, full, seed, 0)
	w.live(t, 300*time.Millisecond, func() {})
	w.finish(t)
	if len(w.Found) > 0 {
		t.Fatal(w.Found)
	}
	for i, p := range migrationPoints {
		o := outcome{fault: "kill -9 " + p.name}
		for n := range each {
			dice := random(seed, uint64(i*10_000+n))
			s := program.NewServer(t, plantedBinary(t))
			nth := int64(1)
			if n%2 == 0 && p.name == "in a migration" { // those of an empty database are one transaction
				nth += dice.Int64N(3)
			}
			if n%2 == 1 {
				copyTo(t, full.Data, s.Data)
			}
			s.Env = []string{"RIG_MIGRATION=" + rewritingMigration, dieAt(p.name, nth, 0)}
			if _, err := s.TryStart(t.Context()); err == nil || !strings.Contains(err.Error(), "killed") {
				t.Fatalf("SHOAL_FAULT_SEED=%d: the server was not killed at passing %d of %q: %v", seed, nth, p.name, err)
			}
			s.Env = s.Env[:1]
			if _, err := s.TryStart(t.Context()); err != nil {
				o.found = append(o.found, fmt.Sprintf("end: after the point %q: %v", p.name, err))
				continue
			}
			o.count++
			o.slowest = max(o.slowest, s.Slowest)
			if n%2 == 1 {
				o.found = append(o.found, sameAs(t, w, s)...)
			}
			o.found = append(o.found, s.Stop())
			o.found = append(withoutEmpty(o.found), checkDatabase(t.Context(), s)...)
			if steps, err := ask(t.Context(), s, `SELECT name FROM migrations ORDER BY version`); err != nil || steps[len(steps)-1] != "9999_rig.sql" {
				o.found = append(o.found, fmt.Sprintf("end: got migrations %q (%v)", steps, err))
			}
		}
		report(t, o)
	}
}

func withoutEmpty(all []string) (out []string) {
	for _, text := range all {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

// sameAs compares the timelines of a server that uses a copy of a world's database with
// those of the world.
func sameAs(t *testing.T, w *world, s *program.Server) (wrong []string) {
	t.Helper()
	other := &crowd.Crowd{URL: s.URL(), Key: w.Key}
	other.Admin = other.Session(t, w.Key)
	for _, r := range w.Rooms {
		got, err := other.Read(t.Context(), r.ID, nil)
		if err != nil || len(got) != len(w.Timeline[r.ID]) {
			wrong = append(wrong, fmt.Sprintf("lost: %s has %d messages, want %d (%v)", r.ID, len(got), len(w.Timeline[r.ID]), err))
			continue
		}
		for i := range got {
			if got[i].Bytes != w.Timeline[r.ID][i].Bytes {
				wrong = append(wrong, fmt.Sprintf("changed: %s", got[i].Bytes))
				break
			}
		}
	}
	return wrong
}
