package main

import (
	"context"
	"errors"

	"github.com/shoal-dev/shoal/bench/peer"
	"github.com/shoal-dev/shoal/bench/process"
)

// withPostgres calls do with a new PostgreSQL server and the URL of its database. If PostgreSQL
// is not installed, it logs how to install it.
func (r *run) withPostgres(ctx context.Context, do func(server *process.Process, url string) error) error {
	side, err := peer.StartPostgres(ctx, r.Run)
	if errors.Is(err, peer.ErrNoPostgres) {
		r.Log.Print(err)
		return nil
	}
	if err != nil {
		return err
	}
	defer side.Process().Stop()
	if err := side.Prepare(ctx, 1); err != nil { // waits until it accepts connections
		return err
	}
	return do(side.Process(), peer.PostgresURL(side.Process()))
}
