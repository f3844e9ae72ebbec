package resume_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

const handoffEnv = "SHOAL_RESUME_HANDOFF"

// handoffChild runs or resumes a turn that one agent begins and another ends. The models are
// functions of what they read, and fail if they read what is for the other agent.
func handoffChild(dir, point string) error {
	store, _, err := openStore(dir)
	if err != nil {
		return err
	}
	d := &death{at: point}
	plays := func(own, text string) (agent.Model, error) {
		answers, err := script.Parse(text)
		if err != nil {
			return nil, err
		}
		return script.Func(func(r *agent.Request) script.Answer {
			said := 0
			for i := range r.Messages {
				if r.Messages[i].Agent == own {
					said++
				}
				for _, c := range r.Messages[i].Calls() {
					if own == "second" && strings.HasPrefix(c.Name, "transfer") {
						return script.Answer{Err: &agent.ModelError{Class: agent.ClassInvalid, Detail: "reads a handoff"}}
					}
				}
			}
			if r.Instructions != own || said >= len(answers) {
				return script.Answer{Err: &agent.ModelError{Class: agent.ClassInvalid, Detail: fmt.Sprintf("%s is asked with %q after %d answers", own, r.Instructions, said)}}
			}
			return answers[said]
		}), nil
	}
	first, err := plays("first", "call add#c1 {\"n\":1}\n---\ncall add#c2 {\"n\":2}\ncall transfer_to_second#h {\"note\":\"add 3\"}")
	if err != nil {
		return err
	}
	last, err := plays("second", "call add#c3 {\"n\":3}\n---\nsay The sum is 6.")
	if err != nil {
		return err
	}
	second, err := agent.New(last, agent.Options{Name: "second", Instructions: "second", Tools: []agent.Tool{adder(dir, d, true)}})
	if err != nil {
		return err
	}
	a, err := agent.New(first, agent.Options{
		Name: "first", Instructions: "first", Tools: []agent.Tool{adder(dir, d, true), agent.AsHandoff(second, agent.Handoff{})},
	})
	if err != nil {
		return err
	}
	c := agent.OpenConversation(&mortal{Store: store, death: d}, "sum")
	record, err := c.Load(context.Background())
	if err != nil {
		return err
	}
	input := []agent.Message{agent.Say("add all")}
	if record.Open != nil {
		input = nil
	} else if record.Revision > 0 {
		return nil // the turn had ended before the process died
	}
	result, err := a.Run(context.Background(), c, input...)
	if err == nil && result.Agent != "second" {
		err = fmt.Errorf("the turn ended with %s", result.Agent)
	}
	return err
}

// The process is killed between every pair of writes of a turn that is transferred, and inside
// the tools of both agents. The turn goes on with the agent that has it, and the history is
// that of a turn without a kill.
func TestKilledAroundAHandoff(t *testing.T) {
	handoff := handoffEnv + "=1"
	points := []string{}
	for life(t, t.TempDir(), fmt.Sprint("write ", len(points)+1), handoff) {
		points = append(points, fmt.Sprint("write ", len(points)+1))
	}
	if len(points) != 9 { // the input; three steps, each before and after its tool; the answer; the end
		t.Errorf("the turn makes %d writes", len(points))
	}
	points = append(points, "before effect 2", "after effect 2", "before effect 3", "after effect 3")
	want := []string{
		"user: add all",
		`assistant: [c1 add {"n":1}]`, "tool: [c1 ok added 1]",
		`assistant: [c2 add {"n":2}][h transfer_to_second {"note":"add 3"}]`, "tool: [c2 ok added 2][h ok Transferred to second.]",
		`assistant: [c3 add {"n":3}]`, "tool: [c3 ok added 3]",
		"assistant: The sum is 6.",
	}
	for name, place := range places {
		for _, point := range points {
			t.Run(name+" "+point, func(t *testing.T) {
				t.Parallel()
				dir := place(t)
				if !life(t, dir, point, handoff) || life(t, dir, "", handoff) {
					t.Fatal("want exactly one kill")
				}
				if history, _, _ := state(t, dir); cmp.Diff(want, history) != "" {
					t.Error(cmp.Diff(want, history))
				}
			})
		}
	}
}
