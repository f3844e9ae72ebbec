package agent

import (
	"fmt"
	"slices"
	"strings"
)

// A turn that has reached MaxSteps or MaxErrors makes one more step, its closing answer: the
// model says what it knows and cannot call tools. Step.Closing stores that a step is it.

// reachLimit ends the turn at a limit: with a closing answer, if there can be one.
func (m *machine) reachLimit(reason Reason) {
	if m.rules.opts.NoClosingAnswer || m.step.Finish == FinishPaused || m.budgetUsed() != "" {
		m.fail(reason, m.limitReached(reason), nil)
		return
	}
	m.closing = reason
}

// limitReached says which limit the turn has reached.
func (m *machine) limitReached(reason Reason) string {
	switch reason {
	case ReasonMaxErrors:
		return fmt.Sprintf("Exceeded maximum consecutive errors (%d).", m.rules.opts.MaxErrors)
	case ReasonDenied:
		return fmt.Sprintf("More than %d steps were not granted.", m.maxSteps)
	}
	return fmt.Sprintf("The turn used all of its %d steps.", m.maxSteps)
}

// afterClosing ends the turn after the step of its closing answer.
func (m *machine) afterClosing() {
	switch why := m.answer.whyNoText(); {
	case m.output != nil:
		m.succeed(ReasonDone)
	case len(m.open) > 0:
		m.failClosing("In place of a closing answer the model called tools.", nil)
	case why != "":
		m.failClosing(why, errEmpty)
	default:
		m.endOfText()
	}
	if m.end.outcome == Completed {
		m.end.reason, m.end.message = m.step.Closing, m.limitReached(m.step.Closing)+" The model closed it with an answer."
	}
}

// failClosing ends a turn that has no closing answer; why says so in a sentence.
func (m *machine) failClosing(why string, err error) {
	m.fail(m.step.Closing, m.limitReached(m.step.Closing)+" "+why, err)
}

// closeCalls refuses the calls of a closing answer, except those of return tools, and
// reports whether the step is one.
func (m *machine) closeCalls() bool {
	if m.step.Closing == "" {
		return false
	}
	for i := range m.open {
		c := &m.open[i]
		if _, returns := m.rules.returnTool[c.call.Name]; returns && c.stage == callNew {
			m.admit(c, "")
			continue
		}
		m.settle(c, ResultSkipped, "Error: not executed, because the turn ends with this answer.")
	}
	return true
}

// closed returns the request as that of a closing answer, if reason names a limit: nothing but
// return tools may be called. The tools stay in the request otherwise, because providers want
// to know those of the history, and so that the beginning of the prompt stays in the
// provider's cache.
func (r *rules) closed(req *Request, reason Reason) *Request {
	if reason == "" {
		return req
	}
	out := *req
	why := "All steps of this turn are used."
	if reason == ReasonMaxErrors {
		why = "Too many tool calls in a row have failed."
	}
	how := "Answer now, without calling tools: say what you have found out and done so far, and what is left."
	out.ToolChoice = ToolChoice{Mode: ToolsNone}
	if len(r.returnTool) > 0 {
		how = "Give the final answer now, from what you know, with the tool for it. No other tool can be called."
		out.Tools, out.ToolChoice.Mode = nil, ToolsRequired
		for _, t := range req.Tools {
			if _, returns := r.returnTool[t.Name]; returns {
				out.Tools = append(out.Tools, t)
			}
		}
	}
	out.Messages = append(slices.Clip(req.Messages), Say(why+" "+how))
	return &out
}

// whyNoText says why the answer has no text; empty if it has one.
func (a *answer) whyNoText() string {
	thought := false
	for _, p := range a.parts {
		switch {
		case p.kind == TextPart && strings.TrimSpace(p.text.String()) != "":
			return ""
		case p.kind == ReasoningPart:
			thought = true
		}
	}
	switch {
	case a.finish == FinishLength && (thought || a.usage.ReasoningTokens > 0):
		return "The model used all of its output tokens for reasoning before it wrote any text; increase MaxOutputTokens or lower the reasoning effort."
	case a.finish == FinishLength:
		return "The answer reached its limit of output tokens before it had any text; increase MaxOutputTokens."
	case thought:
		return "The model only reasoned and wrote no text."
	}
	return "The model wrote no text."
}
