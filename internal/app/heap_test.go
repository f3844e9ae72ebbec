package app

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"
)

// A small heap may grow by the room there is, a large one by half of itself.
func TestASmallHeapMayGrow(t *testing.T) {
	for live, want := range map[uint64]int{0: mostPercent, 1 << 20: mostPercent, 8 << 20: 400, 16 << 20: 200, 32 << 20: 100, 64 << 20: 50, 1 << 30: 50} {
		if got := percentOf(live); got != want {
			t.Errorf("of %d bytes the heap may grow by %d %%, want %d %%", live, got, want)
		}
	}
}

// collections counts those that were asked for.
func collections() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumForcedGC
}

var garbage []byte

// A server that rests collects a few times, then no more until it has worked again.
func TestAServerAtRestGivesMemoryBack(t *testing.T) {
	t.Cleanup(func() { debug.SetGCPercent(100) })
	h := &heap{percent: 100}
	work := func() {
		for range 4 {
			garbage = make([]byte, restless)
		}
		garbage = nil
	}
	for range 2 {
		work()
		h.adjust()
		before := collections()
		work()
		h.adjust()
		if n := collections() - before; n != 0 {
			t.Errorf("a server at work asked for %d collections", n)
		}
		for range restAfter + restTimes + 5 {
			h.adjust()
		}
		if n := collections() - before; n != restTimes {
			t.Errorf("a server at rest asked for %d collections, want %d", n, restTimes)
		}
	}
}

// The settings of the operator and of an embedding program are kept.
func TestTheHeapIsLeftAsItWas(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(77))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, gogc := range []string{"", "77"} {
		t.Setenv("GOGC", gogc)
		tuneHeap(ctx)
		if percent := debug.SetGCPercent(77); percent != 77 {
			t.Errorf("with GOGC=%q it is %d afterwards", gogc, percent)
		}
	}
}
