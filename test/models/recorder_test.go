package models_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
)

// maxAttempts is how often a step may ask its model, as in the defaults of
// agent.Retry.
const maxAttempts = 4

var (
	outcomes = []agent.Outcome{agent.Completed, agent.Failed, agent.Canceled, agent.Waiting}
	reasons  = []agent.Reason{
		agent.ReasonDone, agent.ReasonLength, agent.ReasonPending, agent.ReasonMaxSteps, agent.ReasonMaxErrors,
		agent.ReasonIdenticalCalls, agent.ReasonUnknownTool, agent.ReasonDenied, agent.ReasonProviderAuth,
		agent.ReasonRateLimited, agent.ReasonEmpty, agent.ReasonUnavailable, agent.ReasonInvalidRequest, agent.ReasonContextOverflow,
		agent.ReasonFiltered, agent.ReasonTimeout, agent.ReasonBudget, agent.ReasonStorage, agent.ReasonCanceled,
		agent.ReasonOutput, agent.ReasonInternal,
	}
)

// recorder receives the events of one turn, assembles what a reader that shows them has on
// the screen at the end, and reports every violation of the promises of package agent.
type recorder struct {
	t        *testing.T
	events   int
	finished []agent.TurnFinished
	messages []*shown
	parts    map[string]*shownPart
	attempts map[int]int // by step
	retries  []agent.ModelRetrying
	reduced  []agent.Reduced
	started  map[string]int // tools, by call id
	results  []agent.ToolResult
	partials []agent.OutputPartial
	warnings []error
}

// shown is an assistant message on the screen.
type shown struct {
	id          string
	parts       []*shownPart
	ended       bool
	discarded   bool
	interrupted bool
}

// shownPart is a part of it.
type shownPart struct {
	kind agent.PartType
	name string
	id   string
	text strings.Builder
	open bool
}

func newRecorder(t *testing.T) *recorder {
	return &recorder{t: t, parts: map[string]*shownPart{}, attempts: map[int]int{}, started: map[string]int{}}
}

func (w *recorder) hear(e agent.Event) {
	t := w.t
	t.Helper()
	if len(w.finished) > 0 {
		t.Errorf("%T after TurnFinished", e)
	}
	w.events++
	if _, opens := e.(agent.TurnStarted); opens != (w.events == 1) {
		t.Errorf("event %d of the turn is %T", w.events, e)
	}
	switch e := e.(type) {
	case agent.ModelCallStarted:
		w.attempts[e.Step]++
		if e.Attempt != w.attempts[e.Step] {
			t.Errorf("attempt %d of step %d calls itself %d", w.attempts[e.Step], e.Step, e.Attempt)
		}
	case agent.ModelRetrying:
		w.retries = append(w.retries, e)
	case agent.Reduced:
		w.reduced = append(w.reduced, e)
	case agent.MessageStarted:
		if m := w.last(); m != nil && !m.ended {
			t.Errorf("message %s opens inside of message %s", e.MessageID, m.id)
		}
		if slices.ContainsFunc(w.messages, func(m *shown) bool { return m.id == e.MessageID }) {
			t.Errorf("message %s opens twice", e.MessageID)
		}
		w.messages = append(w.messages, &shown{id: e.MessageID})
	case agent.TextStarted:
		w.open(e.MessageID, e.PartID, agent.TextPart, "")
	case agent.TextDelta:
		w.grow(e.PartID, e.Text, e.Offset)
	case agent.TextEnded:
		w.close(e.PartID)
	case agent.ReasoningStarted:
		w.open(e.MessageID, e.PartID, agent.ReasoningPart, "")
	case agent.ReasoningDelta:
		w.grow(e.PartID, e.Text, -1)
	case agent.ReasoningEnded:
		w.close(e.PartID)
	case agent.ToolCallStarted:
		w.open(e.MessageID, e.CallID, agent.CallPart, e.Name)
	case agent.ToolArgsDelta:
		w.grow(e.CallID, e.Text, e.Offset)
	case agent.ToolCallEnded:
		w.close(e.Call.ID)
		if p := w.parts[e.Call.ID]; p != nil && (p.text.String() != e.Call.Arguments || p.name != e.Call.Name) {
			t.Errorf("call %s ends as %s with %d bytes of arguments, its deltas said %s with %d",
				e.Call.ID, e.Call.Name, len(e.Call.Arguments), p.name, p.text.Len())
		}
	case agent.OutputPartial:
		if m := w.last(); m == nil || m.id != e.MessageID || m.ended || !json.Valid(e.Value) {
			t.Errorf("of message %s is shown what there is, %q, but the message is not open or the value is not JSON", e.MessageID, e.Value)
		}
		w.partials = append(w.partials, e)
	case agent.MessageEnded:
		w.endMessage(e)
	case agent.ToolStarted:
		w.started[e.Call.ID]++
	case agent.ToolFinished:
		w.results = append(w.results, e.Result)
	case agent.Warning:
		w.warnings = append(w.warnings, e.Err)
	case agent.TurnFinished:
		w.finished = append(w.finished, e)
	}
}

