package approval

import (
	"slices"

	"github.com/shoal-dev/shoal"
)

// Remembered is a decision that somebody made for later calls, too.
type Remembered struct {
	shoal.RememberedDecision
	// Voter is who made it, as it is now: a decision counts only as long as its maker
	// may decide.
	Voter Voter
}

// Call is a call for which nobody has been asked yet.
type Call struct {
	Action
	Tool  string
	Space shoal.SpaceID // that shows it; empty for none
	Now   shoal.Time
}

// Answers returns the remembered decision that answers a call, nil if somebody has
// to be asked: the newest that covers it, and a denial before an approval.
func (r Rules) Answers(all []Remembered, c Call) *Remembered {
	if c.Kind != shoal.PendingPermission || c.Quorum > 1 || c.NotRequester {
		return nil
	}
	var found *Remembered
	for i := range all {
		d := &all[i]
		if !r.Covers(*d, c) || r.May(c.Action, d.Voter) != "" {
			continue
		}
		if d.Decision == shoal.RememberDeny {
			return d
		}
		found = d
	}
	return found
}

// covers reports whether a decision is about a call: same agent, tool and space, the
// same arguments if it is bound to them, and nobody behind the run who was not behind
// the one that it was made for. A run that nobody asked for is covered only by a
// decision for such runs.
func covers(d Remembered, c Call) bool {
	space := shoal.SpaceID("")
	if d.SpaceID != nil {
		space = *d.SpaceID
	}
	switch {
	case d.AgentID != c.Agent || d.ToolName != c.Tool || space != c.Space || !d.ExpiresAt.After(c.Now.Time):
		return false
	case d.Scope == shoal.RememberCall && d.ArgsHash != c.ArgsHash:
		return false
	case len(c.Requesters) == 0:
		return len(d.Requesters) == 0
	}
	return !slices.ContainsFunc(c.Requesters, func(id shoal.EntityID) bool { return !slices.Contains(d.Requesters, id) })
}
