package runs

import (
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// StepsOf returns the steps of a run as clients see them.
func StepsOf(tx Tx, session shoal.SessionID, id shoal.RunID) ([]shoal.Step, error) {
	steps, err := tx.RunSteps(session, id)
	if err != nil {
		return nil, err
	}
	out := make([]shoal.Step, len(steps))
	timeless := false
	for i, s := range steps {
		if out[i] = s.Step; out[i].ToolCalls == nil {
			out[i].ToolCalls = []shoal.StepCall{}
		}
		if out[i].MissingTools == nil {
			out[i].MissingTools = []shoal.MissingTool{}
		}
		timeless = timeless || slices.ContainsFunc(out[i].ToolCalls, func(c shoal.StepCall) bool { return c.StartedAt == nil })
	}
	if !timeless {
		return out, nil
	}
	rows, err := tx.PendingOf(session, id)
	for i := range out {
		fillWaitTimes(&out[i], rows)
	}
	return out, err
}

// fillWaitTimes sets the start and the end of the calls of a step whose results come from
// outside of the server, from the times of their pending actions. A permission does not
// count, because the call follows it.
func fillWaitTimes(s *shoal.Step, rows []storage.Pending) {
	for i := range s.ToolCalls {
		c := &s.ToolCalls[i]
		if c.StartedAt != nil {
			continue
		}
		at := slices.IndexFunc(rows, func(p storage.Pending) bool {
			within := !p.CreatedAt.Before(s.StartedAt.Time) && (s.EndedAt == nil || !p.CreatedAt.After(s.EndedAt.Time))
			return p.ToolCallID == c.ToolCallID && p.Kind != shoal.PendingPermission && within
		})
		if at >= 0 {
			c.StartedAt, c.EndedAt = &rows[at].CreatedAt, rows[at].AnsweredAt
		}
	}
}
