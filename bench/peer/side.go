// Package peer starts and drives the servers that the benchmarks compare Shoal with:
// minimal ones that do the work of the hot paths alone, and products.
package peer

import (
	"context"
	"net/http"
	"strconv"

	"github.com/shoal-dev/shoal/bench/driver"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/internal/load"
)

// Names of rows that several tables share.
const (
	FloorRow = "floor (net/http + SQLite)"
	SDKRow   = "MCP SDK for Go + SQLite"
)

// Side is a server with its clients, as the tables of pairs use it.
type Side interface {
	load.Pairs
	Name() string
	Process() *process.Process
	// Prepare creates what the given number of pairs needs.
	Prepare(ctx context.Context, pairs int) error
}

// Floor is the smallest server that does the work of the hot paths, with its clients.
type Floor struct {
	load.Wire
	server *process.Process
}

// NewFloor returns the clients of a floor that runs.
func NewFloor(p *process.Process) Floor { return Floor{load.NewWire(p.URL()), p} }

// Name implements [Side].
func (s Floor) Name() string { return FloorRow }

// Process implements [Side].
func (s Floor) Process() *process.Process { return s.server }

// Prepare implements [Side].
func (s Floor) Prepare(context.Context, int) error { return nil }

// Send implements [load.Pairs].
func (s Floor) Send(ctx context.Context, i int, text string, wake bool) error {
	path := "/send"
	if wake {
		path += "?to=" + strconv.Itoa(i)
	}
	_, _, err := s.Do(ctx, http.MethodPost, path, nil, []byte(text))
	return err
}

// Wait implements [load.Pairs].
func (s Floor) Wait(ctx context.Context, i int) ([]byte, error) {
	body, _, err := s.Do(ctx, http.MethodGet, "/wait?id="+strconv.Itoa(i), nil, nil)
	return body, err
}

// Peer is a server that Shoal is compared with: a row of the tables that compare pairs.
type Peer struct {
	Name string
	// Start starts the server. It returns a [process.MissingError] if the server is not
	// installed.
	Start func(context.Context) (Side, error)
}

// All returns the peers in the order of the tables. The first three do less than Shoal;
// the others are products.
func All(r *driver.Run) []Peer {
	connect := func(start func(context.Context, *driver.Run) (*process.Process, error), as func(*process.Process) Side) func(context.Context) (Side, error) {
		return func(ctx context.Context) (Side, error) {
			p, err := start(ctx, r)
			if err != nil {
				return nil, err
			}
			return as(p), nil
		}
	}
	return []Peer{
		{FloorRow, connect(StartFloor, func(p *process.Process) Side { return NewFloor(p) })},
		{SDKRow, connect(StartSDK, func(p *process.Process) Side { return NewSDK(p, SDKRow) })},
		{TSRow, connect(StartTS, func(p *process.Process) Side { return NewSDK(p, TSRow) })},
		{PostgresRow, func(ctx context.Context) (Side, error) { return StartPostgres(ctx, r) }},
		{natsRow, func(ctx context.Context) (Side, error) { return startNATSSide(ctx, r) }},
		{redisRow, func(ctx context.Context) (Side, error) { return startRedis(ctx, r) }},
	}
}

// StartFloor starts the floor with a new database.
func StartFloor(ctx context.Context, r *driver.Run) (*process.Process, error) {
	return process.Start(ctx, r.Self, "floor", "-addr", "ADDR", "-db", r.NewPath("floor")+".db")
}

// StartSDK starts the server on the plain MCP SDK with a new database.
func StartSDK(ctx context.Context, r *driver.Run) (*process.Process, error) {
	return process.Start(ctx, r.Self, "sdk", "-addr", "ADDR", "-db", r.NewPath("sdk")+".db")
}
