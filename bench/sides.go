package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal/bench/peer"
	"github.com/shoal-dev/shoal/bench/process"
)

// Names of Shoal's rows.
const (
	restRow = "Shoal REST"
	mcpRow  = "Shoal MCP"
)

// peers returns the servers of the tables that compare pairs: Shoal's transports after
// the three minimal ones.
func (r *run) peers() []peer.Peer {
	return slices.Insert(
		peer.All(r.Run), 3,
		peer.Peer{Name: restRow, Start: func(ctx context.Context) (peer.Side, error) {
			p, err := r.startNewShoal(ctx)
			return &restSide{server: p}, err
		}},
		peer.Peer{Name: mcpRow, Start: func(ctx context.Context) (peer.Side, error) {
			p, err := r.startNewShoal(ctx)
			return &toolSide{server: p}, err
		}},
	)
}

// sides starts the servers that a table compares and prepares them for the given number
// of pairs. Servers that are not installed are left out. done stops the others.
func (r *run) sides(ctx context.Context, pairs int) (all []peer.Side, done func(), err error) {
	done = func() {
		for _, s := range all {
			s.Process().Stop()
		}
	}
	for _, p := range r.peers() {
		if !r.Wants(p.Name) {
			continue
		}
		s, err := p.Start(ctx)
		var missing process.MissingError
		if errors.As(err, &missing) {
			r.Log.Print(err)
			continue
		}
		if err == nil {
			all = append(all, s)
			err = s.Prepare(ctx, pairs)
		}
		if err != nil {
			done()
			return nil, nil, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return all, done, nil
}

func (r *run) startNewShoal(ctx context.Context) (*process.Process, error) {
	return r.StartShoal(ctx, r.NewPath("shoal"))
}
