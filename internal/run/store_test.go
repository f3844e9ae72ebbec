package run_test

import (
	"context"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/agent/storetest"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/run"
)

// claimed returns a run that nobody executes but the test.
func claimed(t *testing.T) (*world, storage.Run) {
	t.Helper()
	w := newWorld(t)
	w.exe.Stop()
	w.shopkeeper(script.New(), "")
	w.says("Hm?")
	runs, err := w.hub.Work.Claim(t.Context(), "the test", 1, time.Minute)
	w.must(err)
	return w, runs[0]
}

// reopened reads with a store that knows nothing but what is stored.
type reopened struct {
	agent.Store
	open func() (agent.Store, error)
}

func (r reopened) Load(ctx context.Context, id string) (agent.Record, error) {
	s, err := r.open()
	if err != nil {
		return agent.Record{}, err
	}
	return s.Load(ctx, id)
}

// The conversations of agents that tools ask are as good as any. A run's own one is
// smaller: it holds one turn and is never replaced, which the tests of runs check.
func TestOtherConversationsDuringARun(t *testing.T) {
	storetest.Exercise(t, func(t *testing.T) agent.Store {
		w, claim := claimed(t)
		open := func() (agent.Store, error) { return run.OpenStore(t.Context(), w.hub, claim) }
		store, err := open()
		w.must(err)
		return reopened{store, open}
	})
}
