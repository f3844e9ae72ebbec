package main

import (
	"context"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/bench/driver"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/internal/load"
)

// newWorld creates a number of agents in the default session.
func newWorld(ctx context.Context, p *process.Process, agents int) (*load.World, error) {
	admin, _, err := driver.AdminClient(p)
	if err != nil {
		return nil, err
	}
	return load.NewWorld(ctx, admin, shoal.DefaultSession, agents)
}

const sessionPath = "/v1/sessions/default"

// restSide is Shoal over REST.
type restSide struct {
	*load.REST
	server *process.Process
}

func (s *restSide) Name() string              { return restRow }
func (s *restSide) Process() *process.Process { return s.server }

func (s *restSide) Prepare(ctx context.Context, pairs int) error {
	w, err := newWorld(ctx, s.server, 2*pairs)
	if err == nil {
		s.REST, err = load.NewREST(ctx, load.NewWire(s.server.URL()), w, pairs)
	}
	return err
}

// toolSide is Shoal over MCP.
type toolSide struct {
	*load.MCP
	server *process.Process
}

func (s *toolSide) Name() string              { return mcpRow }
func (s *toolSide) Process() *process.Process { return s.server }

func (s *toolSide) Prepare(ctx context.Context, pairs int) error {
	w, err := newWorld(ctx, s.server, 2*pairs)
	if err == nil {
		err = w.Pair(ctx, pairs)
	}
	if err == nil {
		s.MCP, err = load.NewMCP(ctx, load.NewWire(s.server.URL()), w, pairs)
	}
	return err
}
