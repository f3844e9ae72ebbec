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

// slack is how many times what the servers promise (docs/reliability.md) a test allows. A
// machine that runs other tests, too, may be several times slower than one that serves; what
// polls or heals does so within seconds, and what has stopped does so for good.
const slack = 4

// What the servers promise, with slack. The tests log what it took.
const (
	hintLimit     = slack * 5 * time.Second  // until a message wakes a wait on another server, also without a bus
	revokeLimit   = slack * 5 * time.Second  // until a revoked key reads nothing more on another server
	refuseLimit   = slack * 5 * time.Second  // until a server without its database refuses a change
	leaveLimit    = slack * 8 * time.Second  // until the waits of a server without its database end: 5 s and a check each 2 s
	takeoverLimit = slack * 30 * time.Second // until another server executes the runs of one that is gone
	streamLimit   = slack * time.Second      // until a stream moves again after its bus or database is back
)

// patience ends a test that has failed anyway. It is longer than every limit.
const patience = 3 * time.Minute

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

// journeys are stories over several servers. They share the servers of a bus, and use
// entities and spaces of their own; each leaves all servers running and all lines whole.
var journeys = []struct {
	name string
	play func(t *testing.T, c *cluster)
}{
	{"a mention wakes a wait on another server", wakesAcrossServers},
	{"a revoked key ends its calls on another server", revocationCrossesServers},
	{"an OAuth client uses several servers", oauthCrossesServers},
	{"without the bus, mentions arrive by polling", mentionsWithoutBus},
	{"without the bus, streams of runs continue", streamsWithoutBus},
	{"the bus is restarted", busRestarts},
	{"a server loses its database", serverWithoutDatabase},
	{"the database is restarted", databaseRestarts},
	{"a paused server writes nothing of a run that it has lost", pausedServerLosesRun},
	{"a run crosses servers, one of which is killed", runCrossesServers},
	{"a program's run crosses servers, one of which is killed", programCrossesServers},
}

func TestJourneys(t *testing.T) {
	for _, bus := range buses {
		t.Run(bus, func(t *testing.T) {
			c := newCluster(t, bus, 3)
			for _, j := range journeys {
				t.Run(j.name, func(t *testing.T) { j.play(t, c) })
			}
		})
	}
}
