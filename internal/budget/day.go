package budget

import (
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// DayError says that an agent has used what it may spend in a day, in US dollars.
type DayError struct{ Limit float64 }

func (e *DayError) Error() string {
	return fmt.Sprintf("The agent has used its %.2f USD for today.", e.Limit)
}

// CheckDay returns a *[DayError] if the agent of a run has used its limit since midnight UTC. Zero
// means no limit.
func CheckDay(tx storage.Tx, r storage.Run, limit float64, at shoal.Time) error {
	if limit <= 0 {
		return nil
	}
	midnight := shoal.At(at.UTC().Truncate(24 * time.Hour))
	rows, err := tx.Usage(r.SessionID, storage.UsageQuery{By: []string{"agent"}, Agent: r.AgentID, From: &midnight})
	spent := 0.0
	for _, r := range rows {
		spent += r.Cost
	}
	if err == nil && spent >= limit {
		err = &DayError{Limit: limit}
	}
	return err
}
