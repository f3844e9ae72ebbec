package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/shoal-dev/shoal/internal/harness"
)

// Reporter receives what a coding agent does in a run. Its errors end the run.
type Reporter interface {
	Started(ctx context.Context) error
	// Anew says that the conversation began anew, and that the model knows that many messages of
	// the one before.
	Anew(ctx context.Context, messages int) error
	// Steered says that the model has the message of another run, which ends with that.
	Steered(ctx context.Context, run string) error
	Text(ctx context.Context, delta string) error
	Thought(ctx context.Context, delta string) error
	Tool(ctx context.Context, t harness.Tool) error
	// Ask opens a request for a permission and returns as soon as the request is stored. answer is
	// called once, from any goroutine, with the verdict of a person or of time.
	Ask(ctx context.Context, p harness.Permission, answer func(harness.Verdict)) error
	Usage(ctx context.Context, u harness.Usage) error
}

// Failure is why a run has failed, for the people in its space.
type Failure struct{ Code, Text string }

func (f *Failure) Error() string { return f.Code + ": " + f.Text }

// Codes of failures.
const (
	// CodeOutcomeUnknown means that the agent ended while a tool was at work.
	CodeOutcomeUnknown = "outcome_unknown"
	CodeAgentFailed    = "agent_failed"
)

// turn passes the events of a turn on, and knows how far the turn is.
type turn struct {
	session harness.Session
	out     Reporter
	onlySay bool // deny every request: the agent may only read

	steers <-chan Steer // nil if the agent takes none
	// remember notes on this machine that the agent is given the message of a run, and in which
	// conversation.
	remember func(run string)

	anew  bool // the conversation replaces one that was lost
	known int  // messages of it

	started bool
	tools   map[string]harness.Tool

	mu     sync.Mutex
	unread map[string]bool // runs whose messages the agent was given, and of which its model has nothing yet
}

// run runs a turn to its end. An *harness.ExitError means that the agent has ended in between.
func (t *turn) run(ctx context.Context, prompt string) (end harness.Ended, err error) {
	reading, stop := context.WithCancelCause(ctx)
	var failed error
	var steering sync.WaitGroup
	defer steering.Wait()
	defer stop(nil)
	steer := func() { t.steer(reading) }
	if t.steers == nil {
		steer = nil
	}
	for e, err := range t.session.Turn(reading, prompt) {
		if err != nil {
			return end, errors.Join(failed, err)
		}
		if last, ok := e.(harness.Ended); ok {
			end = last
		}
		if _, starts := e.(harness.Started); starts && steer != nil {
			steering.Go(steer)
			steer = nil
		}
		if failed == nil {
			if failed = t.pass(ctx, e); failed != nil {
				stop(failed) // nobody hears the rest
			}
		}
	}
	return end, failed
}

// pass reports an event.
func (t *turn) pass(ctx context.Context, e harness.Event) error {
	switch e := e.(type) {
	case harness.Started:
		t.started = true
		t.remember("") // a new conversation has its name now
		err := t.out.Started(ctx)
		if err == nil && t.anew {
			t.anew = false
			err = t.out.Anew(ctx, t.known)
		}
		return err
	case harness.Steered:
		t.mu.Lock()
		delete(t.unread, e.ID)
		t.mu.Unlock()
		return t.out.Steered(ctx, e.ID)
	case harness.Text:
		return t.out.Text(ctx, e.Delta)
	case harness.Thought:
		return t.out.Thought(ctx, e.Delta)
	case harness.Tool:
		return t.out.Tool(ctx, t.merge(e))
	case harness.Permission:
		return t.ask(ctx, e)
	case harness.Usage:
		return t.out.Usage(ctx, e)
	}
	return nil
}

// steer gives the agent the messages that arrive, until the turn has ended.
func (t *turn) steer(ctx context.Context) {
	for {
		select {
		case s := <-t.steers:
			t.remember(s.Run) // before the agent can have it
			t.mu.Lock()
			t.unread[s.Run] = true
			t.mu.Unlock()
			// After any other error it may have been sent.
			if err := t.session.Steer(ctx, s.Run, s.Prompt); errors.Is(err, harness.ErrIdle) || errors.Is(err, harness.ErrNoSteer) {
				t.mu.Lock()
				delete(t.unread, s.Run)
				t.mu.Unlock()
			}
		case <-ctx.Done():
			return
		}
	}
}

// merge adds what earlier events have said about the call.
func (t *turn) merge(e harness.Tool) harness.Tool {
	known := t.tools[e.CallID]
	if e.Name == "" {
		e.Name = known.Name
	}
	if e.Title == "" {
		e.Title = known.Title
	}
	if e.Args == nil {
		e.Args = known.Args
	}
	t.tools[e.CallID] = e
	return e
}

// ask passes a request for a permission on.
func (t *turn) ask(ctx context.Context, p harness.Permission) error {
	if t.onlySay {
		return t.session.Answer(ctx, p.CallID, harness.Verdict{Reason: "This agent may only read."})
	}
	return t.out.Ask(ctx, p, func(v harness.Verdict) {
		// The request may have ended with its turn or its process: then there is nobody to answer.
		_ = t.session.Answer(context.WithoutCancel(ctx), p.CallID, v)
	})
}

// atWork lists the tools that had begun and not ended.
func (t *turn) atWork() []string {
	var open []string
	for _, id := range slices.Sorted(maps.Keys(t.tools)) {
		if call := t.tools[id]; call.State == harness.ToolRunning {
			open = append(open, call.Title)
		}
	}
	return open
}

// prompt is the prompt for the turn. given means that the conversation may hold it already.
func (t *turn) prompt(j Job, given bool) string {
	switch {
	case t.started:
		return t.goOn()
	case given:
		return "The program was restarted, and you may have the message below already. If you have, check what is already done before you repeat anything, and finish the turn; if not, this is it:\n\n" + j.Prompt
	}
	return j.Prompt
}

// goOn is the prompt for an agent whose turn was cut off. It never repeats the first prompt, which
// the conversation of the agent already contains.
func (t *turn) goOn() string {
	var done []string
	for _, id := range slices.Sorted(maps.Keys(t.tools)) {
		done = append(done, fmt.Sprintf("- %s: %s", t.tools[id].Title, t.tools[id].State))
	}
	text := "Your last turn was cut off: the program was restarted. Check what is already done before you repeat anything, and then finish the turn."
	if len(done) > 0 {
		text += "\nYour tool calls in that turn:\n" + strings.Join(done, "\n")
	}
	return text
}
