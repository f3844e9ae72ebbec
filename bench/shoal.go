package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/load"
)

// adminClient returns a client with the admin key from the server's data directory, and
// that key.
func adminClient(p *process) (*client.Client, string, error) {
	data := p.cmd.Args[len(p.cmd.Args)-1]
	key, err := os.ReadFile(filepath.Join(data, "admin.key"))
	if err != nil {
		return nil, "", err
	}
	secret := strings.TrimSpace(string(key))
	admin, err := client.New(client.Options{URL: p.url(), Key: secret})
	return admin, secret, err
}

// newWorld creates a number of agents in the default session.
func newWorld(ctx context.Context, p *process, agents int) (*load.World, error) {
	admin, _, err := adminClient(p)
	if err != nil {
		return nil, err
	}
	return load.NewWorld(ctx, admin, shoal.DefaultSession, agents)
}

const sessionPath = "/v1/sessions/default"

// restSide is Shoal over REST.
type restSide struct {
	*load.REST
	server *process
}

func (s *restSide) name() string      { return restRow }
func (s *restSide) process() *process { return s.server }

func (s *restSide) open(ctx context.Context, pairs int) error {
	w, err := newWorld(ctx, s.server, 2*pairs)
	if err == nil {
		s.REST, err = load.NewREST(ctx, load.NewWire(s.server.url()), w, pairs)
	}
	return err
}

// toolSide is Shoal over MCP.
type toolSide struct {
	*load.MCP
	server *process
}

func (s *toolSide) name() string      { return mcpRow }
func (s *toolSide) process() *process { return s.server }

func (s *toolSide) open(ctx context.Context, pairs int) error {
	w, err := newWorld(ctx, s.server, 2*pairs)
	if err == nil {
		err = w.Pair(ctx, pairs)
	}
	if err == nil {
		s.MCP, err = load.NewMCP(ctx, load.NewWire(s.server.url()), w, pairs)
	}
	return err
}
