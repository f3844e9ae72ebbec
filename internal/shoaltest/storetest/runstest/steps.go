package runstest

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

func stepsOf(c *storecase.Case, run shoal.RunID) []storage.Step {
	c.Helper()
	return storecase.Read(c, func(tx storage.Tx) ([]storage.Step, error) { return tx.RunSteps(c.Session, run) })
}

var stepTests = map[string]func(*storecase.Case){
	"every field is read as it was stored": func(c *storecase.Case) {
		full := storage.Step{
			Step: shoal.Step{
				Index: 2, Model: storecase.Hostile, FinishReason: "tool-calls", Usage: shoal.Usage{InputTokens: 5, Cost: 0.1}, Text: storecase.Hostile, Reasoning: storecase.Hostile,
				ToolCalls: []shoal.StepCall{
					{ToolCallID: storecase.Hostile, ToolName: "a", Args: []byte(`{"a":"<b> & c","n":1.50e+3}`), Result: storecase.Ptr(storecase.Hostile), Status: "done"},
					{ToolCallID: "2", ToolName: "b", Args: []byte(`{}`), Status: "pending"},
				},
				StartedAt: storecase.Time(1), EndedAt: storecase.Ptr(storecase.Time(2)),
			},
			Data: storecase.RawJSON, Done: true,
		}
		bare := storage.Step{}
		bare.StartedAt = storecase.Time(3)
		c.AddSteps("r1", full, bare)
		storecase.Equal(c, "the steps in order", stepsOf(c, "r1"), []storage.Step{bare, full})
	},

	"a step replaces that of the same index, and steps from an index on are dropped": func(c *storecase.Case) {
		c.AddSteps("r1", storecase.NewStep(0, true), storecase.NewStep(1, false), storecase.NewStep(2, false))
		c.AddSteps("r2", storecase.NewStep(1, false))
		whole := storecase.NewStep(1, true)
		whole.Data, whole.EndedAt = storecase.RawJSON, storecase.Ptr(storecase.Time(9))
		c.AddSteps("r1", whole)
		storecase.Equal(c, "the steps", stepsOf(c, "r1"), []storage.Step{storecase.NewStep(0, true), whole, storecase.NewStep(2, false)})
		c.Update(func(tx storage.Tx) error { return tx.DropSteps(c.Session, "r1", 1) })
		storecase.Equal(c, "what is left", stepsOf(c, "r1"), []storage.Step{storecase.NewStep(0, true)})
		storecase.Equal(c, "another run's", stepsOf(c, "r2"), []storage.Step{storecase.NewStep(1, false)})
		storecase.Equal(c, "no run's", stepsOf(c, "r3"), []storage.Step{})
		other := storecase.New(c.T, c.Store)
		storecase.Equal(c, "another session's", stepsOf(other, "r1"), []storage.Step{})
	},
}
