package perform

import (
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/compose"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Deltas returns the deltas among effects as followers get them, without those of messages that
// their space refused.
func (r *Run) Deltas(effects []compose.Effect) []live.Delta {
	deltas := make([]live.Delta, 0, len(effects))
	for _, e := range effects {
		a, ok := e.(compose.AppendPart)
		if !ok || r.Unopened[a.Place.Message] {
			continue
		}
		d := live.Delta{
			Space: a.Place.Space, Message: a.Place.Message, Part: a.Place.Part, Tool: a.Place.Tool,
			Target: a.Place.Target, Offset: a.Offset, Text: a.Delta,
		}
		if d.Tool != "" {
			d.Call = a.Place.Call
		}
		deltas = append(deltas, d)
	}
	return deltas
}

// ShowsReasoning reports whether the space of the run's trigger shows the reasoning of agents and
// the agent is still a member.
func ShowsReasoning(tx storage.Tx, r storage.Run) (bool, error) {
	if r.Space == "" {
		return false, nil
	}
	space, err := tx.Space(r.SessionID, r.Space)
	if errors.Is(err, shoal.NotFound) || err == nil && !space.ShowAgentReasoning {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return tx.IsMember(r.SessionID, r.Space, r.AgentID)
}
