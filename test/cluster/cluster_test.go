// Package cluster tests several real servers on one real PostgreSQL, which share a bus: the
// notifications of PostgreSQL, or a real nats-server. Each line between a server and
// PostgreSQL or NATS leads through a fault proxy.
//
//	go test ./test/cluster                        # each journey, and a short course, on both buses
//	SHOAL_CLUSTER_FAULTS=40 SHOAL_FAULT_SEED=7 go test ./test/cluster -run '^TestCourse$'
//
// A journey is one story over several servers: a message is posted on A and wakes a wait on
// B. A course is a crowd of clients (internal/shoaltest/crowd) that reach all servers in
// turn, and faults that the seed chooses: kills, pauses, and lines to PostgreSQL, NATS or
// both that are cut, silent or slow. Times that depend on the machine are logged; those
// that docs/cluster.md promises are checked.
package cluster

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// What the servers promise (docs/reliability.md).
const (
	hintLimit     = 5 * time.Second  // until a message wakes a wait on another server, also without a bus
	revokeLimit   = 5 * time.Second  // until a revoked key reads nothing more on another server
	refuseLimit   = 5 * time.Second  // until a server without its database refuses a change
	takeoverLimit = 20 * time.Second // until another server executes the runs of one that is gone
)

// patience ends a test that has failed anyway.
const patience = 60 * time.Second

var shoalBinary *program.Shoal

func TestMain(m *testing.M) {
	code, err := program.WithShoal(func(built *program.Shoal) int { shoalBinary = built; return m.Run() })
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/cluster:", err)
		code = 1
	}
	os.Exit(code)
}

// buses are the values of --bus that are tested; a URL takes the place of nats.
var buses = []string{"postgres", "nats"}

// onEachBus runs a test on a new cluster of three servers for each bus.
func onEachBus(t *testing.T, test func(t *testing.T, c *cluster)) {
	t.Helper()
	for _, bus := range buses {
		t.Run(bus, func(t *testing.T) { test(t, newCluster(t, bus, 3)) })
	}
}