func (w *recorder) last() *shown {
	if len(w.messages) == 0 {
		return nil
	}
	return w.messages[len(w.messages)-1]
}

func (w *recorder) open(message, id string, kind agent.PartType, name string) {
	w.t.Helper()
	m := w.last()
	if m == nil || m.id != message || m.ended {
		w.t.Errorf("part %s opens in message %s, which is not open", id, message)
		return
	}
	if p := w.parts[id]; p != nil && slices.Contains(m.parts, p) {
		w.t.Errorf("part %s opens twice", id)
	}
	p := &shownPart{kind: kind, name: name, id: id, open: true}
	w.parts[id] = p
	m.parts = append(m.parts, p)
}

func (w *recorder) grow(id, text string, offset int) {
	w.t.Helper()
	p := w.parts[id]
	switch {
	case p == nil || !p.open:
		w.t.Errorf("part %s grows but is not open", id)
		return
	case offset >= 0 && offset != p.text.Len():
		w.t.Errorf("part %s grows at %d but has %d bytes", id, offset, p.text.Len())
	}
	p.text.WriteString(text)
}

func (w *recorder) close(id string) {
	w.t.Helper()
	p := w.parts[id]
	if p == nil || !p.open {
		w.t.Errorf("part %s ends but is not open", id)
		return
	}
	p.open = false
}

func (w *recorder) endMessage(e agent.MessageEnded) {
	w.t.Helper()
	m := w.last()
	if m == nil || m.id != e.MessageID || m.ended {
		w.t.Errorf("message %s ends but is not open", e.MessageID)
		return
	}
	m.ended, m.discarded, m.interrupted = true, e.Discarded, e.Interrupted
	for _, p := range m.parts {
		if p.open {
			w.t.Errorf("message %s ends before its part %s", m.id, p.id)
		}
	}
}

// kept returns the messages that stay on the screen.
func (w *recorder) kept() []*shown {
	return slices.DeleteFunc(slices.Clone(w.messages), func(m *shown) bool { return m.discarded })
}

// text returns what the last message that stays says.
func (w *recorder) text() string {
	kept := w.kept()
	if len(kept) == 0 {
		return ""
	}
	return kept[len(kept)-1].said(agent.TextPart)
}

// said joins the parts of a kind.
func (m *shown) said(kind agent.PartType) string {
	var b strings.Builder
	for _, p := range m.parts {
		if p.kind == kind {
			b.WriteString(p.text.String())
		}
	}
	return b.String()
}

func (m *shown) calls() []agent.ToolCall {
	var calls []agent.ToolCall
	for _, p := range m.parts {
		if p.kind == agent.CallPart {
			calls = append(calls, agent.ToolCall{ID: p.id, Name: p.name, Arguments: p.text.String()})
		}
	}
	return calls
}

// end returns how the turn ended.
func (w *recorder) end() agent.TurnFinished {
	if len(w.finished) != 1 {
		return agent.TurnFinished{}
	}
	return w.finished[0]
}

// total returns how often the models were asked.
func (w *recorder) total() int {
	n := 0
	for _, attempts := range w.attempts {
		n += attempts
	}
	return n
}

