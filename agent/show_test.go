package agent_test

import (
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal/agent"
)

// show writes an event as one line of a story. Deltas of arguments are left out:
// the end of the call repeats them.
func show(e agent.Event) string {
	switch e := e.(type) {
	case agent.TurnStarted:
		return "turn started" + flag2(e.Resumed, " again")
	case agent.StepStarted:
		return fmt.Sprintf("step %d of %d errors=%d completed=%s", e.Step, e.MaxSteps, e.Errors, strings.Join(e.Completed, ",")) + flag2(e.Closing != "", " closing="+string(e.Closing))
	case agent.Interjected:
		return fmt.Sprintf("interjected %q", e.Messages[0].Text()) + flag2(e.Repeated, " again")
	case agent.ModelCallStarted:
		return fmt.Sprintf("model called, attempt %d, %d messages", e.Attempt, len(e.Request.Messages))
	case agent.MessageStarted:
		return "message " + e.MessageID
	case agent.ReasoningStarted:
		return "  thoughts begin"
	case agent.ReasoningDelta:
		return fmt.Sprintf("  thought %q", e.Text)
	case agent.ReasoningEnded:
		return "  thoughts end"
	case agent.TextStarted:
		return "  text begins"
	case agent.TextDelta:
		return fmt.Sprintf("  text %d %q", e.Offset, e.Text)
	case agent.Cited:
		return fmt.Sprintf("  cited %d-%d %s %q", e.Citation.Start, e.Citation.End, e.Citation.URL, e.Citation.Title)
	case agent.TextEnded:
		return "  text ends"
	case agent.ToolCallStarted:
		return fmt.Sprintf("  call %s %s begins", e.CallID, e.Name)
	case agent.ToolArgsDelta:
		return ""
	case agent.ToolCallEnded:
		return fmt.Sprintf("  call %s ends %s", e.Call.ID, e.Call.Arguments)
	case agent.MessageEnded:
		return "message ends" + flag2(e.Discarded, " discarded") + flag2(e.Interrupted, " interrupted")
	case agent.RequestOpened:
		return fmt.Sprintf("requested %s %s%s", e.Pending.Kind, orCall(e.Pending), flag2(e.Pending.Question != "", fmt.Sprintf(" %q %q", e.Pending.Question, e.Pending.Options)))
	case agent.RequestAnswered:
		return fmt.Sprintf("answered %s %s approved=%v", e.Pending.Kind, orCall(e.Pending), e.Pending.Answer.Approved)
	case agent.TurnFinished:
		line := fmt.Sprintf("turn %s: %s in %d steps", e.Outcome, e.Reason, e.Steps)
		if e.Message != "" {
			line += ", " + e.Message
		}
		return line + flag2(e.Unsaved, " (unsaved)")
	}
	return showWork(e)
}

func showWork(e agent.Event) string {
	switch e := e.(type) {
	case agent.ModelRetrying:
		return fmt.Sprintf("model retried as attempt %d", e.Attempt)
	case agent.ToolStarted:
		return "tool " + e.Call.ID + " starts"
	case agent.ToolProgress:
		return fmt.Sprintf("tool %s: %s %.0f%%", e.CallID, e.Message, e.Percent)
	case agent.ToolFinished:
		return fmt.Sprintf("tool %s %s: %s", e.Result.CallID, e.Result.Status, e.Result.Text)
	case agent.StepFinished:
		return fmt.Sprintf("step %d finished: %s, attempts %d", e.Step, e.Finish, e.Attempts)
	case agent.Transferred:
		return fmt.Sprintf("transferred from %s to %s from step %d", e.From, e.To, e.Step)
	case agent.Reduced:
		return fmt.Sprintf("reduced by %s from %d to %d%s", e.Strategy, e.Before, e.After, flag2(e.Forced, " forced"))
	case agent.Nested:
		return fmt.Sprintf("nested %s %s| %s", e.CallID, strings.Join(e.Chain, ">"), show(e.Event))
	case agent.Warning:
		return fmt.Sprintf("warning %s: %v", e.Source, e.Err)
	case agent.OutputPartial:
		return fmt.Sprintf("partial %s", e.Value)
	}
	return fmt.Sprintf("%T", e)
}

func flag2(set bool, text string) string {
	if set {
		return text
	}
	return ""
}

// orCall names a request by its call, if it has one.
func orCall(p agent.Pending) string {
	if p.Call.ID != "" {
		return p.Call.ID
	}
	return p.ID
}
