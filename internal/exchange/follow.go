package exchange

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/feed"
)

// State is how far the runs of an exchange are.
type State int

// The states of an exchange.
const (
	// Active means that a run goes on, or that all wait for something else than the caller.
	Active State = iota
	// Waits means that no run goes on and that one waits for the caller: for a reply, or for the
	// answer to a pending action.
	Waits
	// Ended means that all runs have ended.
	Ended
)

// Begin shows the messages of the runs as they were when the exchange was opened, and what came
// with that.
func (x *Exchange) Begin(v View) error {
	x.beat = time.Now().Add(x.Heartbeat)
	x.catchUp(v, x.Snapshot)
	_, err := x.takeAll(v, x.rest)
	return err
}

// Next waits for the next events and shows them. moved says that the state may have changed,
// beat that a heartbeat has passed since the last one: the caller then checks whether the client
// may go on. It fails when ctx ends, and when the caller may no longer read the space.
func (x *Exchange) Next(ctx context.Context, v View) (moved, beat bool, err error) {
	events, err := x.follower.Next(ctx, x.beat)
	if errors.Is(err, shoal.Busy) {
		err = x.reopen(ctx)
	}
	if err != nil {
		return false, false, err
	}
	if moved, err = x.takeAll(v, events); err != nil {
		return moved, false, err
	}
	if beat = !time.Now().Before(x.beat); beat {
		x.beat = time.Now().Add(x.Heartbeat)
		moved = x.doubtForeign() || moved
	}
	return moved, beat, nil
}

// doubtForeign has the states of runs read again that a message of another space has started: that space alone gets
// the events of their ends. It reports whether the exchange shows such runs.
func (x *Exchange) doubtForeign() bool {
	for _, r := range x.Runs {
		if r.Trigger.SpaceID != x.Space && !r.Status.Ended() {
			x.stale = true
			return true
		}
	}
	return false
}

// reopen goes on where a follower ended that was too slow.
func (x *Exchange) reopen(ctx context.Context) error {
	x.follower.Close()
	f, err := x.Hub.Events.Follow(ctx, x.Who, feed.FollowRequest{Session: x.Session, Space: x.Space, After: x.cursor})
	if err == nil {
		x.follower = f
	}
	return err
}

// State returns how far the runs are, and what waits for the caller: what they wait for, and of the
// rest of the space what also names.
func (x *Exchange) State(ctx context.Context, also func(shoal.PendingAction) bool) (State, []shoal.PendingAction, error) {
	active, suspended, replies := false, false, false
	for _, r := range x.Runs {
		active = active || !r.Status.Ended() && !r.Status.Suspended()
		suspended = suspended || r.Status.Suspended()
		waits, err := x.waitsForReply(ctx, r.Run)
		if err != nil {
			return Active, nil, err
		}
		replies = replies || waits
	}
	switch {
	case active:
		return Active, nil, nil
	case !suspended && len(x.Runs) > 0:
		return Ended, nil, nil
	}
	all, err := x.Waiting(ctx)
	if err != nil {
		return Active, nil, err
	}
	var waiting []shoal.PendingAction
	for _, p := range all {
		if x.Runs[p.RunID] != nil || also(p) {
			waiting = append(waiting, p)
		}
	}
	switch {
	case len(waiting) > 0 || replies:
		return Waits, waiting, nil
	case suspended:
		return Active, nil, nil
	}
	return Ended, nil, nil
}

// agree makes the state of the runs that was read agree with what is shown: a run can have ended, or begun to
// wait, before the events of its messages were read.
func (x *Exchange) agree(ctx context.Context, v View) error {
	for x.stale || x.ahead {
		if err := x.refresh(ctx); err != nil {
			return err
		}
		x.ahead = false
		if err := x.showCommitted(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// refresh reads the runs again when their events were skipped.
func (x *Exchange) refresh(ctx context.Context) error {
	if !x.stale {
		return nil
	}
	x.stale = false
	for id, r := range x.Runs {
		run, err := x.Hub.Runs.Get(ctx, x.Who, x.Session, id)
		if err != nil {
			return err
		}
		r.Run = run
	}
	return nil
}

// showCommitted shows everything that is committed now: a new follower begins with what this one has missed.
func (x *Exchange) showCommitted(ctx context.Context, v View) error {
	if err := x.reopen(ctx); err != nil {
		return err
	}
	for {
		events, err := x.follower.Next(ctx, time.Now())
		if err != nil || len(events) == 0 {
			return err
		}
		if _, err := x.takeAll(v, events); err != nil {
			return err
		}
	}
}
