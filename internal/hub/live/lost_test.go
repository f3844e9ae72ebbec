package live

import (
	"errors"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// oneRun is a store with one run.
type oneRun int64

func (generation oneRun) Run(shoal.SessionID, shoal.RunID) (storage.Run, error) {
	if generation == 0 {
		return storage.Run{}, shoal.E("", shoal.NotFound, "there is no run")
	}
	return storage.Run{Generation: int64(generation)}, nil
}

// A server that learns that another executes a run has no parts of it, and relays nothing of
// the generations before.
func TestLostRuns(t *testing.T) {
	key := PartKey{"default", "msg_1", "prt_1"}
	for what, c := range map[string]struct {
		learn func(*Parts) error
		lost  bool
	}{
		"nothing":                          {func(*Parts) error { return nil }, false},
		"a write was refused":              {func(l *Parts) error { l.Lose("default", "run_1", 2); return nil }, true},
		"a write of another run":           {func(l *Parts) error { l.Lose("default", "run_2", 2); return nil }, false},
		"a reset of another server":        {func(l *Parts) error { l.ObserveReset(key, 8); return nil }, true},
		"its own reset":                    {func(l *Parts) error { l.ObserveReset(key, 7); return nil }, false},
		"the stored generation is later":   {func(l *Parts) error { return l.Confirm(oneRun(2), "default", "msg_1") }, true},
		"the stored generation is its own": {func(l *Parts) error { return l.Confirm(oneRun(1), "default", "msg_1") }, false},
		"the run was deleted":              {func(l *Parts) error { return l.Confirm(oneRun(0), "default", "msg_1") }, true},
	} {
		t.Run(what, func(t *testing.T) {
			l := New()
			run := &storage.Run{Run: shoal.Run{ID: "run_1", SessionID: "default"}, Generation: 1}
			l.Resume(key, run, Delta{Message: "msg_1", Part: "prt_1"}, 0, 7)
			if base, ok := l.Add(1, "run_1", key, Delta{Message: "msg_1", Part: "prt_1", Text: "a"}); !ok || base != 7 {
				t.Fatalf("the first delta has the base %d (%v), want 7", base, ok)
			}
			if err := c.learn(l); err != nil && !errors.Is(err, shoal.NotFound) {
				t.Fatal(err)
			}
			if l.Has(key) == c.lost {
				t.Errorf("the part is there: %v, want %v", !c.lost, !c.lost)
			}
			if _, ok := l.Add(1, "run_1", key, Delta{Message: "msg_1", Part: "prt_1", Offset: 1, Text: "b"}); ok == c.lost {
				t.Errorf("a later delta is relayed: %v, want %v", ok, !c.lost)
			}
			if _, ok := l.Add(3, "run_1", key, Delta{Message: "msg_1", Part: "prt_1", Offset: 1, Text: "b"}); !ok {
				t.Error("a delta of a later generation is not relayed")
			}
		})
	}
}
