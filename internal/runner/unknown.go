package runner

import (
	"context"
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal/internal/harness"
)

// Choice is what people decide about a turn of which nobody knows how far it came.
type Choice string

// The choices, in the words of the question.
const (
	ChoiceGoOn  Choice = "Go on"
	ChoiceAnew  Choice = "Start anew"
	ChoiceLeave Choice = "Leave it"
)

// unknownResult is what is shown of a tool call whose result nobody knows.
const unknownResult = "The coding agent was cut off: what came of this is unknown."

// recall continues where an earlier runner was killed, or has given the run back. What that runner
// noted on this machine counts; the server may know less. If nobody knows whether the agent has begun,
// or what came of a tool call, people decide. anew means that they want a new conversation.
func (x *execution) recall(ctx context.Context) (anew bool, err error) {
	t := x.turn
	left, found := x.mark()
	t.asked, t.state = left.Question, left.State
	for _, call := range left.AtWork {
		t.tools[call.CallID] = harness.Tool{CallID: call.CallID, Title: call.Title, State: harness.ToolRunning}
	}
	if !found { // another machine's runner may have begun the turn
		for _, call := range x.job.Open {
			call.State, t.state = harness.ToolRunning, stageBegun
			t.tools[call.CallID] = call
		}
	}
	switch open := t.open(); {
	case len(open) > 0:
		anew, err = x.decide(ctx, wasAtWork(x.title, open[0].Title))
	case t.state == stageGiven:
		x.given = true
		anew, err = x.decide(ctx, x.title+" was given this message, and then its runner was killed: it is unknown whether "+x.title+" has begun.")
	default:
		x.given, t.started = found, t.state == stageBegun || x.job.Begun
	}
	if err != nil {
		return false, err
	}
	for _, call := range t.open() { // also those of which the server knows nothing
		call.State, call.Output = harness.ToolFailed, unknownResult
		t.tools[call.CallID] = call
	}
	for _, call := range x.job.Open {
		if err := t.endUnknown(ctx, call); err != nil {
			return false, err
		}
	}
	return anew, nil
}

func wasAtWork(title, tool string) string {
	return fmt.Sprintf("%s was cut off while it executed %q: what came of it is unknown.", title, tool)
}

// decide asks people what to do about a turn that came to an unknown point. Without a decision the
// run fails: a prompt that may have been begun is never repeated without one.
func (x *execution) decide(ctx context.Context, what string) (anew bool, err error) {
	t := x.turn
	if t.asked == "" {
		x.questions++
		t.asked = fmt.Sprintf("unknown-%d-%d", x.job.Generation, x.questions)
		if err := t.note(); err != nil { // the next runner must not ask again
			return false, err
		}
	}
	choice, err := t.out.Decide(ctx, t.asked, what+" Shall it go on, or start anew in a new session?")
	if err != nil {
		return false, err
	}
	t.asked = ""
	switch choice {
	case ChoiceGoOn:
		t.started = t.state == stageBegun
		return false, nil
	case ChoiceAnew:
		t.started, x.given = false, false
		clear(t.tools)
		return true, x.runner.refs.forget(x.conversation)
	default:
		return false, &Failure{CodeOutcomeUnknown, what + " Check before you ask again."}
	}
}

// endUnknown ends a tool call of which nobody knows the result.
func (t *turn) endUnknown(ctx context.Context, call harness.Tool) error {
	call.State, call.Output = harness.ToolFailed, unknownResult
	t.mu.Lock()
	t.tools[call.CallID] = call
	t.mu.Unlock()
	return t.out.Tool(ctx, call)
}

// endAll ends the tool calls that were at work.
func (t *turn) endAll(ctx context.Context) (err error) {
	for _, call := range t.open() {
		if err == nil {
			err = t.endUnknown(ctx, call)
		}
	}
	return err
}

// cutOff ends the tool calls that were open when the agent ended: those that waited for a verdict were
// not executed. It returns the titles of those that were at work.
func (t *turn) cutOff(ctx context.Context) (unknown []string, err error) {
	for _, call := range t.open() {
		if t.isWaiting(call.CallID) {
			call.State, call.Output = harness.ToolFailed, "Not executed: the coding agent ended before the permission was given."
			if err := t.out.Tool(ctx, t.merge(call)); err != nil {
				return nil, err
			}
			continue
		}
		unknown = append(unknown, call.Title)
	}
	return unknown, nil
}

// goOn is the prompt for an agent whose turn was cut off. It never repeats the first prompt, which
// the conversation of the agent already contains.
func (t *turn) goOn() string {
	var done []string
	for _, call := range t.all() {
		state := string(call.State)
		if call.Output == unknownResult {
			state = "unknown"
		}
		done = append(done, fmt.Sprintf("- %s: %s", call.Title, state))
	}
	text := "Your last turn was cut off: the program was restarted. Check what is already done before you repeat anything, and then finish the turn."
	if len(done) > 0 {
		text += "\nYour tool calls in that turn:\n" + strings.Join(done, "\n")
	}
	if t.said == "" {
		return text + "\nNothing of your answer has been read by the others yet."
	}
	return text + "\nThe others have read your answer up to these words; go on after them, and do not repeat them:\n" + t.said
}
