package hub_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/clusterbus"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/shoaltest/clustertest"
	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

var clusterSeeds = flag.Int("clusterseeds", 0, "number of seeds of the wait races on several servers instead of 2,000, with -short 100")

// What [TestWaitRaces] shows on one server holds on three, with a bus between them that loses,
// repeats and delays frames, and that is cut for seconds: no wait times out while a message for
// it is unread, and none returns more than 4.5 seconds late.
func TestWaitRacesOnSeveralServers(t *testing.T) {
	runRaces(t, cmp.Or(*clusterSeeds, setting.Repeats(2000, 100)), newClusterWorld)
}

// These races detect each of these faults.
func TestWaitRacesOnSeveralServersFindFaults(t *testing.T) {
	findFaults(t, 400, newClusterWorld, map[string]faults{
		"nothing is done about lost frames":     {healsNothing: true},
		"an acknowledgement forgets its filter": {acksWholeInbox: true},
	})
}

// longTimeouts are time-outs in milliseconds, some longer than a lost frame takes to be noticed.
var longTimeouts = []time.Duration{0, 5, 40, 150, 500, 10_000, 10_000, 10_000}

// newClusterWorld returns a world of three servers, each with the waits of some entities, and a
// bus between them that is disturbed in most races.
func newClusterWorld(t *testing.T, broken faults) *raceWorld {
	w := &raceWorld{t: t, ledger: newLedger(shoaltest.OpenSQLite(t)), late: 4500 * time.Millisecond, timeouts: longTimeouts}
	w.ledger.faults = broken
	var wire clustertest.Wire
	var lines []*clustertest.End
	var buses []*shoaltest.Listeners
	for i := range 3 {
		name := fmt.Sprint("server", i)
		line := wire.Open(name)
		bus := clusterbus.New(clusterbus.Options{Transport: line, Name: name})
		t.Cleanup(bus.Stop)
		counted := &shoaltest.Listeners{Bus: &faultyBus{Bus: bus, faults: broken}}
		h := w.addServer(counted)
		nodes := clusterbus.Cluster(h.Nodes)
		if broken.healsNothing {
			nodes = staleCluster{nodes}
		}
		must(t, bus.Start(context.Background(), nodes))
		lines, buses = append(lines, line), append(buses, counted)
	}
	synctest.Wait()
	total := func() (n int64) {
		for _, b := range buses {
			n += b.Open()
		}
		return n
	}
	own := total() // those of the hubs themselves
	w.listens = func() int64 { return total() - own }
	w.waitsOn = func(id shoal.EntityID) *hub.Hub { return w.servers[int(id[0]-'a')%len(w.servers)] }
	w.disturb = func(rng *rand.Rand) func() { return disturb(rng, &wire, lines) }
	return w
}

// disturb harms a wire until calm is called.
func disturb(rng *rand.Rand, wire *clustertest.Wire, lines []*clustertest.End) (calm func()) {
	victim := pick(rng, lines)
	switch rng.IntN(5) {
	case 0:
		wire.SetFault(func(string, string, int) clustertest.Outcome { // some are lost
			if rng.IntN(3) == 0 {
				return clustertest.Lost
			}
			return clustertest.Delivered
		})
	case 1:
		wire.SetFault(func(string, string, int) clustertest.Outcome { // in any order, some twice
			return clustertest.Outcome{Times: 1 + rng.IntN(2), Later: time.Duration(rng.IntN(20)) * time.Millisecond}
		})
	case 2:
		victim.SetCut(true)
	case 3:
		end := time.AfterFunc(time.Duration(rng.IntN(3000))*time.Millisecond, func() { victim.SetCut(false) })
		victim.SetCut(true)
		return func() { end.Stop(); victim.SetCut(false) }
	}
	return func() {
		wire.SetFault(nil)
		victim.SetCut(false)
	}
}

// staleCluster is a cluster that forgets how far its sessions are, so that no wait reads when
// frames were lost.
type staleCluster struct{ clusterbus.Cluster }

// LastPlaces implements [clusterbus.Cluster].
func (staleCluster) LastPlaces(_ context.Context, sessions []shoal.SessionID) (map[shoal.SessionID]int64, error) {
	places := map[shoal.SessionID]int64{}
	for _, s := range sessions {
		places[s] = -1
	}
	return places, nil
}
