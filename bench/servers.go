package main

import (
	"context"

	"github.com/shoal-dev/shoal/bench/harness"
	"github.com/shoal-dev/shoal/bench/process"
)

// startShoal starts Shoal with a data directory. Unthrottled senders exceed the default
// rate limit of a caller, so the limit is raised.
func startShoal(ctx context.Context, r *harness.Run, data string) (*process.Process, error) {
	return process.Start(ctx, r.Shoal, "serve", "--max-calls-per-second", "1000000", "--addr", "ADDR", "--data", data)
}
