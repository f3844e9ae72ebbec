package agent_test

import (
	"fmt"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
)

// simWatcher checks the order of a run's events and puts together what they say.
type simWatcher struct {
	s        *simulation
	nested   map[string]*simWatcher // by turn
	left     bool                   // the consumer has gone
	panicked bool
	depth    int
	opts     agent.Options // of the first agent
	turn     string

	begun, ended bool
	end          agent.TurnFinished
	step         int // the open one, -1 for none
	closing      bool
	asked        int // model calls of the step
	open         string
	parts        []agent.Part // of the open message
	part         string       // the open text or thoughts
	calls        map[string]int
	growing      map[string]bool
	said         map[string]agent.Message // that stay, by id
	results      map[string]agent.ToolResult
	running      map[string]bool
	ran          map[string]bool
	usage        agent.Usage
	before       agent.Usage // of the steps that were stored already
}

func newWatcher(s *simulation, before agent.Record, o agent.Options) *simWatcher {
	w := &simWatcher{
		s: s, opts: o, step: -1, nested: map[string]*simWatcher{}, said: map[string]agent.Message{}, calls: map[string]int{}, growing: map[string]bool{},
		results: map[string]agent.ToolResult{}, running: map[string]bool{}, ran: map[string]bool{},
	}
	if before.Open != nil {
		for _, step := range before.Open.Steps {
			if step.Done {
				w.before = w.before.Add(step.Usage)
			}
		}
	}
	return w
}

func (w *simWatcher) must(ok bool, format string, args ...any) {
	w.s.t.Helper()
	if !ok {
		w.s.fail(format, args...)
	}
}

func (w *simWatcher) event(e agent.Event) {
	w.must(!w.ended, "%T after the end", e)
	if start, ok := e.(agent.TurnStarted); ok {
		w.must(!w.begun, "a second start")
		w.begun, w.turn = true, start.TurnID
		return
	}
	w.must(w.begun, "%T before the start", e)
	switch e := e.(type) {
	case agent.StepStarted:
		w.must(w.step < 0, "step %d begins inside of step %d", e.Step, w.step)
		w.step, w.asked = e.Step, 0
		w.must(e.Step < e.MaxSteps, "step %d of %d", e.Step, e.MaxSteps)
		w.must(!w.closing, "a step after the closing answer")
		w.closing = e.Closing != ""
		w.must(!w.closing || !w.opts.NoClosingAnswer || w.depth > 0, "a closing answer that is not wanted")
		if more := e.MaxSteps - w.opts.MaxSteps; w.depth == 0 && more != 0 && !w.closing {
			w.must(w.opts.Continuation > 0 && more%w.opts.Continuation == 0, "%d steps, of %d", e.MaxSteps, w.opts.MaxSteps)
		}
	case agent.StepFinished:
		w.must(w.step == e.Step && w.open == "", "step %d ends, open is step %d and message %q", e.Step, w.step, w.open)
		w.must(len(w.running) == 0, "step %d ends while tools run: %v", e.Step, w.running)
		w.step = -1
		w.usage = w.usage.Add(e.Usage)
	case agent.ModelCallStarted:
		w.asked++
		// An overflow may have one attempt more, with a shorter history, and so may
		// the first step after an empty answer. A second model doubles all of them.
		more := 1
		if e.Step == 0 || w.closing {
			more = 2
		}
		more += w.opts.Retry.Attempts + more
		w.must(w.asked == e.Attempt, "attempt %d is the %d.", e.Attempt, w.asked)
		w.must(w.depth > 0 || w.asked <= w.opts.Retry.Attempts+more, "step %d: attempt %d", e.Step, w.asked)
		w.must(w.step == e.Step && w.open == "", "step %d asks the model, open is step %d and message %q", e.Step, w.step, w.open)
	case agent.Reduced:
		w.usage = w.usage.Add(e.Usage)
	case agent.TurnFinished:
		w.finished(e)
	case agent.Nested:
		w.must(w.running[e.CallID], "something of %s, which does not run: %s", e.CallID, show(e))
		n := w.nested[e.TurnID]
		if n == nil {
			n = newWatcher(w.s, agent.Record{}, w.opts)
			n.depth = len(e.Chain) - 1
			w.nested[e.TurnID] = n
		}
		n.event(e.Event)
	default:
		if !w.message(e) {
			w.tool(e)
		}
	}
}

