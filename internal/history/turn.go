package history

import (
	"encoding/json"
	"fmt"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Turn is the JSON in StoredRun.Turn: the run's one turn without its steps, which have
// rows of their own.
type Turn struct {
	Turn    agent.Turn `json:"turn"`
	Waiting bool       `json:"waiting,omitempty"`
	// RanMs is for how long the run was executed until it was suspended last.
	RanMs int64 `json:"ranMs,omitempty"`
	// End is set when the turn has ended.
	End *agent.TurnEnd `json:"end,omitempty"`
}

// decodeBlock returns what an ended run added to its conversation.
func decodeBlock(b storage.Block) (out block, err error) {
	if len(b.Turn) == 0 { // the run ended before its turn began
		return out, nil
	}
	var t Turn
	if err := json.Unmarshal(b.Turn, &t); err != nil {
		return out, fmt.Errorf("history: decode the turn of run %s: %w", b.Run, err)
	}
	out.messages, out.inputs = t.Turn.Input, len(t.Turn.Input)
	for i, data := range b.Steps {
		var step agent.Step
		if err := json.Unmarshal(data, &step); err != nil {
			return out, fmt.Errorf("history: decode step %d of run %s: %w", i, b.Run, err)
		}
		out.messages = append(out.messages, step.Messages()...)
	}
	return out, nil
}
