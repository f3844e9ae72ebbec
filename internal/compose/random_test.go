package compose_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/compose"
)

// A random run, with deltas split anywhere, failing attempts and crashing processes, shows
// in each space exactly the parts of the calls that were executed, in their order. It starts
// each mention once and leaves no message open.
func TestRandomRuns(t *testing.T) {
	for seed := range uint64(3000) {
		if err := randomRun(seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func FuzzRuns(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		if err := randomRun(seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	})
}

// world is a run with its surroundings.
type world struct {
	*rand.Rand
	opts     compose.Options
	composer *compose.Composer
	follow   *follower
	err      error

	steps   []agent.Step
	stored  []compose.Message
	asked   []compose.AskSpace
	started []string // mentions
	ids     int

	wild     bool                       // the expected output is unknown
	want     map[shoal.SpaceID][]string // parts of each space
	mentions []string
}

func randomRun(seed uint64) error {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 7)), follow: newFollower(), want: map[shoal.SpaceID][]string{}}
	w.opts = compose.Options{
		Run: "r", Trigger: "ops", MaxParts: 1 + w.IntN(6), Stream: w.IntN(2) == 0,
		Tools: []compose.Tool{{Name: "send", Send: true}, {Name: "card", Display: true}, {Name: "gift", Display: true, Targeted: true}},
		NewMessageID: func() shoal.MessageID {
			w.ids++
			return shoal.MessageID(fmt.Sprintf("m%04d", w.ids))
		},
		NewPartID: func() shoal.PartID {
			w.ids++
			return shoal.PartID(fmt.Sprintf("p%d", w.ids))
		},
	}
	w.composer = compose.New(w.opts)
	w.wild = w.IntN(3) == 0
	for step := range 1 + w.IntN(4) {
		for attempt := 0; !w.runModel(step, attempt); attempt++ {
		}
		w.runTools()
	}
	if w.wild && w.IntN(2) == 0 {
		w.interrupt()
	}
	outcome := []agent.Outcome{agent.Completed, agent.Completed, agent.Failed, agent.Canceled}[w.IntN(4)]
	w.perform(w.composer.Apply(agent.TurnFinished{Outcome: outcome}))
	for range 5 { // no effects follow the end
		if effects := append(w.composer.Apply(w.anyEvent()), w.composer.SetMembership("shop", "", compose.SpaceClosed)...); len(effects) > 0 {
			return fmt.Errorf("got %v after the end, want no effects", effects)
		}
	}
	if w.err != nil {
		return w.err
	}
	return w.check()
}

// interrupt ends the run in the middle of the model's output.
func (w *world) interrupt() {
	arguments := w.arguments("send")
	call := agent.ToolCall{ID: "cut", Name: "send", Arguments: arguments[:w.IntN(len(arguments)+1)]}
	w.perform(w.composer.Apply(agent.ToolCallStarted{MessageID: "t.cut", CallID: "cut", Name: "send"}))
	w.perform(w.composer.Apply(agent.ToolArgsDelta{CallID: "cut", Text: call.Arguments}))
	if w.IntN(3) == 0 {
		w.perform(w.composer.End(agent.Canceled))
		return
	}
	w.answerAll()
	w.perform(w.composer.Apply(agent.ToolCallEnded{Call: call}))
	w.perform(w.composer.Apply(agent.MessageEnded{MessageID: "t.cut", Interrupted: true}))
	w.perform(w.composer.Apply(agent.ToolFinished{Result: agent.ToolResult{CallID: "cut", Status: agent.ResultCanceled}}))
}

// anyEvent returns an event that may fit nothing.
func (w *world) anyEvent() agent.Event {
	id := fmt.Sprintf("c%d.%d", w.IntN(4), w.IntN(5))
	p := agent.Pending{ID: id + ".p", Kind: agent.ClientCall, Call: agent.ToolCall{ID: id}}
	if w.IntN(2) == 0 {
		p.Kind = agent.Permission
	}
	switch w.IntN(6) {
	case 0:
		return agent.RequestOpened{Pending: p}
	case 1:
		p.Answer = &agent.Answer{Approved: w.IntN(2) == 0}
		return agent.RequestAnswered{Pending: p}
	case 2:
		return agent.ToolStarted{Call: p.Call}
	case 3:
		status := []agent.ResultStatus{agent.ResultOK, agent.ResultDenied, agent.ResultInterrupted, agent.ResultInvalid, agent.ResultSkipped}[w.IntN(5)]
		return agent.ToolFinished{Result: agent.ToolResult{CallID: id, Status: status}}
	case 4:
		return agent.MessageEnded{MessageID: "t.0.0"}
	}
	return agent.ToolArgsDelta{CallID: id, Text: "x"}
}

// disturb applies inputs that can come at any time.
func (w *world) disturb() {
	switch space := []shoal.SpaceID{"shop", "ops"}[w.IntN(2)]; w.IntN(12) {
	case 0:
		w.perform(w.composer.SetMembership(space, "", compose.SpaceClosed))
	case 1:
		w.perform(w.composer.SetMembership(space, "", compose.NotMember))
	case 2, 3, 4, 5:
		w.perform(w.composer.Apply(w.anyEvent()))
	}
}

