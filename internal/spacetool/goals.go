package spacetool

import (
	"cmp"
	"context"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/runs"
)

const (
	maxGoals    = 200
	maxPriority = 1000
)

type goalEntry struct {
	Match       *string `json:"match" jsonschema:"A piece of the description of the goal to change, or its id. Leave it out to make a new goal."`
	Description string  `json:"description" jsonschema:"What you want to reach."`
	Priority    *int    `json:"priority" jsonschema:"The higher, the more urgent; 0 by default."`
	IsLongTerm  *bool   `json:"isLongTerm" jsonschema:"Whether it stays for long."`
	IsCompleted *bool   `json:"isCompleted" jsonschema:"Whether you have reached it."`
}

type setGoals struct {
	Goals         []goalEntry `json:"goals" jsonschema:"The goals to make or to change."`
	ClearExisting *bool       `json:"clearExisting" jsonschema:"Delete all your goals first."`
}

type deleteNotes struct {
	Matches   []string `json:"matches,omitempty" jsonschema:"For each one to delete, a piece of its text, or its id."`
	DeleteAll *bool    `json:"deleteAll" jsonschema:"Delete all of them."`
}

func goalTools(r *Run) []agent.Tool {
	goals := notes[shoal.Goal]{
		word: "goals", limit: maxGoals, order: byUrgency,
		list: func(c *runs.RunChange) ([]shoal.Goal, error) { return c.Goals(r.session(), r.agent()) },
		id:   func(g shoal.Goal) string { return g.ID },
		text: func(g shoal.Goal) string { return g.Description },
		drop: func(c *runs.RunChange, g shoal.Goal) error { return c.DeleteGoal(r.session(), r.agent(), g.ID) },
	}
	return []agent.Tool{
		tool("setGoals", "Makes or changes your own goals. You see the open ones in every run, whatever the space.",
			func(ctx context.Context, in setGoals) (any, error) {
				var changes []change[shoal.Goal]
				for _, e := range in.Goals {
					changes = append(changes, change[shoal.Goal]{or(e.Match, ""), func(c *runs.RunChange, old *shoal.Goal) (shoal.Goal, error) {
						g, err := e.goal(old, r.now())
						if err != nil {
							return g, err
						}
						return g, c.PutGoal(r.session(), r.agent(), g)
					}})
				}
				return goals.set(ctx, r, changes, or(in.ClearExisting, false))
			}),
		tool("deleteGoals", "Deletes goals of yours.", func(ctx context.Context, in deleteNotes) (any, error) {
			return goals.remove(ctx, r, in.Matches, or(in.DeleteAll, false), nil)
		}),
	}
}

// goal makes the goal that an entry describes, or old changed by it.
func (e goalEntry) goal(old *shoal.Goal, now shoal.Time) (shoal.Goal, error) {
	g := shoal.Goal{CreatedAt: now}
	if old != nil {
		g = *old
	} else {
		g.ID = shoal.NewID[string](shoal.PrefixGoal)
	}
	g.Description, g.UpdatedAt = e.Description, now
	g.Priority = or(e.Priority, g.Priority)
	g.IsLongTerm = or(e.IsLongTerm, g.IsLongTerm)
	g.IsCompleted = or(e.IsCompleted, g.IsCompleted)
	if g.Priority < -maxPriority || g.Priority > maxPriority {
		return g, shoal.Invalid("priority", "must be between -1000 and 1000")
	}
	return g, checkText("description", g.Description, shoal.MaxDescription)
}

// byUrgency puts open goals before reached ones, and the more urgent first.
func byUrgency(a, b shoal.Goal) int {
	if a.IsCompleted != b.IsCompleted {
		if a.IsCompleted {
			return 1
		}
		return -1
	}
	return cmp.Compare(b.Priority, a.Priority)
}
