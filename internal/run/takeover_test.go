package run_test

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/run"
)

// peer is one of several servers on the database of a world, which it reaches over a
// connection of its own that can fail.
type peer struct {
	store *watchedStore
	exe   *run.Executor
}

func (w *world) peer(models func(*agentconfig.Config) (agent.Model, error)) *peer {
	w.t.Helper()
	p := &peer{store: &watchedStore{Store: w.store.Store, changed: make(chan struct{})}}
	h := hub.New(hub.Options{Store: p.store, Bus: localbus.New()})
	w.must(h.Start(context.Background()))
	var err error
	p.exe, err = run.New(run.Options{Hub: h, Models: models})
	w.must(err)
	w.must(p.exe.Start(w.t.Context()))
	w.t.Cleanup(func() { p.store.refuses(nil, 0); p.exe.Stop(); h.Stop() })
	return p
}

var errDown = shoal.E("", shoal.Busy, "The database is busy.")

// A server that cannot renew its leases in time, but is alive and comes back, keeps its
// runs: no other one calls their model a second time.
func TestLiveServerKeepsItsRuns(t *testing.T) {
	for name, all := range map[string]bool{"its connection fails": false, "the database does not answer": true} {
		for _, lasts := range []time.Duration{5 * time.Second, 11 * time.Second, 14 * time.Second} {
			t.Run(name+" for "+lasts.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					w.exe.Stop()
					model := gated(script.PerTurn(calls(send("c1", "One.")), silent))
					w.shopkeeper(model, "")
					id := w.says("Hm?")
					holder := w.peer(w.model)
					<-model.reached
					other := w.peer(w.model)
					holder.store.refuses(errDown, 0)
					if all {
						other.store.refuses(errDown, 0)
					}
					<-time.After(lasts)
					holder.store.refuses(nil, 0)
					other.store.refuses(nil, 0)
					<-time.After(30 * time.Second)
					if n := len(model.reached); n > 0 || w.run(id).Generation != 1 {
						t.Errorf("%d more calls of the model; the run was claimed %d times", n, w.run(id).Generation)
					}
					close(model.release)
					<-time.After(time.Minute)
					if r := w.run(id); r.Status != shoal.RunCompleted {
						t.Errorf("the run is %s", r.Status)
					}
				})
			})
		}
	}
}

// The runs of a server that is gone for good are taken over within 20 s, and once.
func TestRunsOfDeadServerAreTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.exe.Stop()
		model := gated(script.PerTurn(calls(send("c1", "One.")), silent))
		w.shopkeeper(model, "")
		id := w.says("Hm?")
		dead := w.peer(w.model)
		<-model.reached
		dead.store.refuses(errDown, 0)
		others := []*peer{w.peer(w.model), w.peer(w.model)}
		before := others[0].store.claims.Load()
		<-time.After(20 * time.Second)
		if n := len(model.reached); n != 1 {
			t.Errorf("%d more calls of the model after 20 s, want 1", n)
		}
		<-time.After(10 * time.Second)
		if n := len(model.reached); n != 1 || w.run(id).Generation != 2 {
			t.Errorf("%d more calls of the model; the run was claimed %d times, want 1 and 2", n, w.run(id).Generation)
		}
		if tried := others[0].store.claims.Load() - before; tried > 40 {
			t.Errorf("claims were tried %d times while the lease was watched", tried)
		}
		close(model.release)
		<-time.After(time.Minute)
		if r := w.run(id); r.Status != shoal.RunCompleted {
			t.Errorf("the run is %s", r.Status)
		}
	})
}

// failingLate is a model whose calls fail after some time, and may be tried again.
type failingLate struct {
	agent.Model
	after time.Duration
	calls atomic.Int64
}

func (m *failingLate) Stream(ctx context.Context, _ *agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		m.calls.Add(1)
		select {
		case <-time.After(m.after):
			yield(agent.Chunk{}, &agent.ModelError{Class: agent.ClassOverloaded})
		case <-ctx.Done():
			yield(agent.Chunk{}, context.Cause(ctx))
		}
	}
}

// A server that cannot renew its lease does not call the model again after the lease has
// run out: another one may have taken the run.
func TestNoModelCallWithExpiredLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.exe.Stop()
		model := gated(script.PerTurn(calls(send("c1", "One.")), silent))
		w.shopkeeper(model, "")
		// With limits each attempt is a write, which needs the lease anyway.
		_, err := w.hub.Sessions.Change(t.Context(), admin, session, shoal.SessionChange{Limits: &shoal.LimitsChange{MaxCostPerRequest: new(float64), MaxTokensPerRequest: new(int64)}})
		w.must(err)
		w.says("Hm?")
		late := &failingLate{Model: model, after: 40 * time.Second}
		cut := w.peer(func(*agentconfig.Config) (agent.Model, error) { return late, nil })
		<-time.After(time.Second)
		cut.store.refuses(errDown, 0)
		w.peer(w.model)
		<-model.reached
		<-time.After(30 * time.Second)
		if n := late.calls.Load(); n != 1 {
			t.Errorf("the server without a lease called the model %d times", n)
		}
		close(model.release)
	})
}
