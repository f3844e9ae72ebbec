package runs

import (
	"context"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/view"
)

// Watch follows a run and records which of its tool calls people denied.
type Watch struct {
	Session *client.Session
	Run     shoal.RunID
	lost    func(error)

	answered map[string]bool // calls that a person answered
	denied   map[string]bool // calls that were denied, by a person or a policy
}

// WaitForEnd follows the run until it has ended and returns it. It calls handle with every
// event, and stops at its first error.
func (w *Watch) WaitForEnd(ctx context.Context, handle func(shoal.Event) error) (shoal.Run, error) {
	w.answered, w.denied = map[string]bool{}, map[string]bool{}
	for e, err := range w.Session.Follow(ctx, client.FollowOptions{Run: w.Run, OnDisconnect: w.lost}) {
		if err != nil {
			return shoal.Run{}, err
		}
		if err := handle(e); err != nil {
			return shoal.Run{}, err
		}
		run, err := w.observe(e)
		if err != nil || run.Status.Ended() {
			return run, err
		}
	}
	return shoal.Run{}, context.Cause(ctx)
}

// Current returns the run in its current state.
func (w *Watch) Current(ctx context.Context) (shoal.Run, error) {
	w.answered, w.denied = map[string]bool{}, map[string]bool{}
	for e, err := range w.Session.Follow(ctx, client.FollowOptions{Run: w.Run, OnDisconnect: w.lost}) {
		if err != nil {
			return shoal.Run{}, err
		}
		return w.observe(e) // the first event is the snapshot
	}
	return shoal.Run{}, context.Cause(ctx)
}

// observe records denied and answered calls, and returns the run if the event contains it.
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

// Verdict returns the failure that the ended run means for a command: that of Failure, or that
// a person denied one of its calls. It is nil for a run that succeeded.
func (w *Watch) Verdict(r shoal.Run) error {
	if err := Failure(r); err != nil {
		return err
	}
	for call := range w.denied {
		if w.answered[call] {
			return shoal.E("", cli.KindRejected, fmt.Sprintf("%s ended, but a person denied one of its requests", r.ID))
		}
	}
	return nil
}

// Failure returns an error for a failed or canceled run, and nil otherwise.
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