// message takes the events of an assistant message.
func (w *simWatcher) message(e agent.Event) bool {
	switch e := e.(type) {
	case agent.MessageStarted:
		_, twice := w.said[e.MessageID]
		w.must(w.open == "" && w.step >= 0 && !twice, "message %s begins in step %d, message %q", e.MessageID, w.step, w.open)
		w.open, w.parts, w.part = e.MessageID, nil, ""
		clear(w.calls)
	case agent.TextStarted:
		w.begin(e.MessageID, e.PartID, agent.TextPart)
	case agent.ReasoningStarted:
		w.begin(e.MessageID, e.PartID, agent.ReasoningPart)
	case agent.TextDelta:
		w.grow(e.PartID, e.Text, e.Offset)
	case agent.ReasoningDelta:
		w.grow(e.PartID, e.Text, -1)
	case agent.TextEnded:
		w.close(e.PartID)
	case agent.ReasoningEnded:
		w.close(e.PartID)
	case agent.ToolCallStarted:
		_, twice := w.calls[e.CallID]
		w.must(w.open == e.MessageID && !twice && w.part == "", "call %s of %s begins in %q, part %q", e.CallID, e.MessageID, w.open, w.part)
		w.calls[e.CallID] = len(w.parts)
		w.growing[e.CallID] = true
		w.parts = append(w.parts, agent.Part{Type: agent.CallPart, Call: &agent.ToolCall{ID: e.CallID, Name: e.Name}})
	case agent.ToolArgsDelta:
		at, ok := w.calls[e.CallID]
		w.must(ok && w.growing[e.CallID] && e.Offset == len(w.parts[at].Call.Arguments), "arguments of %s at %d", e.CallID, e.Offset)
		w.parts[at].Call.Arguments += e.Text
	case agent.ToolCallEnded:
		at, ok := w.calls[e.Call.ID]
		w.must(ok && w.growing[e.Call.ID] && e.Call == *w.parts[at].Call, "call %s ends as %+v", e.Call.ID, e.Call)
		delete(w.growing, e.Call.ID)
	case agent.MessageEnded:
		w.must(w.open == e.MessageID && w.part == "" && len(w.growing) == 0, "message %s ends, open is %q, part %q, calls %v", e.MessageID, w.open, w.part, w.growing)
		w.open = ""
		if !e.Discarded {
			w.said[e.MessageID] = agent.Message{ID: e.MessageID, Parts: w.parts, Interrupted: e.Interrupted}
		}
	default:
		return false
	}
	return true
}

func (w *simWatcher) begin(message, part string, kind agent.PartType) {
	w.must(w.open == message && w.part == "", "part %s of %s begins in %q, part %q", part, message, w.open, w.part)
	w.part = part
	w.parts = append(w.parts, agent.Part{Type: kind})
}

func (w *simWatcher) grow(part, text string, offset int) {
	w.must(w.part == part && text != "", "%q of part %s, open is %q", text, part, w.part)
	p := &w.parts[len(w.parts)-1]
	w.must(offset < 0 || offset == len(p.Text), "offset %d after %d bytes", offset, len(p.Text))
	p.Text += text
}

func (w *simWatcher) close(part string) {
	w.must(w.part == part, "part %s ends, open is %q", part, w.part)
	w.part = ""
}

// tool takes the events of tools and requests.
func (w *simWatcher) tool(e agent.Event) {
	switch e := e.(type) {
	case agent.ToolStarted:
		w.must(w.step >= 0 && w.open == "" && !w.ran[e.Call.ID], "tool %s starts again, or outside of a step", e.Call.ID)
		w.running[e.Call.ID], w.ran[e.Call.ID] = true, true
	case agent.ToolProgress:
		w.must(w.running[e.CallID], "progress of %s, which does not run", e.CallID)
	case agent.ToolFinished:
		_, twice := w.results[e.Result.CallID]
		w.must(!twice && w.step >= 0, "a second result of %s, or outside of a step", e.Result.CallID)
		w.results[e.Result.CallID] = e.Result
		if strings.HasPrefix(e.Result.Name, "sub") && e.Result.Status == agent.ResultOK {
			w.must(w.s.worked(w.turn, e.Result.CallID), "%s is ok, and its sub-agent did nothing", e.Result.CallID)
		}
		delete(w.running, e.Result.CallID)
	case agent.RequestOpened, agent.RequestAnswered:
		w.must(w.step >= 0 && w.open == "", "%T outside of a step", e)
	case agent.ModelRetrying:
		w.must(w.step >= 0 && w.open == "", "a retry in message %q", w.open)
	case agent.OutputPartial, agent.Warning:
	default:
		w.s.fail("what is %T?", e)
	}
}

