package shoal

import "github.com/shoal-dev/shoal/internal/keep"

// SessionStatus is open or closed. A closed session can be read but not changed.
type SessionStatus string

// The states of a session.
const (
	SessionStatusOpen   SessionStatus = "open"
	SessionStatusClosed SessionStatus = "closed"
)

// SpaceRights is the policy for changes to the spaces of a session.
type SpaceRights string

// The entities that may add and remove other members of a space, change it and close it:
// all of its members; or only its owner and the admins and owners of the session.
const (
	SpaceRightsMembers    SpaceRights = "members"
	SpaceRightsModerators SpaceRights = "moderators"
)

func (r SpaceRights) check(p *problems) {
	if r != SpaceRightsMembers && r != SpaceRightsModerators {
		p.add(Invalid("spaceRights", `must be "members" or "moderators"`))
	}
}

// Session is the isolation boundary: entities, spaces and keys belong to
// exactly one, and nothing crosses it.
type Session struct {
	ID          SessionID     `json:"id"`
	Name        string        `json:"name"`
	Status      SessionStatus `json:"status"`
	Limits      Limits        `json:"limits"`
	SpaceRights SpaceRights   `json:"spaceRights"`
	Retention   Retention     `json:"retention"`
	CreatedAt   Time          `json:"createdAt"`
	ClosedAt    *Time         `json:"closedAt"`
}

// Retention is how long a session keeps things, and RetentionChange a partial change of it.
type (
	Retention       = keep.Retention
	RetentionChange = keep.RetentionChange
)

// NewSession is the input that creates a session. An empty ID gets a
// generated one; an empty name is the id. Limits that are nil are [DefaultLimits]; empty
// SpaceRights are [SpaceRightsMembers].
type NewSession struct {
	ID          SessionID   `json:"id,omitempty"`
	Name        string      `json:"name,omitempty"`
	Limits      *Limits     `json:"limits,omitempty"`
	SpaceRights SpaceRights `json:"spaceRights,omitempty"`
}

// Validate names every wrong field in one [InvalidArgument] error.
func (n NewSession) Validate() error {
	var p problems
	if n.ID != "" {
		p.add(CheckID("id", string(n.ID)))
	}
	p.add(checkLine("name", n.Name, MaxName, false))
	if n.Limits != nil {
		n.Limits.check(&p)
	}
	if n.SpaceRights != "" {
		n.SpaceRights.check(&p)
	}
	return p.err()
}

// Limits bound what the runs of one message may use: all model calls of all runs that have
// the same causeRoot, in any space and of any agent. 0 means unlimited. The estimated use
// of a call is reserved before the call, and a call whose estimate exceeds a limit is not
// made: its run fails with budget_exhausted.
type Limits struct {
	// MaxCostPerRequest is in US dollars, by the prices of the models. A model without a
	// known price counts as free.
	MaxCostPerRequest float64 `json:"maxCostPerRequest"`
	// MaxTokensPerRequest counts the tokens that models read and write.
	MaxTokensPerRequest int64 `json:"maxTokensPerRequest"`
}

// DefaultLimits are those of a session that is created without others.
var DefaultLimits = Limits{MaxCostPerRequest: 5, MaxTokensPerRequest: 5_000_000}

// The greatest limits.
const (
	MaxLimitCost   = 1e6
	MaxLimitTokens = 1e12
)

func (l Limits) check(p *problems) {
	if !(l.MaxCostPerRequest >= 0 && l.MaxCostPerRequest <= MaxLimitCost) {
		p.add(Invalid("limits.maxCostPerRequest", "must be between 0 and 1000000 US dollars; 0 means unlimited"))
	}
	if l.MaxTokensPerRequest < 0 || l.MaxTokensPerRequest > MaxLimitTokens {
		p.add(Invalid("limits.maxTokensPerRequest", "must be between 0 and 1000000000000; 0 means unlimited"))
	}
}

// SessionChange is a partial change of a session: nil leaves a field as it is.
type SessionChange struct {
	Limits      *LimitsChange    `json:"limits,omitempty"`
	SpaceRights *SpaceRights     `json:"spaceRights,omitempty"`
	Retention   *RetentionChange `json:"retention,omitempty"`
}

// LimitsChange is a partial change of limits: nil leaves one as it is.
type LimitsChange struct {
	MaxCostPerRequest   *float64 `json:"maxCostPerRequest,omitempty"`
	MaxTokensPerRequest *int64   `json:"maxTokensPerRequest,omitempty"`
}

// Apply returns limits with the change.
func (c LimitsChange) Apply(l Limits) Limits {
	if c.MaxCostPerRequest != nil {
		l.MaxCostPerRequest = *c.MaxCostPerRequest
	}
	if c.MaxTokensPerRequest != nil {
		l.MaxTokensPerRequest = *c.MaxTokensPerRequest
	}
	return l
}

// Validate names every wrong field in one [InvalidArgument] error.
func (c SessionChange) Validate() error {
	var p problems
	if c.Limits != nil {
		c.Limits.Apply(Limits{}).check(&p)
	}
	if c.SpaceRights != nil {
		c.SpaceRights.check(&p)
	}
	if c.Retention != nil {
		for _, wrong := range c.Retention.Apply(Retention{}).Problems() {
			p.add(Invalid(wrong.Field, wrong.Message))
		}
	}
	return p.err()
}

// ExportType is the media type of the export of a session: JSON lines, see
// docs/export.md.
const ExportType = "application/jsonl"

// Imported is the result of an import: the session that it created, and how many records
// of each type it read.
type Imported struct {
	Session Session          `json:"session"`
	Records map[string]int64 `json:"records"`
}
