package spaces

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// AwaitRuns waits until find returns no run, for at most runs.CancelWithin, and returns the runs
// that are left. It reads again when one of them changes, and on notifications of other topics.
func AwaitRuns(ctx context.Context, c *core.Core, op string, session shoal.SessionID, find func(storage.Tx) ([]shoal.RunID, error), other ...string) (left []shoal.RunID, err error) {
	sub := c.Bus.Subscribe()
	defer sub.Close()
	sub.Add(other...)
	timer := time.NewTimer(runs.CancelWithin)
	defer timer.Stop()
	for known := map[shoal.RunID]bool{}; ; {
		err := c.View(ctx, op, func(tx storage.Tx) (err error) {
			left, err = find(tx)
			return err
		})
		if err != nil || len(left) == 0 {
			return left, err
		}
		missed := false
		for _, run := range left {
			if !known[run] {
				known[run], missed = true, true // it may have ended before the subscription
				sub.Add(core.RunTopic(session, run))
			}
		}
		if missed {
			continue
		}
		select {
		case <-sub.Ready():
			sub.Take()
		case <-timer.C:
			return left, nil
		case <-c.Ctx.Done():
			return left, core.ErrStopping
		case <-ctx.Done():
			return left, context.Cause(ctx)
		}
	}
}