// worked reports whether a sub-agent has begun a turn for the call.
func (s *simulation) worked(turn, call string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.began[turn+" "+call]
}

func (w *simWatcher) finished(e agent.TurnFinished) {
	w.ended, w.end = true, e
	w.must(w.open == "", "message %s never ends", w.open)
	w.must(w.step < 0 || e.Outcome == agent.Waiting || e.Unsaved, "step %d never ends", w.step)
	w.must((e.Outcome == agent.Waiting) == (len(e.Pending) > 0), "%s with %d requests", e.Outcome, len(e.Pending))
	w.must(e.Outcome == agent.Completed || e.Message != "", "%s says nothing", e.Outcome)
	limit := e.Reason == agent.ReasonMaxSteps || e.Reason == agent.ReasonMaxErrors || e.Reason == agent.ReasonDenied
	w.must(e.Outcome != agent.Completed || limit || !w.closing, "%s after a closing answer", e.Reason)
	if w.depth == 0 {
		w.must(e.Usage == w.before.Add(w.usage), "the turn's usage is %+v, its steps' %+v and before %+v", e.Usage, w.usage, w.before)
	}
}

// finish is called when no more events come.
func (w *simWatcher) finish() {
	w.must(w.ended || w.left, "no end")
	for turn, n := range w.nested {
		n.left = n.left || w.left
		w.must(n.ended || n.left, "the sub-agent's turn %s has no end", turn)
	}
}

// compare checks that what was shown is what is stored, and the other way round.
func (w *simWatcher) compare(r, before agent.Record, end agent.TurnFinished) {
	stored := r.Messages
	if before.Open != nil { // nothing was reduced
		stored = stored[len(before.Messages):]
	}
	if r.Open != nil && len(r.Open.Steps) > 0 {
		if last := r.Open.Steps[len(r.Open.Steps)-1]; !last.Done {
			stored = append(slices.Clip(stored), last.Messages()...)
		}
	}
	found := map[string]bool{}
	for _, m := range stored {
		for _, result := range m.Results() {
			shown, ok := w.results[result.CallID]
			if ok && !w.left && !gocmp.Equal(shown, result) && !usedTwice(r, result.CallID) {
				w.s.fail("shown as %+v, stored as %+v", shown, result)
			}
		}
		said, ok := w.said[m.ID]
		if m.Role != agent.Assistant || !ok {
			continue
		}
		found[m.ID] = true
		w.must(said.Interrupted == m.Interrupted, "%s is interrupted=%v, stored as %v", m.ID, said.Interrupted, m.Interrupted)
		if d := gocmp.Diff(plain(said, w.s.opts.MaxArgumentBytes), plain(m, 0)); d != "" {
			w.s.fail("message %s is not what was shown:\n%s", m.ID, d)
		}
	}
	if end.Unsaved || w.left {
		return
	}
	for id := range w.said {
		w.must(found[id], "message %s was shown and is not stored", id)
	}
}

// usedTwice reports whether two calls of the conversation have the same id, in
// different turns.
func usedTwice(r agent.Record, id string) bool {
	n := 0
	for _, m := range r.Messages {
		for _, c := range m.Calls() {
			if c.ID == id {
				n++
			}
		}
	}
	return n > 1
}

// plain is what a message says, one line for each part that says something.
// Arguments over the limit are not stored.
func plain(m agent.Message, limit int) []string {
	var out []string
	for _, p := range m.Parts {
		switch {
		case p.Call != nil && limit > 0 && len(p.Call.Arguments) > limit:
			out = append(out, fmt.Sprint(agent.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Arguments: "{}"}))
		case p.Call != nil:
			out = append(out, fmt.Sprint(*p.Call))
		case p.Text != "":
			out = append(out, fmt.Sprint(p.Type, p.Text))
		}
	}
	return out
}