// runModel lets the model write one answer and reports whether it is complete.
func (w *world) runModel(step, attempt int) bool {
	source := fmt.Sprintf("t.%d.%d", step, attempt)
	said := agent.Message{ID: source, Role: agent.Assistant}
	var all []agent.ToolCall
	var left []string // unwritten arguments of each call
	for i := range w.IntN(5) {
		call := agent.ToolCall{ID: fmt.Sprintf("c%d.%d", step, i), Name: []string{"send", "card", "gift", "other"}[w.IntN(4)]}
		call.Arguments = w.arguments(call.Name)
		all = append(all, call)
		left = append(left, call.Arguments)
	}
	dies := -1
	if attempt < 3 && w.IntN(3) == 0 {
		dies = w.IntN(200)
	}
	begun, slow := 0, w.IntN(2) == 0
	for {
		var open []int
		for i := range begun {
			if left[i] != "" {
				open = append(open, i)
			}
		}
		if w.wild && w.IntN(4) == 0 {
			w.disturb()
		}
		if dies--; dies == 0 {
			return w.fail(source)
		}
		switch {
		case begun < len(left) && (len(open) == 0 || w.IntN(9) == 0):
			call := all[begun]
			if w.IntN(3) == 0 {
				said.Parts = append(said.Parts, agent.Text(w.writeText(source)))
			}
			said.Parts = append(said.Parts, agent.Part{Type: agent.CallPart, Call: &call})
			w.perform(w.composer.Apply(agent.ToolCallStarted{MessageID: source, CallID: call.ID, Name: call.Name}))
			begun++
		case len(open) == 0:
			if w.IntN(3) == 0 {
				said.Parts = append(said.Parts, agent.Text(w.writeText(source)))
			}
			return w.keepStep(said)
		default:
			i := open[w.IntN(len(open))]
			n := min(1+w.IntN(12), len(left[i]))
			w.perform(w.composer.Apply(agent.ToolArgsDelta{CallID: all[i].ID, Text: left[i][:n]}))
			left[i] = left[i][n:]
		}
		if !slow || w.IntN(5) == 0 {
			w.answerAll()
		}
	}
}

// writeText lets the model write a text outside of calls.
func (w *world) writeText(source string) string {
	text := []string{"Hello, all.", " \n", "\n Grüße 😀", "x"}[w.IntN(4)]
	w.perform(w.composer.Apply(agent.TextStarted{MessageID: source, PartID: "text"}))
	runes := []rune(text)
	cut := w.IntN(len(runes) + 1)
	for _, piece := range []string{string(runes[:cut]), string(runes[cut:])} {
		if piece != "" {
			w.perform(w.composer.Apply(agent.TextDelta{PartID: "text", Text: piece}))
		}
	}
	w.perform(w.composer.Apply(agent.TextEnded{PartID: "text"}))
	return text
}

// fail ends an attempt: the model call is repeated, or the process crashes.
func (w *world) fail(source string) bool {
	if w.IntN(2) == 0 {
		w.crash()
	} else {
		w.perform(w.composer.Apply(agent.MessageEnded{MessageID: source, Discarded: true}))
		w.asked = nil
	}
	return false
}

func (w *world) keepStep(said agent.Message) bool {
	for _, call := range said.Calls() {
		w.perform(w.composer.Apply(agent.ToolCallEnded{Call: call}))
	}
	w.answerAll()
	w.steps = append(w.steps, agent.Step{Index: len(w.steps), Assistant: said})
	w.perform(w.composer.Apply(agent.MessageEnded{MessageID: said.ID}))
	return true
}

// runTools runs the tools of the last step.
func (w *world) runTools() {
	step := &w.steps[len(w.steps)-1]
	for _, said := range step.Assistant.Parts {
		if text := strings.TrimSpace(said.Text); w.opts.Stream && text != "" {
			w.want["ops"] = append(w.want["ops"], text)
		}
		if said.Type != agent.CallPart {
			continue
		}
		call := *said.Call
		if w.IntN(6) == 0 {
			w.crash()
		}
		if w.wild {
			w.disturb()
		}
		route, _ := w.composer.Route(call.ID)
		w.perform(w.composer.Apply(agent.ToolStarted{Call: call}))
		status := agent.ResultOK
		if route.Refusal != "" || w.IntN(4) == 0 {
			status = agent.ResultFailed
		}
		accepted := status == agent.ResultOK && w.IntN(2) == 0
		if accepted {
			w.perform(w.composer.Accept(call.ID))
		}
		result := agent.ToolResult{CallID: call.ID, Name: call.Name, Status: status, Text: "result of " + call.ID}
		step.Results = append(step.Results, result)
		w.perform(w.composer.Apply(agent.ToolFinished{Result: result}))
		w.expect(call, status, route.Refusal)
	}
	step.Done = true
	if w.IntN(6) == 0 {
		w.crash()
	}
	w.perform(w.composer.Apply(agent.StepFinished{}))
}
