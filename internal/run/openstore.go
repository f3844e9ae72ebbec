package run

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/history"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// openStore reads the run's conversation.
func openStore(x *execution, tx storage.Tx) (*store, error) {
	s := &store{x: x, mu: make(lock, 1), memory: agent.NewMemory(), known: map[string]bool{string(x.run.ID): true}, revisionLag: map[string]int64{}, starts: map[int]shoal.Time{}}
	s.committed = sync.NewCond(s.mu)
	run, err := tx.Run(x.run.SessionID, x.run.ID)
	if err != nil {
		return nil, err
	}
	if len(run.Turn) > 0 {
		s.turn = &history.Turn{}
		if err := json.Unmarshal(run.Turn, s.turn); err != nil {
			return nil, &unreadableError{"the turn", err}
		}
		s.ended = s.turn.End
	}
	stored, err := tx.RunSteps(run.SessionID, run.ID)
	if err != nil {
		return nil, err
	}
	for _, row := range stored {
		var step agent.Step
		if err := json.Unmarshal(row.Data, &step); err != nil {
			return nil, &unreadableError{fmt.Sprintf("step %d", row.Index), err}
		}
		s.starts[row.Index] = row.StartedAt
		x.timings.Restore(row.Step, row.Done)
		s.steps = append(s.steps, step)
		s.recordText(step)
		if step.Done {
			s.doneSteps, s.used = row.Index+1, s.used.Add(row.Usage)
		}
	}
	return s, nil
}
