package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
)

type runsTailCmd struct {
	ID shoal.RunID `arg:"" help:"The run."`
}

// Run follows a run until it ends; the connection may break meanwhile.
func (c *runsTailCmd) Run(ctx context.Context, sh *shell) error {
	session, err := sh.overlook()
	if err != nil {
		return err
	}
	l := loss{output: sh.output}
	w := &runWatch{session: session, id: c.ID, lost: l.told}
	run, err := w.end(ctx, func(e shoal.Event) error {
		l.over()
		if sh.output.json {
			return printEvent(sh.output, e)
		}
		return printRunEvent(sh.output, e)
	})
	if err != nil {
		return err
	}
	return w.verdict(run)
}

// printRunEvent prints what happened to a run in one line: when, what, and more about it.
// Deltas are left out: what they make comes whole.
func printRunEvent(o *output, e shoal.Event) error {
	head, detail, err := told(e)
	if err != nil || detail == "" {
		return err
	}
	at, what := head.At.String(), string(e.Type)
	if !o.terminal {
		return o.write(at + "\t" + line(what) + "\t" + line(detail) + "\n")
	}
	return o.write(o.paint(dim, at) + " " + o.paint(bold, line(what)) + " " + line(detail) + "\n")
}

// told says what an event of a run tells, nothing for those that are left out.
func told(e shoal.Event) (head shoal.EventHead, detail string, err error) {
	switch e.Type {
	case shoal.EventSnapshot:
		data, err := decode[shoal.RunSnapshotData](e)
		return data.EventHead, fmt.Sprintf("%s of %s is %s after %d steps", data.Run.ID, data.Run.AgentID, data.Run.Status, data.Run.Steps), err
	case shoal.EventRunCreated, shoal.EventRunStarted, shoal.EventRunWaitingTool, shoal.EventRunWaitingReply, shoal.EventRunResumed, shoal.EventRunStalled,
		shoal.EventRunCompleted, shoal.EventRunFailed, shoal.EventRunCanceled:
		data, err := decode[shoal.RunData](e)
		return data.EventHead, state(data.Run), err
	case shoal.EventStepStarted, shoal.EventStepCompleted:
		data, err := decode[shoal.StepData](e)
		detail = "step " + strconv.Itoa(data.Step.Index+1) + " " + data.Step.Model
		if e.Type == shoal.EventStepCompleted {
			detail += " " + data.Step.FinishReason + ", tokens " + tokens(data.Step.Usage)
			if data.Step.Text != "" {
				detail += ": " + data.Step.Text
			}
		}
		return data.EventHead, detail, err
	case shoal.EventTextEnd, shoal.EventReasoningEnd:
		data, err := decode[shoal.TextData](e)
		detail = data.Text
		if data.Private {
			detail = shown(shoal.Part{Type: shoal.TextPart, Private: true})
		}
		return data.EventHead, detail, err
	case shoal.EventToolInputStart, shoal.EventToolInputAvailable, shoal.EventToolOutputAvailable, shoal.EventToolOutputError:
		part, note, err := partNote(e)
		return part.EventHead, note, err
	case shoal.EventMessageCreated, shoal.EventMessageCompleted:
		data, err := decode[shoal.MessageData](e)
		return data.EventHead, fmt.Sprintf("%s in %s is %s", data.Message.ID, data.Message.SpaceID, data.Message.Status), err
	case shoal.EventPendingOpened, shoal.EventPendingSettled:
		data, err := decode[shoal.PendingData](e)
		if e.Type == shoal.EventPendingOpened {
			return data.EventHead, asking(data.PendingAction), err
		}
		return data.EventHead, settled(data.PendingAction), err
	}
	return head, "", nil
}

// state says how a run is.
func state(r shoal.Run) string {
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
	return string(r.Status)
}
