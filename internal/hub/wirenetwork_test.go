package hub_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/shoal-dev/shoal/internal/clusterbus"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/shoaltest/clustertest"
)

// wireNetwork connects nodes by the bus between servers, on a wire in memory.
type wireNetwork struct {
	wire  clustertest.Wire
	rnd   *rand.Rand
	ends  []*clustertest.End
	buses []*clusterbus.Bus
}

func newWireNetwork(n int, rnd *rand.Rand) *wireNetwork {
	return &wireNetwork{rnd: rnd, ends: make([]*clustertest.End, n), buses: make([]*clusterbus.Bus, n)}
}

func (w *wireNetwork) bus(node int, restarted bool) core.Bus {
	if restarted {
		w.buses[node].Stop()
	}
	name := fmt.Sprint("server", node)
	w.ends[node] = w.wire.Open(name)
	w.buses[node] = clusterbus.New(clusterbus.Options{Transport: w.ends[node], Name: name})
	return w.buses[node]
}

func (w *wireNetwork) started(node int, h *hub.Hub) error {
	return w.buses[node].Start(context.Background(), h.Nodes)
}

// set changes what happens to frames. Down means that the line of one node is cut.
func (w *wireNetwork) set(f linkFaults) {
	rnd := rand.New(rand.NewPCG(w.rnd.Uint64(), 0))
	w.wire.SetFault(func(string, string, int) clustertest.Outcome {
		switch n := rnd.Float64(); {
		case n < f.drop:
			return clustertest.Lost
		case n < f.drop+f.double:
			return clustertest.Doubled
		}
		return clustertest.Delivered
	})
	cut := -1
	if f.down {
		cut = w.rnd.IntN(len(w.ends))
	}
	for i, end := range w.ends {
		end.SetCut(i == cut)
	}
}

// healTime implements [network]: nodes hear each other again within a second, and heal soon
// after.
func (w *wireNetwork) healTime() time.Duration { return 2 * time.Second }

func (w *wireNetwork) close() {
	for _, b := range w.buses {
		b.Stop()
	}
}
