package aguiapi

import (
	"context"
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/agui"
	"github.com/shoal-dev/shoal/internal/eventstream"
	"github.com/shoal-dev/shoal/internal/exchange"
	"github.com/shoal-dev/shoal/internal/hub/core"
)

// show streams what follows from what was asked until there is nothing more to
// wait for.
func (x *protocolRun) show(ctx context.Context) error {
	x.view.begin()
	for _, i := range x.ignored {
		x.view.emit(ignored(i))
	}
	if len(x.in.Messages) == 0 && (x.resumes || len(x.in.Resume) == 0) {
		x.view.emit(agui.Event{Type: agui.MessagesSnapshot, Messages: timeline(x.Snapshot)})
	}
	if x.Posted != nil && len(x.Runs) == 0 && !x.resumes {
		x.stop(x.Nobody("mention one in forwardedProps.mentions"))
		return eventstream.Write(x.out, x.view.take())
	}
	return x.Play(ctx, x, x)
}

// Flush sends what is new; see [exchange.Client].
func (x *protocolRun) Flush() error { return eventstream.Write(x.out, x.view.take()) }

// Beat checks the key again, and keeps the connection open.
func (x *protocolRun) Beat() error {
	if err := x.api.CheckCaller(x.r, x.Who); err != nil {
		return err
	}
	return x.out.Beat()
}

// Over ends the stream when no run is on its way any more: all have ended, or wait
// for the caller.
func (x *protocolRun) Over(ctx context.Context) (bool, error) {
	state, waiting, err := x.State(ctx, func(p shoal.PendingAction) bool { return x.view.had.calls[exchange.CallID(p.RunID, p.ToolCallID)] })
	if err != nil || state == exchange.Active {
		return false, err
	}
	if err := x.refusedTools(ctx); err != nil {
		return false, err
	}
	x.offer(waiting)
	x.finish(waiting)
	return true, x.Flush()
}

// finish closes the run of the protocol.
func (x *protocolRun) finish(waiting []shoal.PendingAction) {
	x.view.closeAll()
	canceled := len(x.Runs) > 0
	for _, f := range x.Runs {
		if failure := f.Failure(); failure != nil {
			x.view.emit(agui.Event{Type: agui.RunError, Message: failure.Message, Code: failure.Code})
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
