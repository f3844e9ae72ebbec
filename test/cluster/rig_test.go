package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/shoaltest/faultproxy"
	"github.com/shoal-dev/shoal/internal/shoaltest/natstest"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// cluster is a number of servers on one database.
type cluster struct {
	postgres *postgrestest.Server
	standby  *standby         // nil if PostgreSQL has none
	nats     *natstest.Server // nil with the bus postgres
	nodes    []*node
	key      string // of an admin
	balancer *balancer
}

// node is one server, with lines of its own to PostgreSQL and NATS.
type node struct {
	*program.Server
	name     string
	key      string // of an admin
	database *faultproxy.Proxy
	standby  *faultproxy.Proxy // nil if PostgreSQL has no standby
	broker   *faultproxy.Proxy // nil with the bus postgres
	channel  string            // of the bus postgres
}

// newCluster starts a number of servers.
func newCluster(t *testing.T, bus string, n int) *cluster {
	t.Helper()
	c := &cluster{postgres: postgrestest.NewServer(t)}
	c.start(t, bus, n)
	return c
}

// start starts a number of servers on the database.
func (c *cluster) start(t *testing.T, bus string, n int) {
	t.Helper()
	if bus == "nats" {
		c.nats = natstest.New(t)
	}
	for i := range n {
		c.add(t, string(rune('a'+i)))
	}
	key, err := os.ReadFile(filepath.Join(c.nodes[0].Data, "admin.key"))
	if err != nil {
		t.Fatal(err)
	}
	c.key = strings.TrimSpace(string(key))
	for _, n := range c.nodes {
		n.key = c.key
	}
	if c.nats == nil {
		c.findChannel(t)
	}
	c.balancer = newBalancer(c.nodes)
}

// add starts one more server.
func (c *cluster) add(t *testing.T, name string) {
	t.Helper()
	n := &node{Server: program.NewServer(t, shoalBinary.Path()), name: name, database: faultproxy.New(t, "unix", c.postgres.Socket)}
	bus := "postgres"
	if c.nats != nil {
		n.broker = faultproxy.New(t, "tcp", c.nats.Addr)
		bus = "nats://" + n.broker.Addr()
	}
	n.Args = []string{"--bus", bus, "--node", name}
	hosts, primary := n.database.Addr(), ""
	if c.standby != nil {
		n.standby = faultproxy.New(t, "unix", c.standby.Socket)
		hosts, primary = hosts+","+n.standby.Addr(), "&target_session_attrs=read-write"
	}
	// The environment keeps the URL out of the list of processes, as docs/cluster.md advises.
	n.Env = []string{"SHOAL_DATABASE=postgres://postgres@" + hosts + "/shoal?sslmode=disable" + primary}
	n.Start(t)
	c.nodes = append(c.nodes, n)
}

// client returns a client of a server for a key.
func (n *node) client(t *testing.T, key string) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{URL: n.URL(), Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// session returns the session default of a server for a key.
func (n *node) session(t *testing.T, key string) *client.Session {
	t.Helper()
	return n.client(t, key).Session(shoal.DefaultSession)
}

// admin returns the admin's session of the nth server.
func (c *cluster) admin(t *testing.T, n int) *client.Session {
	t.Helper()
	return c.nodes[n].session(t, c.key)
}

// client returns the client of an admin that reaches all servers in turn.
func (c *cluster) client(t *testing.T) *client.Client {
	t.Helper()
	out, err := client.New(client.Options{URL: "http://" + balanced, Key: c.key, HTTP: c.balancer.client()})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// newKey creates a key for an entity, which creates the entity.
func (c *cluster) newKey(t *testing.T, id shoal.EntityID, kind shoal.EntityKind) shoal.Key {
	t.Helper()
	made, err := c.client(t).CreateKey(t.Context(), shoal.NewKey{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: id, Kind: kind})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// space creates a space with members.
func (c *cluster) space(t *testing.T, id shoal.SpaceID, members ...shoal.EntityID) {
	t.Helper()
	if _, err := c.admin(t, 0).CreateSpace(t.Context(), shoal.NewSpace{ID: id, Name: string(id), Members: members}); err != nil {
		t.Fatal(err)
	}
}

// pause stops a server, as if its machine were frozen.
func (n *node) pause() { n.Signal(syscall.SIGSTOP) }

// resume continues a stopped server.
func (n *node) resume() { n.Signal(syscall.SIGCONT) }

// silent is the fault of a line that carries nothing and does not break.
var silent = faultproxy.Fault{Silent: true}

// cutBus cuts a server from the bus. With the bus postgres, the connections of the bus are
// recognized by what they carry: the name of their application, or of their channel.
func (n *node) cutBus() {
	if n.broker != nil {
		n.broker.Cut()
		return
	}
	channel := faultproxy.On([]byte(n.channel))
	n.database.Harm(faultproxy.Fault{Gate: either(faultproxy.On([]byte("shoal bus")), channel)}, faultproxy.Fault{Gate: channel})
}

// findChannel reads the name of the channel from the statement with which servers listen.
func (c *cluster) findChannel(t *testing.T) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), c.postgres.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }() // only read
	var statement string
	until(t, "a server listens", patience, func() bool {
		return db.QueryRow(t.Context(), `SELECT query FROM pg_stat_activity WHERE application_name = 'shoal bus' AND query LIKE 'LISTEN %' LIMIT 1`).Scan(&statement) == nil
	})
	for _, n := range c.nodes {
		n.channel = strings.Trim(strings.TrimPrefix(statement, "LISTEN "), `"`)
	}
}

// healBus ends the faults of the line between a server and the bus.
func (n *node) healBus() {
	if n.broker != nil {
		n.broker.Heal()
		return
	}
	n.database.Heal()
}

// either is the gate that resets a connection when one of two does.
func either(first, second func() faultproxy.Gate) func() faultproxy.Gate {
	return func() faultproxy.Gate {
		a, b := first(), second()
		return func(piece []byte) (int, bool) {
			pass, cut := a(piece)
			passB, cutB := b(piece)
			if cutB && (!cut || passB < pass) {
				return passB, true
			}
			return pass, cut
		}
	}
}

// until waits until a condition holds.
func until(t *testing.T, what string, limit time.Duration, holds func() bool) {
	t.Helper()
	began := time.Now()
	for !holds() {
		if time.Since(began) > limit {
			t.Fatalf("%s: not within %v", what, limit)
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatalf("%s: the test is over", what)
		}
	}
}

// since returns the rounded time since a moment, for a log.
func since(began time.Time) string {
	return fmt.Sprint(time.Since(began).Round(100 * time.Microsecond))
}

// alive reports whether a server has been started and has not ended.
func (n *node) alive() bool {
	select {
	case <-n.Ended:
		return false
	default:
		return true
	}
}