// judge compares the turn with what is stored of it: the messages after its
// input.
func (w *recorder) judge(stored []agent.Message) {
	t := w.t
	t.Helper()
	if len(w.finished) != 1 {
		t.Fatalf("the turn has %d TurnFinished among %d events", len(w.finished), w.events)
	}
	end := w.end()
	if !slices.Contains(outcomes, end.Outcome) || !slices.Contains(reasons, end.Reason) {
		t.Errorf("the turn ended as %q because of %q, which is not a named state", end.Outcome, end.Reason)
	}
	silent := len(stored) == 0 || strings.TrimSpace(stored[len(stored)-1].Text()) == ""
	if quiet := end.Outcome == agent.Completed && (end.Reason == agent.ReasonDone || end.Reason == agent.ReasonLength) && !silent; quiet != (end.Message == "") {
		t.Errorf("the turn ended as %s and shows people %q", end.Outcome, end.Message)
	}
	for step, n := range w.attempts {
		if n > maxAttempts {
			t.Errorf("step %d asked the model %d times", step, n)
		}
	}
	for _, m := range w.messages {
		if !m.ended {
			t.Errorf("message %s never ends", m.id)
		}
	}
	w.judgeMessages(stored)
	w.judgeResults(stored)
}

// asStored returns calls as they are stored: arguments that are longer than the
// default allows are refused, and not carried on.
func asStored(shown []agent.ToolCall) []agent.ToolCall {
	out := slices.Clone(shown)
	for i := range out {
		if len(out[i].Arguments) > 1<<20 {
			out[i].Arguments = "{}"
		}
	}
	return out
}

// judgeMessages holds what stayed on the screen against what is stored: the same
// messages with the same words, in the same order, once.
func (w *recorder) judgeMessages(stored []agent.Message) {
	t := w.t
	t.Helper()
	kept := w.kept()
	var said []agent.Message
	for _, m := range stored {
		if m.Role == agent.Assistant {
			said = append(said, m)
		}
	}
	if len(said) != len(kept) {
		t.Errorf("%d assistant messages are stored, %d were shown and kept", len(said), len(kept))
		return
	}
	for i, m := range said {
		k := kept[i]
		if m.ID != k.id || m.Interrupted != k.interrupted {
			t.Errorf("stored message %d is %s (interrupted %v), shown was %s (%v)", i, m.ID, m.Interrupted, k.id, k.interrupted)
		}
		if got, want := m.Text(), k.said(agent.TextPart); got != want {
			t.Errorf("message %s is stored as %.200q, shown was %.200q", m.ID, got, want)
		}
		if !slices.Equal(m.Calls(), asStored(k.calls())) {
			t.Errorf("message %s is stored with %d calls other than the %d shown", m.ID, len(m.Calls()), len(k.calls()))
		}
	}
}

// judgeResults checks that every call has one result, in the order of the calls,
// right after the message that made it, and that no tool ran twice.
func (w *recorder) judgeResults(stored []agent.Message) {
	t := w.t
	t.Helper()
	ids := map[string]bool{}
	var want []agent.ToolResult
	for i, m := range stored {
		calls := m.Calls()
		if len(calls) == 0 {
			continue
		}
		var results []agent.ToolResult
		if i+1 < len(stored) && stored[i+1].Role == agent.ToolRole {
			results = stored[i+1].Results()
		}
		if len(results) != len(calls) {
			t.Errorf("message %s has %d calls and %d results", m.ID, len(calls), len(results))
			continue
		}
		for j, c := range calls {
			if ids[c.ID] {
				t.Errorf("two calls have the id %s", c.ID)
			}
			ids[c.ID] = true
			if results[j].CallID != c.ID {
				t.Errorf("result %d of message %s belongs to call %s, not %s", j, m.ID, results[j].CallID, c.ID)
			}
		}
		want = append(want, results...)
	}
	same := func(a, b agent.ToolResult) bool {
		return a.CallID == b.CallID && a.Status == b.Status && a.Text == b.Text
	}
	if !slices.EqualFunc(w.results, want, same) {
		t.Errorf("%d results were shown, other than the %d stored", len(w.results), len(want))
	}
	for id, n := range w.started {
		if n > 1 || !ids[id] {
			t.Errorf("the tool of call %s started %d times; stored: %v", id, n, ids[id])
		}
	}
}
