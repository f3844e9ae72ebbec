// Package cluster measures servers that share a PostgreSQL database beside one server.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/shoal-dev/shoal/bench/driver"
	"github.com/shoal-dev/shoal/bench/peer"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/client"
)

// Bench measures in one run of the driver.
type Bench struct {
	*driver.Run
	// Postgres calls its function with a new PostgreSQL server and the URL of its database,
	// or not at all if PostgreSQL is not installed.
	Postgres func(ctx context.Context, do func(server *process.Process, url string) error) error
}

// Names of the buses, as rows and titles show them.
const (
	postgresBus = "PostgreSQL"
	natsBus     = "NATS"
)

// Metrics of several tables. The first two are parts of the CPU time of an operation.
const (
	databaseMicros = "database µs"
	brokerMicros   = "NATS µs"
	loadAverage    = "load average"
)

// engines are what the servers of a table share: PostgreSQL, with a database for each group of
// servers, and NATS.
type engines struct {
	*driver.Run
	database, broker *process.Process
	url              string // of PostgreSQL's first database
	groups           []*group
}

// withEngines calls do with new engines, and stops them and all servers that it has started. It
// fails if NATS is not installed.
func (b *Bench) withEngines(ctx context.Context, do func(*engines) error) error {
	return b.Postgres(ctx, func(database *process.Process, url string) error {
		broker, err := peer.StartCoreNATS(ctx, b.Run)
		if err != nil {
			return err
		}
		defer broker.Stop()
		e := &engines{Run: b.Run, database: database, broker: broker, url: url}
		defer e.stop()
		return do(e)
	})
}

func (e *engines) stop() {
	for _, g := range e.groups {
		for _, p := range g.servers {
			p.Stop()
		}
	}
}

// group is a number of servers that share a database.
type group struct {
	*engines
	servers []*process.Process
	admin   *client.Client
}

// start starts servers on a new database. bus is the value of --bus, or the name of a bus.
func (e *engines) start(ctx context.Context, servers int, bus string) (*group, error) {
	switch bus {
	case postgresBus:
		bus = "postgres"
	case natsBus:
		bus = "nats://" + e.broker.Addr
	}
	url, err := e.newDatabase(ctx)
	if err != nil {
		return nil, err
	}
	g := &group{engines: e}
	e.groups = append(e.groups, g)
	for n := range servers {
		p, err := e.StartShoal(ctx, e.NewPath("server"), "--database", url, "--bus", bus, "--node", fmt.Sprintf("n%d", n+1))
		if err != nil {
			return nil, err
		}
		g.servers = append(g.servers, p)
	}
	g.admin, _, err = driver.AdminClient(g.servers[0])
	return g, err
}

// newDatabase creates a database and returns its URL.
func (e *engines) newDatabase(ctx context.Context) (string, error) {
	c, err := pgx.Connect(ctx, e.url)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("group%d", len(e.groups))
	_, err = c.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
	return e.url[:strings.LastIndexByte(e.url, '/')+1] + name, errors.Join(err, c.Close(ctx))
}

// spent is CPU time in seconds.
type spent struct{ servers, database, broker float64 }

// spent returns the CPU time that the servers and the engines have used so far. That of the
// engines includes what other groups used.
func (g *group) spent() (s spent) {
	for _, p := range g.servers {
		s.servers += process.CPU(p.PID())
	}
	s.database, s.broker = process.CPU(g.database.PID()), process.CPU(g.broker.PID())
	return s
}

// addTo adds what a number of operations have used since before to a row.
func (s spent) addTo(into *report.Row, before spent, operations int) {
	each := float64(operations)
	database, broker := s.database-before.database, s.broker-before.broker
	into.AddCPU(s.servers-before.servers+database+broker, each)
	into.Add(databaseMicros, database*1e6/each)
	into.Add(brokerMicros, broker*1e6/each)
	into.Add(loadAverage, process.LoadAverage())
}
