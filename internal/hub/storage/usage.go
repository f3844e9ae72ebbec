package storage

import (
	"github.com/shoal-dev/shoal"
)

// UsageTx stores the usage of model calls.
type UsageTx interface {
	// AddUsage stores the usage of one step and replaces an earlier value of that step.
	AddUsage(session shoal.SessionID, u StepUsage) error
	// Usage returns sums grouped by q.By, in that order.
	Usage(session shoal.SessionID, q UsageQuery) ([]shoal.UsageRow, error)
	// Spend adds s, which may be negative, to the amount that the runs with one root have
	// used or reserved, and returns the new total.
	Spend(session shoal.SessionID, root string, s Spending) (Spending, error)
}

// Spending is the cost and the tokens of model calls.
type Spending struct {
	Cost   float64 // in US dollars
	Tokens int64
}

// Plus returns the sum of both.
func (s Spending) Plus(t Spending) Spending { return Spending{s.Cost + t.Cost, s.Tokens + t.Tokens} }

// Minus returns the difference of both.
func (s Spending) Minus(t Spending) Spending { return Spending{s.Cost - t.Cost, s.Tokens - t.Tokens} }

// StepUsage is the usage of one step.
type StepUsage struct {
	Run   shoal.RunID
	Step  int
	Agent shoal.EntityID
	Model string
	At    shoal.Time
	shoal.Usage
}

// UsageQuery selects and groups usage. From and To limit the time; To is exclusive.
type UsageQuery struct {
	By       []string // of day, agent, model and run
	Agent    shoal.EntityID
	Run      shoal.RunID
	From, To *shoal.Time
}
