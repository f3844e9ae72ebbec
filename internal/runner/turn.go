package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/shoal-dev/shoal/internal/harness"
	"github.com/shoal-dev/shoal/internal/safetext"
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
	// Decide asks the people in the space a question about a turn that came to an unknown point, and
	// waits. Asked again with the same id, also by another runner, it is the same question.
	Decide(ctx context.Context, id, question string) (Choice, error)
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
	run    string
	// remember stores on this machine how far the agent has got with a run, and in which conversation.
	remember func(mark) error
	// has reports whether the agent was given the message of a run before.
	has func(run string) bool

	anew  bool // the conversation replaces one that was lost
	known int  // messages of it

	started bool
	said    string // the end of what others have read

	mu      sync.Mutex
	state   stage
	asked   string // the id of the question what to do
	noted   mark   // what is stored
	tools   map[string]harness.Tool
	waiting map[string]bool // calls without a verdict, or with a denial
	unread  map[string]bool // runs whose messages the agent was given, and of which its model has nothing yet
}

// note stores how far the turn is, if that has changed.
func (t *turn) note() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := mark{Run: t.run, State: t.state, Question: t.asked}
	for _, id := range slices.Sorted(maps.Keys(t.tools)) {
		if call := t.tools[id]; call.State == harness.ToolRunning && !t.waiting[id] {
			m.AtWork = append(m.AtWork, markedCall{id, call.Title})
		}
	}
	if reflect.DeepEqual(m, t.noted) || t.run == "" {
		return nil
	}
	if err := t.remember(m); err != nil {
		return &Failure{CodeAgentFailed, fmt.Sprintf("The runner cannot store how far the turn is: %v.", err)}
	}
	t.noted = m
	return nil
}

// enter notes a new stage of the turn.
func (t *turn) enter(s stage) error {
	t.mu.Lock()
	t.state = s
	t.mu.Unlock()
	return t.note()
}

// take runs a turn to its end. An *harness.ExitError means that the agent has ended in between.
func (t *turn) take(ctx context.Context, prompt string) (end harness.Ended, err error) {
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
		if err := t.enter(stageBegun); err != nil { // a new conversation has its name now
			return err
		}
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
		t.said = last(t.said + e.Delta)
		return t.out.Text(ctx, e.Delta)
	case harness.Thought:
		return t.out.Thought(ctx, e.Delta)
	case harness.Tool:
		call := t.merge(e)
		if err := t.note(); err != nil {
			return err
		}
		return t.out.Tool(ctx, call)
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
			if t.has(s.Run) { // of an earlier process: its own turn begins with words that it may be there
				continue
			}
			// Before the agent can have it. It is stored with the conversation as a whole.
			_ = t.remember(mark{Run: s.Run, State: stageUnread}) // without it the model may read the message twice
			t.mu.Lock()
			t.unread[s.Run] = true
			t.mu.Unlock()
			// After any other error it may have been sent.
			if err := t.session.Steer(ctx, s.Run, safetext.Clean(s.Prompt)); errors.Is(err, harness.ErrIdle) || errors.Is(err, harness.ErrNoSteer) {
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
	t.mu.Lock()
	defer t.mu.Unlock()
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
	if err := t.wait(p.CallID, true); err != nil {
		return err
	}
	return t.out.Ask(ctx, p, func(v harness.Verdict) {
		if v.Approved && t.wait(p.CallID, false) != nil {
			v = harness.Verdict{Reason: "The runner cannot store that this was permitted."}
		}
		// The request may have ended with its turn or its process: then there is nobody to answer.
		_ = t.session.Answer(context.WithoutCancel(ctx), p.CallID, v)
	})
}

// wait notes whether a call waits for a verdict, and is not at work for certain.
func (t *turn) wait(callID string, waits bool) error {
	t.mu.Lock()
	t.waiting[callID] = waits
	t.mu.Unlock()
	return t.note()
}

func (t *turn) isWaiting(callID string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiting[callID]
}

// all lists the tool calls of the turn.
func (t *turn) all() (calls []harness.Tool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(t.tools)) {
		calls = append(calls, t.tools[id])
	}
	return calls
}

// open lists the tool calls that have not ended.
func (t *turn) open() []harness.Tool {
	return slices.DeleteFunc(t.all(), func(c harness.Tool) bool { return c.State != harness.ToolRunning })
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
