package aguiapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/agui"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/feed"
)

// show streams what follows from what was asked until there is nothing more to
// wait for.
func (x *exchange) show(r *http.Request) error {
	ctx := r.Context()
	x.view.begin()
	for _, i := range x.ignored {
		x.view.emit(i.event())
	}
	if len(x.in.Messages) == 0 && len(x.in.Resume) == 0 {
		x.view.emit(agui.Event{Type: agui.MessagesSnapshot, Messages: timeline(x.snapshot)})
	}
	if x.posted != nil && len(x.runs) == 0 {
		x.stop(nobody(x.posted.SkippedAgents))
		return x.out.write(x.view.take())
	}
	x.catchUp(x.snapshot)
	if _, err := x.takeAll(x.rest); err != nil {
		return err
	}
	if done, err := x.over(ctx); done || err != nil {
		return err
	}
	return x.follow(r)
}

// nobody says why no agent acts.
func nobody(skipped []shoal.EntityID) *shoal.Error {
	if len(skipped) > 0 {
		return shoal.E("aguiapi", shoal.Busy, "The message is in the space, but "+string(skipped[0])+" is running and takes no second message. Run again with a new message when it is done.")
	}
	return shoal.E("aguiapi", shoal.NotFound, "The message is in the space, but no hosted agent acts on it. Add one to the space; where there are several, set the space's admin agent or mention one in forwardedProps.mentions. A message of an agent acts only on whom it mentions.")
}

// follow shows events as they come.
func (x *exchange) follow(r *http.Request) error {
	ctx := r.Context()
	beat := time.Now().Add(x.Heartbeat)
	for {
		events, err := x.follower.Next(ctx, beat)
		if errors.Is(err, shoal.Busy) {
			err = x.reopen(ctx)
		}
		if err != nil {
			return err
		}
		moved, err := x.takeAll(events)
		if err != nil {
			return err
		}
		if err := x.out.write(x.view.take()); err != nil {
			return err
		}
		if moved {
			if done, err := x.over(ctx); done || err != nil {
				return err
			}
		}
		if !time.Now().Before(beat) {
			beat = time.Now().Add(x.Heartbeat)
			if err := x.mayGoOn(r); err != nil {
				return err
			}
			if err := x.out.beat(); err != nil {
				return err
			}
		}
	}
}

// reopen goes on where a follower ended that was too slow.
func (x *exchange) reopen(ctx context.Context) error {
	x.follower.Close()
	f, err := x.Hub.Events.Follow(ctx, x.who, feed.FollowRequest{Session: x.session, Space: x.space, After: x.cursor})
	if err == nil {
		x.follower = f
	}
	return err
}

// mayGoOn checks the key again.
func (x *exchange) mayGoOn(r *http.Request) error {
	who, err := x.Auth.Bearer(r)
	if err == nil && who != x.who {
		err = shoal.E("aguiapi", shoal.Unauthenticated, "The key has changed.")
	}
	return err
}

// takeAll takes events. moved says that something may be over.
func (x *exchange) takeAll(events []shoal.Event) (moved bool, err error) {
	for _, e := range events {
		if e.Cursor != "" {
			x.cursor = e.Cursor
		}
		moves, err := x.take(e)
		if err != nil {
			return moved, err
		}
		moved = moved || moves
	}
	return moved, nil
}

// catchUp shows messages of the runs as a snapshot has them.
func (x *exchange) catchUp(s shoal.SnapshotData) {
	x.cursor = s.Cursor
	for _, m := range s.Messages {
		if run, ok := x.own(m); ok {
			x.view.message(m, run)
		}
	}
}

// own reports whether the message is of a run that is shown.
func (x *exchange) own(m shoal.Message) (shoal.RunID, bool) {
	if m.RunID == nil || x.runs[*m.RunID] == nil {
		return "", false
	}
	x.messages[m.ID] = *m.RunID
	return *m.RunID, true
}

// over ends the stream when no run is on its way any more: all have ended, or wait
// for the caller.
func (x *exchange) over(ctx context.Context) (bool, error) {
	if err := x.refresh(ctx); err != nil {
		return false, err
	}
	var waiting []shoal.PendingAction
	active, suspended := false, false
	for _, f := range x.runs {
		active = active || !f.Status.Ended() && !f.Status.Suspended()
		suspended = suspended || f.Status.Suspended()
	}
	if active {
		return false, x.out.write(x.view.take())
	}
	if suspended || len(x.runs) == 0 {
		all, err := x.waiting(ctx)
		if err != nil {
			return false, err
		}
		waiting = slices.DeleteFunc(all, func(p shoal.PendingAction) bool {
			return x.runs[p.RunID] == nil && !x.view.had.calls[wireID(p.RunID, p.ToolCallID)]
		})
		if suspended && len(waiting) == 0 {
			return false, x.out.write(x.view.take())
		}
	}
	if err := x.refusedTools(ctx); err != nil {
		return false, err
	}
	x.offer(waiting)
	x.finish(waiting)
	return true, x.out.write(x.view.take())
}

// refresh reads the runs again when their events were skipped.
func (x *exchange) refresh(ctx context.Context) error {
	if !x.stale {
		return nil
	}
	x.stale = false
	for id, f := range x.runs {
		run, err := x.Hub.Runs.Get(ctx, x.who, x.session, id)
		if err != nil {
			return err
		}
		f.Run = run
	}
	return nil
}

// finish closes the run of the protocol.
func (x *exchange) finish(waiting []shoal.PendingAction) {
	x.view.closeAll()
	canceled := len(x.runs) > 0
	for _, f := range x.runs {
		if f.Status == shoal.RunFailed && !f.past {
			x.view.emit(failed(f.Run))
			return
		}
		canceled = canceled && f.Status == shoal.RunCanceled
	}
	end := agui.Event{Type: agui.RunFinished, ThreadID: x.in.ThreadID, RunID: x.in.RunID, Outcome: outcome(waiting)}
	if canceled {
		end.Outcome = &agui.Outcome{Type: agui.OutcomeCancelled}
	}
	x.view.emit(end)
}

func failed(run shoal.Run) agui.Event {
	e := agui.Event{Type: agui.RunError, Message: "The agent's run failed.", Code: string(shoal.Internal)}
	if run.Error != nil {
		e.Message, e.Code = run.Error.Message, run.Error.Code
	}
	return e
}

// stop closes the run of the protocol with an error.
func (x *exchange) stop(err *shoal.Error) {
	x.view.closeAll()
	x.view.emit(agui.Event{Type: agui.RunError, Message: err.Msg, Code: string(err.Kind)})
}

// fail ends a stream that cannot continue, with an error event.
func (x *exchange) fail(err error) {
	reported := shoal.E("aguiapi", shoal.Internal, "Something went wrong on the server.")
	var e *shoal.Error
	switch {
	case errors.Is(err, core.ErrStopping):
		reported = shoal.E("aguiapi", shoal.Busy, "The server is stopping. The agent goes on when it is back: send the same run again to see its answer.")
	case errors.As(err, &e) && e.Kind != shoal.Internal:
		reported = e
	}
	x.stop(reported)
	_ = x.out.write(x.view.take()) // an error means that the client has disconnected
}

// decode reads the data of an event, which is the hub's own.
func decode[T any](e shoal.Event) (out T, err error) {
	if err = json.Unmarshal(e.Data, &out); err != nil {
		err = &shoal.Error{Op: "aguiapi", Kind: shoal.Internal, Msg: "an event of type " + string(e.Type) + " cannot be read", Err: err}
	}
	return out, err
}
