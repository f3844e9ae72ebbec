package run_test

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/run"
)

// counted counts the calls of a model.
type counted struct {
	agent.Model
	calls *atomic.Int64
}

func (c counted) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	c.calls.Add(1)
	return c.Model.Stream(ctx, req)
}

// faulty is a world with a server that executes runs on a faulty store.
type faulty struct {
	*world
	story
	store *faultyStore
	calls atomic.Int64 // of models
	shown int64        // the position of the last message of earlier runs
}

func newFaulty(t *testing.T, s story) *faulty {
	f := &faulty{world: s.stage(t), story: s}
	f.exe.Stop()
	f.store = &faultyStore{watchedStore: f.world.store}
	unlimited := int64(1e12) // each model call reserves what it may use, which is a write
	_, err := f.hub.Sessions.Change(t.Context(), admin, session, shoal.SessionChange{Limits: &shoal.LimitsChange{MaxTokensPerRequest: &unlimited}})
	f.must(err)
	f.said()
	h := hub.New(hub.Options{Store: f.store, Bus: localbus.New()})
	f.must(h.Start(context.Background()))
	exe, err := run.New(run.Options{Hub: h, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Models: func(c *agentconfig.Config) (agent.Model, error) {
		m, err := f.model(c)
		return counted{m, &f.calls}, err
	}})
	f.must(err)
	f.must(exe.Start(t.Context()))
	t.Cleanup(func() { f.store.choose(nil); exe.Stop(); h.Stop() })
	return f
}

// plays plays the story with a fault until the run has ended, and returns the run and the
// calls of models.
func (f *faulty) plays(fault func() error) (r storage.Run, calls int64) {
	f.t.Helper()
	before := f.calls.Load()
	f.store.choose(fault)
	id := f.says("Hm?")
	for _, a := range f.acts {
		if r = f.rests(id, a.waits); r.Status.Ended() {
			return r, f.calls.Load() - before
		}
		f.must(a.do(f.world, id))
	}
	return f.rests(id, shoal.RunCompleted), f.calls.Load() - before
}

// rests waits until the run has a status or has ended, and nobody executes it.
func (f *faulty) rests(id shoal.RunID, status shoal.RunStatus) (r storage.Run) {
	f.t.Helper()
	limit := time.After(2 * time.Hour)
	for {
		changed := f.world.store.next()
		r = f.run(id)
		if (r.Status == status || r.Status.Ended()) && r.Owner == "" && !r.Awake {
			return r
		}
		select {
		case <-changed:
		case <-limit:
			f.t.Fatalf("the run is %s, awake %v, owner %q", r.Status, r.Awake, r.Owner)
		}
	}
}

// A store that is busy, slow or full delays a run, however long it takes to recover and
// whichever write it refuses: the run does not fail, and its model is not called again.
func TestEveryWriteWaitsForTheStore(t *testing.T) {
	faults := map[string]func() error{
		"busy": outages(shoal.E("", shoal.Busy, "The database is busy; nothing was done."), 21*time.Second),
		"full": outages(shoal.E("", shoal.StorageFull, "The server's disk is full; nothing was done."), 21*time.Second),
		"slow": outages(errSlow, time.Second), // the attempt lasts as long as it may
	}
	for name, s := range stories {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFaulty(t, s)
				clean, calls := f.plays(nil)
				writes := f.store.attempts()
				if clean.Status != shoal.RunCompleted || calls == 0 || writes < 10 {
					t.Fatalf("without a fault the run is %s after %d writes and %d calls", clean.Status, writes, calls)
				}
				f.showsWanted("no fault")
				for what, fault := range faults {
					got, again := f.plays(fault)
					if got.Status != shoal.RunCompleted || got.Generation != clean.Generation || again != calls {
						t.Errorf("%s: the run is %s (%+v), claimed %d times, with %d calls of models, want completed, %d and %d", what, got.Status, got.Error, got.Generation, again, clean.Generation, calls)
					}
					if tried := f.store.attempts(); 2*tried < 3*writes {
						t.Errorf("%s: %d attempts at %d writes", what, tried, writes)
					}
					f.showsWanted(what)
				}
			})
		})
	}
}

// said returns what the space shop shows since the last call.
func (f *faulty) said() (lines []string) {
	f.t.Helper()
	lines, f.shown = f.timelineAfter("shop", f.shown)
	return lines
}

// showsWanted checks what the last run said.
func (f *faulty) showsWanted(what string) {
	f.t.Helper()
	if got := f.said(); !slices.Equal(got, f.want) {
		f.t.Errorf("%s: the shop shows\n  %s", what, strings.Join(got, "\n  "))
	}
}

// A write with an unknown outcome that was not stored, whichever it is, is made again from
// what is stored. [TestUnknownOutcomeOfEveryChange] is about those that were stored.
func TestEveryWriteWithUnknownOutcome(t *testing.T) {
	for name, s := range stories {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFaulty(t, s)
				for n := 0; n <= f.store.attempts(); n += dieEvery() {
					if r, _ := f.plays(onlyAt(n, errUnsure)); r.Status != shoal.RunCompleted {
						t.Fatalf("write %d: the run is %s (%+v)", n, r.Status, r.Error)
					}
					f.showsWanted(fmt.Sprintf("write %d", n))
				}
			})
		})
	}
}

// A write that the store refuses for good, whichever it is, ends the run with a message that
// says what happened and what to do, and leaves nothing open.
func TestEveryWriteThatIsRefused(t *testing.T) {
	refused := &shoal.Error{Kind: shoal.Internal, Msg: "Something went wrong in the server's database."}
	for name, s := range stories {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, failed := newFaulty(t, s), 0
				for n := 0; n <= f.store.attempts(); n += dieEvery() {
					r, _ := f.plays(onlyAt(n, refused))
					if f.store.attempts() <= n {
						break
					}
					said := f.said()
					if r.Status == shoal.RunCompleted && slices.Equal(said, s.want) {
						continue // the end of the turn was stored, or a tool reported the failure to the model
					}
					if r.Status != shoal.RunFailed || r.Error.Code != "storage" || !strings.Contains(r.Error.Message, "database refused") || !strings.Contains(r.Error.Message, "again") {
						t.Errorf("write %d: the run is %s (%+v)", n, r.Status, r.Error)
					}
					if shop := strings.Join(said, "\n  "); strings.Contains(shop, "streaming") {
						t.Fatalf("write %d: the shop shows\n  %s", n, shop)
					}
					failed++
					for _, row := range f.rows(r.ID) {
						if row.Status == shoal.PendingOpen {
							t.Errorf("write %d: %s is open", n, row.ToolName)
						}
					}
				}
				if least := 30; failed == 0 || dieEvery() == 1 && failed < least {
					t.Errorf("%d runs failed, want %d of all writes", failed, least)
				}
			})
		})
	}
}
