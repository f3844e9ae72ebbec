package app

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// heap adjusts the garbage collector to the load of a server. The runtime collects
// when the heap has doubled, which of the few megabytes of a server under load is
// many times a second, and of one at rest is not for minutes. So a small heap may
// grow by heapRoom first, a large one by half of itself, and a server that has nothing
// to do gives back what it does not need. GOMEMLIMIT bounds both; with GOGC in the environment nothing is changed.
// It belongs to one goroutine.
type heap struct {
	percent   int
	allocated uint64 // since the process began
	quiet     int    // consecutive checks without work
}

const (
	// heapRoom is by how much a heap may grow before it is collected, however small
	// it is.
	heapRoom = 32 << 20
	// leastPercent and mostPercent bound that in hundredths of the heap. A large heap
	// is mostly calls that wait: it is sooner collected more often than as large again.
	leastPercent, mostPercent = 50, 800
	// checkInterval is how often the heap is checked.
	checkInterval = 500 * time.Millisecond
	// restless is what a server at rest allocates at most between two checks.
	restless = 1 << 20
	// restAfter is the number of idle checks after which memory is returned, and restTimes
	// how often: a stack becomes smaller by half each time.
	restAfter, restTimes = 2, 3
)

// tuneHeap adjusts the garbage collector to the load until ctx ends.
func tuneHeap(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	h := &heap{percent: 100}
	defer debug.SetGCPercent(debug.SetGCPercent(h.percent))
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			h.adjust()
		}
	}
}

// adjust sets the growth of the heap, and returns memory to the system at rest.
func (h *heap) adjust() {
	found := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(found)
	live, allocated := found[0].Value.Uint64(), found[1].Value.Uint64()
	if percent := percentOf(live); 10*max(percent-h.percent, h.percent-percent) > h.percent { // to change it stops the program for a moment
		h.percent = percent
		debug.SetGCPercent(percent)
	}
	if h.quiet++; allocated-h.allocated > restless {
		h.quiet = 0
	}
	h.allocated = allocated
	if h.quiet >= restAfter && h.quiet < restAfter+restTimes {
		debug.FreeOSMemory()
	}
}

// percentOf is by how many hundredths a heap may grow of which so much is in use.
func percentOf(live uint64) int {
	return int(min(max(heapRoom*100/max(live, 1), leastPercent), mostPercent))
}
