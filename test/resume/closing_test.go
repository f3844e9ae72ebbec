package resume_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

const closingEnv = "SHOAL_RESUME_CLOSING"

// closingChild runs or resumes a turn that uses all of its steps.
func closingChild(dir, point string) error {
	store, _, err := openStore(dir)
	if err != nil {
		return err
	}
	answers, err := script.Parse("call add#c1 {\"n\":1}\n---\ncall add#c2 {\"n\":2}\n---\nsay Two added.")
	if err != nil {
		return err
	}
	d := &death{at: point}
	a, err := agent.New(script.PerTurn(answers...), agent.Options{Tools: []agent.Tool{adder(dir, d, true)}, MaxSteps: 2})
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
	if err == nil && result.Reason != agent.ReasonMaxSteps {
		err = fmt.Errorf("the turn ended as %s, %s", result.Outcome, result.Reason)
	}
	return err
}

// The process is killed between every pair of writes of a turn that ends with a closing
// answer: there is one such answer afterwards, and what asked for it is not in the history.
func TestKilledAroundAClosingAnswer(t *testing.T) {
	closing := closingEnv + "=1"
	points := []string{}
	for life(t, t.TempDir(), fmt.Sprint("write ", len(points)+1), closing) {
		points = append(points, fmt.Sprint("write ", len(points)+1))
	}
	if len(points) != 7 { // the input; two steps, each before and after its call; the answer; the end
		t.Errorf("the turn makes %d writes", len(points))
	}
	want := []string{
		"user: add all",
		`assistant: [c1 add {"n":1}]`, "tool: [c1 ok added 1]",
		`assistant: [c2 add {"n":2}]`, "tool: [c2 ok added 2]",
		"assistant: Two added.",
	}
	for name, place := range places {
		for _, point := range points {
			t.Run(name+" "+point, func(t *testing.T) {
				t.Parallel()
				dir := place(t)
				if !life(t, dir, point, closing) || life(t, dir, "", closing) {
					t.Fatal("want exactly one kill")
				}
				if history, _, _ := state(t, dir); cmp.Diff(want, history) != "" {
					t.Error(cmp.Diff(want, history))
				}
			})
		}
	}
}
