package aguiapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/agui"
	"github.com/shoal-dev/shoal/internal/eventstream"
	"github.com/shoal-dev/shoal/internal/exchange"
	"github.com/shoal-dev/shoal/internal/hub/core"
)

// show streams what follows from what was asked until there is nothing more to
// wait for.
func (x *protocolRun) show(r *http.Request) error {
	ctx := r.Context()
	x.view.begin()
	for _, i := range x.ignored {
		x.view.emit(i.event())
	}
	if len(x.in.Messages) == 0 && len(x.in.Resume) == 0 {
		x.view.emit(agui.Event{Type: agui.MessagesSnapshot, Messages: timeline(x.Snapshot)})
	}
	if x.Posted != nil && len(x.Runs) == 0 {
		x.stop(x.Nobody("mention one in forwardedProps.mentions"))
		return eventstream.Write(x.out, x.view.take())
	}
	if err := x.Begin(x); err != nil {
		return err
	}
	if done, err := x.over(ctx); done || err != nil {
		return err
	}
	return x.follow(r)
}

// follow shows events as they come.
func (x *protocolRun) follow(r *http.Request) error {
	ctx := r.Context()
	for {
		moved, beat, err := x.Next(ctx, x)
		if err != nil {
			return err
		}
		if err := eventstream.Write(x.out, x.view.take()); err != nil {
			return err
		}
		if moved {
			if done, err := x.over(ctx); done || err != nil {
				return err
			}
		}
		if beat {
			if err := x.api.CheckCaller(r, x.Who); err != nil {
				return err
			}
			if err := x.out.Beat(); err != nil {
				return err
			}
		}
	}
}

// over ends the stream when no run is on its way any more: all have ended, or wait
// for the caller.
func (x *protocolRun) over(ctx context.Context) (bool, error) {
	state, waiting, err := x.State(ctx, func(p shoal.PendingAction) bool { return x.view.had.calls[exchange.CallID(p.RunID, p.ToolCallID)] })
	if err != nil {
		return false, err
	}
	if state == exchange.Active {
		return false, eventstream.Write(x.out, x.view.take())
	}
	if err := x.refusedTools(ctx); err != nil {
		return false, err
	}
	x.offer(waiting)
	x.finish(waiting)
	return true, eventstream.Write(x.out, x.view.take())
}

// finish closes the run of the protocol.
func (x *protocolRun) finish(waiting []shoal.PendingAction) {
	x.view.closeAll()
	canceled := len(x.Runs) > 0
	for _, f := range x.Runs {
		if f.Status == shoal.RunFailed && !f.Past {
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
func (x *protocolRun) stop(err *shoal.Error) {
	x.view.closeAll()
	x.view.emit(agui.Event{Type: agui.RunError, Message: err.Msg, Code: string(err.Kind)})
}

// fail ends a stream that cannot continue, with an error event.
func (x *protocolRun) fail(err error) {
	reported := shoal.E("aguiapi", shoal.Internal, "Something went wrong on the server.")
	var e *shoal.Error
	switch {
	case errors.Is(err, core.ErrStopping):
		reported = shoal.E("aguiapi", shoal.Busy, "The server is stopping. The agent goes on when it is back: send the same run again to see its answer.")
	case errors.As(err, &e) && e.Kind != shoal.Internal:
		reported = e
	}
	x.stop(reported)
	_ = eventstream.Write(x.out, x.view.take()) // an error means that the client has disconnected
}
