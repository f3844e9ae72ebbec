package runs

import (
	"context"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/view"
)

// Watch follows a run to its end, and remembers to what people said no.
type Watch struct {
	Session *client.Session
	Run     shoal.RunID
	lost    func(error)

	answered map[string]bool // which calls a person has answered
	denied   map[string]bool // and which were denied, by whomever
}

// WaitForEnd follows until the run has ended and returns it. see gets every event.
func (w *Watch) WaitForEnd(ctx context.Context, see func(shoal.Event) error) (shoal.Run, error) {
	w.answered, w.denied = map[string]bool{}, map[string]bool{}
	for e, err := range w.Session.Follow(ctx, client.FollowOptions{Run: w.Run, Lost: w.lost}) {
		if err != nil {
			return shoal.Run{}, err
		}
		if err := see(e); err != nil {
			return shoal.Run{}, err
		}
		run, err := w.observe(e)
		if err != nil || run.Status.Ended() {
			return run, err
		}
	}
	return shoal.Run{}, context.Cause(ctx)
}

// Current returns the run as it is.
func (w *Watch) Current(ctx context.Context) (shoal.Run, error) {
	w.answered, w.denied = map[string]bool{}, map[string]bool{}
	for e, err := range w.Session.Follow(ctx, client.FollowOptions{Run: w.Run, Lost: w.lost}) {
		if err != nil {
			return shoal.Run{}, err
		}
		return w.observe(e) // the first event is the snapshot
	}
	return shoal.Run{}, context.Cause(ctx)
}

// observe returns the run where the event tells about it.
func (w *Watch) observe(e shoal.Event) (shoal.Run, error) {
	switch e.Type {
	case shoal.EventSnapshot:
		data, err := view.Decode[shoal.RunSnapshotData](e)
		for _, s := range data.Steps {
			w.observeStep(s)
		}
		for _, m := range data.Messages {
			for _, p := range m.Parts {
				w.observePart(p.ToolCallID, p.Status, p.AnsweredBy)
			}
		}
		return data.Run, err
	case shoal.EventRunCreated, shoal.EventRunStarted, shoal.EventRunWaitingTool, shoal.EventRunWaitingReply, shoal.EventRunResumed, shoal.EventRunStalled,
		shoal.EventRunCompleted, shoal.EventRunFailed, shoal.EventRunCanceled:
		data, err := view.Decode[shoal.RunData](e)
		return data.Run, err
	case shoal.EventStepCompleted:
		data, err := view.Decode[shoal.StepData](e)
		w.observeStep(data.Step)
		return shoal.Run{}, err
	case shoal.EventToolOutputError:
		data, err := view.Decode[shoal.ToolOutputData](e)
		if data.AnsweredBy != nil {
			w.observePart(data.ToolCallID, data.Status, *data.AnsweredBy)
		}
		return shoal.Run{}, err
	case shoal.EventPendingSettled:
		data, err := view.Decode[shoal.PendingData](e)
		if data.PendingAction.AnsweredBy != nil {
			w.answered[data.PendingAction.ToolCallID] = true
		}
		return shoal.Run{}, err
	}
	return shoal.Run{}, nil
}

func (w *Watch) observeStep(s shoal.Step) {
	for _, call := range s.ToolCalls {
		if call.Status == string(shoal.PartDenied) {
			w.denied[call.ToolCallID] = true
		}
	}
}

func (w *Watch) observePart(call string, status shoal.PartStatus, by shoal.EntityID) {
	if status == shoal.PartDenied && by != "" {
		w.denied[call], w.answered[call] = true, true
	}
}

// Verdict is the failure that the end of the run stands for, nil for none.
func (w *Watch) Verdict(r shoal.Run) error {
	if err := Failure(r); err != nil {
		return err
	}
	for call := range w.denied {
		if w.answered[call] {
			return shoal.E("", cli.KindRejected, fmt.Sprintf("%s has ended, and a person said no to what it wanted to do", r.ID))
		}
	}
	return nil
}

// Failure is the failure of a run that did not come to its end.
func Failure(r shoal.Run) error {
	switch {
	case r.Status == shoal.RunCanceled:
		return shoal.E("", cli.KindRunFailed, fmt.Sprintf("%s of %s was canceled", r.ID, r.AgentID))
	case r.Status != shoal.RunFailed:
		return nil
	case r.Error == nil:
		return shoal.E("", cli.KindRunFailed, fmt.Sprintf("%s of %s failed", r.ID, r.AgentID))
	}
	return shoal.E("", cli.KindRunFailed, fmt.Sprintf("%s of %s failed with %s: %s", r.ID, r.AgentID, r.Error.Code, r.Error.Message))
}
