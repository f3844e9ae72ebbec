package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/faultproxy"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
)

// fault is one fault of a course. end ends it and returns when the cluster is whole again.
type fault struct {
	name   string
	lasts  time.Duration
	strike func(t *testing.T)
	end    func(t *testing.T)
}

// String returns the name and the duration.
func (f fault) String() string {
	return fmt.Sprintf("%s (%v)", f.name, f.lasts.Round(time.Millisecond))
}

// choose draws the next fault: each kind once before any comes again, on a random server.
func (c *course) choose() fault {
	n := c.nodes[c.dice.IntN(len(c.nodes))]
	all := append(c.ofServer(n), c.ofDatabase(n)...)
	if c.nats != nil {
		all = append(all, c.ofBroker(n)...)
	}
	if len(c.next) == 0 {
		c.next = c.dice.Perm(len(all))
	}
	f := all[c.next[0]]
	c.next = c.next[1:]
	f.lasts = time.Duration(c.dice.Int64N(int64(maxAway)))
	return f
}

func (c *course) ofServer(n *node) []fault {
	return []fault{
		{
			name: "a server is killed", strike: func(*testing.T) { n.Kill() },
			end: func(t *testing.T) { t.Helper(); n.Start(t) },
		},
		{name: "a server is paused", strike: func(*testing.T) { n.pause() }, end: func(*testing.T) { n.resume() }},
		{name: "a server loses the bus", strike: func(*testing.T) { n.cutBus() }, end: func(*testing.T) { n.healBus() }},
		{
			name: "all servers lose the bus", strike: func(*testing.T) { c.each((*node).cutBus) },
			end: func(*testing.T) { c.each((*node).healBus) },
		},
		{
			name: "a server loses the bus and the database", strike: func(*testing.T) { n.cutBus(); n.database.Cut() },
			end: func(t *testing.T) { t.Helper(); n.healBus(); n.reconnect(t) },
		},
	}
}

func (c *course) ofDatabase(n *node) []fault {
	var how []fault
	for _, end := range []postgrestest.End{postgrestest.Fast, postgrestest.Immediate} {
		how = append(how, fault{
			name:   fmt.Sprintf("PostgreSQL is restarted (%s)", end),
			strike: func(t *testing.T) { t.Helper(); c.postgres.Stop(t, end) },
			end:    func(t *testing.T) { t.Helper(); c.postgres.Start(t); n.reconnect(t) },
		})
	}
	return append(
		how,
		fault{name: "a server loses its database", strike: func(*testing.T) { n.database.Cut() }, end: n.reconnect},
		fault{name: "the line to the database is silent", strike: func(*testing.T) { n.database.Harm(silent, silent) }, end: n.reconnect},
		fault{name: "the line to the database is slow", strike: func(*testing.T) { n.database.Harm(slow, slow) }, end: n.reconnect},
	)
}

func (c *course) ofBroker(n *node) []fault {
	return []fault{
		{name: "nats-server is restarted", strike: func(*testing.T) { c.nats.Kill() }, end: func(t *testing.T) { t.Helper(); c.nats.Start(t) }},
		{name: "the line to NATS is silent", strike: func(*testing.T) { n.broker.Harm(silent, silent) }, end: func(*testing.T) { n.broker.Heal() }},
		{name: "the line to NATS is slow", strike: func(*testing.T) { n.broker.Harm(slow, slow) }, end: func(*testing.T) { n.broker.Heal() }},
		{name: "nothing reaches a server from NATS", strike: func(*testing.T) { n.broker.Harm(faultproxy.Fault{}, silent) }, end: func(*testing.T) { n.broker.Heal() }},
	}
}

// slow is the fault of a line to a place far away.
var slow = faultproxy.Fault{Delay: 20 * time.Millisecond}

// reconnect makes the line of a server to its database whole, and returns when the server is
// ready.
func (n *node) reconnect(t *testing.T) {
	t.Helper()
	n.database.Heal()
	until(t, n.name+" is ready again", patience, func() bool { return n.Ready(t.Context()) })
}
