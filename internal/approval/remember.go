package approval

import (
	"cmp"
	"slices"

	"github.com/shoal-dev/shoal"
)

// Remembered is a decision that also applies to later calls.
type Remembered struct {
	shoal.RememberedDecision
	// Voter is the current state of the entity that made the decision: the decision counts
	// only while this entity may decide.
	Voter Voter
}

// Call is a call before anybody is asked about it.
type Call struct {
	Action
	// Of is the agent whose tool it is; empty for Agent.
	Of    shoal.EntityID
	Tool  string
	Space shoal.SpaceID // the space that shows the call; empty for none
	Now   shoal.Time
}

// Answers returns the remembered decision that answers a call, or nil if the call needs an
// answer: the newest decision that covers it, and a denial before an approval.
func (r Rules) Answers(all []Remembered, c Call) *Remembered {
	if c.Kind != shoal.PendingPermission || c.Quorum > 1 || c.NotRequester {
		return nil
	}
	var found *Remembered
	for i := range all {
		d := &all[i]
		if !r.Covers(*d, c) || r.Objection(c.Action, d.Voter) != "" {
			continue
		}
		if d.Decision == shoal.RememberDeny {
			return d
		}
		found = d
	}
	return found
}

// covers reports whether a decision applies to a call: the same tool of the same agent, the same space, the same
// arguments if the decision is bound to them, and no requester that was not a requester of the
// original run. A run without requesters is covered only by a decision for such runs.
func covers(d Remembered, c Call) bool {
	space := shoal.SpaceID("")
	if d.SpaceID != nil {
		space = *d.SpaceID
	}
	switch {
	case d.AgentID != cmp.Or(c.Of, c.Agent) || d.ToolName != c.Tool || space != c.Space || !d.ExpiresAt.After(c.Now.Time):
		return false
	case d.Scope == shoal.RememberCall && d.ArgsHash != c.ArgsHash:
		return false
	case len(c.Requesters) == 0:
		return len(d.Requesters) == 0
	}
	return !slices.ContainsFunc(c.Requesters, func(id shoal.EntityID) bool { return !slices.Contains(d.Requesters, id) })
}
