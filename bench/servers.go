package main

import (
	"context"
	"errors"

	"github.com/shoal-dev/shoal/bench/harness"
	"github.com/shoal-dev/shoal/bench/peer"
	"github.com/shoal-dev/shoal/bench/process"
)

// startShoal starts Shoal with a data directory and more arguments. Unthrottled senders exceed
// the default rate limit of a caller, so the limit is raised.
func startShoal(ctx context.Context, r *harness.Run, data string, more ...string) (*process.Process, error) {
	args := append([]string{"serve", "--max-calls-per-second", "1000000", "--addr", "ADDR"}, more...)
	return process.Start(ctx, r.Shoal, append(args, "--data", data)...) // adminClient expects data to be the last
}

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
