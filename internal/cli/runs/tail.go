package runs

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/view"
	"github.com/shoal-dev/shoal/internal/safetext"
)

type runsTailCmd struct {
	ID shoal.RunID `arg:"" help:"The run."`
}

// Run follows a run until it ends. It reconnects when the connection breaks.
func (c *runsTailCmd) Run(ctx context.Context, sh *cli.Shell) error {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	l := view.Connection{Output: sh.Output}
	w := &Watch{Session: session, Run: c.ID, lost: l.Lost}
	run, err := w.WaitForEnd(ctx, func(e shoal.Event) error {
		l.Restored()
		if sh.Output.JSON {
			return view.PrintEvent(sh.Output, e)
		}
		return printRunEvent(sh.Output, e)
	})
	if err != nil {
		return err
	}
	return w.Verdict(run)
}

// printRunEvent prints an event of a run in one line: time, type and detail. It skips deltas:
// their result follows as a whole.
func printRunEvent(o *cli.Output, e shoal.Event) error {
	head, detail, err := runEventText(e)
	if err != nil || detail == "" {
		return err
	}
	at, what := head.At.String(), string(e.Type)
	if !o.Terminal {
		return o.Write(at + "\t" + safetext.Line(what) + "\t" + safetext.Line(detail) + "\n")
	}
	return o.Write(o.Paint(cli.Dim, cli.Clock(head.At.Time, time.Now())) + " " + o.Paint(cli.Bold, safetext.Line(what)) + " " + safetext.Line(detail) + "\n")
}

// runEventText returns the head and the detail of an event of a run. The detail is empty for
// events that are not printed.
func runEventText(e shoal.Event) (head shoal.EventHead, detail string, err error) {
	switch e.Type {
	case shoal.EventSnapshot:
		data, err := view.Decode[shoal.RunSnapshotData](e)
		return data.EventHead, fmt.Sprintf("%s of %s is %s after %d steps", data.Run.ID, data.Run.AgentID, data.Run.Status, data.Run.Steps), err
	case shoal.EventRunCreated, shoal.EventRunStarted, shoal.EventRunWaitingTool, shoal.EventRunWaitingReply, shoal.EventRunResumed, shoal.EventRunStalled,
		shoal.EventRunCompleted, shoal.EventRunFailed, shoal.EventRunCanceled:
		data, err := view.Decode[shoal.RunData](e)
		return data.EventHead, runStateText(data.Run), err
	case shoal.EventStepStarted, shoal.EventStepCompleted:
		data, err := view.Decode[shoal.StepData](e)
		detail = "step " + strconv.Itoa(data.Step.Index+1) + " " + data.Step.Model
		if e.Type == shoal.EventStepCompleted {
			detail += " " + data.Step.FinishReason + ", tokens " + tokens(data.Step.Usage)
			if data.Step.Text != "" {
				detail += ": " + data.Step.Text
			}
		}
		return data.EventHead, detail, err
	case shoal.EventTextEnd, shoal.EventReasoningEnd:
		data, err := view.Decode[shoal.TextData](e)
		detail = data.Text
		if data.Private {
			detail = view.PartText(shoal.Part{Type: shoal.TextPart, Private: true})
		}
		return data.EventHead, detail, err
	case shoal.EventToolInputStart, shoal.EventToolInputAvailable, shoal.EventToolOutputAvailable, shoal.EventToolOutputError:
		part, note, err := view.PartNote(e)
		return part.EventHead, note, err
	case shoal.EventMessageCreated, shoal.EventMessageCompleted:
		data, err := view.Decode[shoal.MessageData](e)
		return data.EventHead, fmt.Sprintf("%s in %s is %s", data.Message.ID, data.Message.SpaceID, data.Message.Status), err
	case shoal.EventPendingOpened, shoal.EventPendingSettled:
		data, err := view.Decode[shoal.PendingData](e)
		if e.Type == shoal.EventPendingOpened {
			return data.EventHead, view.PendingRequest(data.PendingAction), err
		}
		return data.EventHead, view.PendingOutcome(data.PendingAction), err
	}
	return head, "", nil
}

// runStateText returns the state of a run, with its error or the calls that it waits for.
func runStateText(r shoal.Run) string {
	switch {
	case r.Error != nil:
		return string(r.Status) + " with " + r.Error.Code + ": " + r.Error.Message
	case len(r.PendingToolCalls) > 0:
		var calls []string
		for _, p := range r.PendingToolCalls {
			calls = append(calls, p.ToolName+" ("+string(p.PendingActionID)+")")
		}
		return string(r.Status) + " for " + strings.Join(calls, ", ")
	}
	return status(r)
}
