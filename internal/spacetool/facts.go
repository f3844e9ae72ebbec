package spacetool

import (
	"context"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// What a prompt shows at most.
const (
	promptSpaces   = 20
	promptMembers  = 50 // of one space
	promptGoals    = 50
	promptMemories = 50
	promptPlans    = 30
	promptOthers   = 10
)

// facts is all that a prompt says which changes.
type facts struct {
	now       shoal.Time
	spaces    []shoal.Space // with members; the trigger's first
	more      bool          // there are more spaces
	goals     []shoal.Goal
	memories  []shoal.Memory
	plans     []shoal.Plan
	others    []otherRun
	admin     bool             // of the trigger's space
	delegates []shoal.EntityID // hosted agents that could take the trigger over
	prompt    *Prompt          // with the shared history
}

// know reads the facts in one view.
func (r *Run) know(ctx context.Context) (facts, error) {
	var f facts
	err := r.read(ctx, func(tx storage.Tx) (err error) {
		f = facts{now: r.now()}
		if err := r.knowSpaces(tx, &f); err != nil {
			return err
		}
		if f.prompt, err = r.shared(tx, f.spaces); err != nil {
			return err
		}
		if f.delegates, err = r.delegates(tx); err != nil {
			return err
		}
		if err := r.knowNotes(tx, &f); err != nil {
			return err
		}
		f.others, err = r.others(tx, activeStatuses, "", promptOthers)
		return err
	})
	return f, err
}

func (r *Run) knowSpaces(tx storage.Tx, f *facts) error {
	spaces, err := tx.Spaces(r.session(), storage.SpaceFilter{Member: r.agent(), OpenOnly: true, Limit: promptSpaces + 1})
	if err != nil {
		return err
	}
	f.more = len(spaces) > promptSpaces
	spaces = spaces[:min(len(spaces), promptSpaces)]
	at := slices.IndexFunc(spaces, func(s shoal.Space) bool { return s.ID == r.Run.Space })
	switch {
	case at >= 0:
		spaces = slices.Concat(spaces[at:at+1], spaces[:at], spaces[at+1:])
	case r.Run.Space != "":
		in, err := tx.IsMember(r.session(), r.Run.Space, r.agent())
		if err != nil {
			return err
		}
		if in {
			s, err := tx.Space(r.session(), r.Run.Space)
			if err != nil {
				return err
			}
			spaces = slices.Concat([]shoal.Space{s}, spaces)
		}
	}
	ids := make([]shoal.SpaceID, len(spaces))
	for i, s := range spaces {
		ids[i] = s.ID
	}
	members, err := tx.ListedMembers(r.session(), r.agent(), ids)
	for i := range spaces {
		spaces[i].Members = members[spaces[i].ID]
	}
	f.spaces = spaces
	f.admin = len(spaces) > 0 && r.Run.Space == spaces[0].ID && or(spaces[0].AdminAgentID, "") == r.agent()
	return err
}

func (r *Run) knowNotes(tx storage.Tx, f *facts) error {
	goals, err := tx.Goals(r.session(), r.agent())
	if err != nil {
		return err
	}
	goals = slices.DeleteFunc(goals, func(g shoal.Goal) bool { return g.IsCompleted })
	slices.SortStableFunc(goals, byUrgency)
	f.goals = goals[:min(len(goals), promptGoals)]
	memories, err := r.memories(tx)
	if err != nil {
		return err
	}
	f.memories = memories[max(0, len(memories)-promptMemories):]
	plans, err := livePlans(tx, r)
	if err != nil {
		return err
	}
	slices.SortStableFunc(plans, bySchedule)
	f.plans = plans[:min(len(plans), promptPlans)]
	return nil
}
