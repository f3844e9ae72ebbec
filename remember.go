package shoal

import (
	"encoding/json"
	"fmt"
	"time"
)

// What a remembered decision decides.
const (
	RememberAllow = "allow"
	RememberDeny  = "deny"
)

// What a remembered decision is bound to beside agent, tool, space and requesters:
// the arguments of the call, or nothing more.
const (
	RememberCall = "call"
	RememberTool = "tool"
)

// How long a decision is remembered: unless the answer says otherwise, and at most.
const (
	RememberFor    = 24 * time.Hour
	MaxRememberFor = 366 * 24 * time.Hour
)

// Remember asks that a decision counts for later calls, too. Scope is call if it is
// empty, ForMs [RememberFor] if it is 0. In JSON a bare "allow" or "deny" is a
// decision of scope call.
type Remember struct {
	Decision string `json:"decision"`
	Scope    string `json:"scope,omitempty"`
	ForMs    int64  `json:"forMs,omitempty"`
}

// UnmarshalJSON reads the object, or the bare word.
func (r *Remember) UnmarshalJSON(text []byte) error {
	*r = Remember{}
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &r.Decision)
	}
	type object Remember
	return json.Unmarshal(text, (*object)(r))
}

// MarshalJSON writes the bare word where it says everything, else the object.
func (r Remember) MarshalJSON() ([]byte, error) {
	if r.Scope == "" && r.ForMs == 0 {
		return EncodeJSON(r.Decision)
	}
	type object Remember
	return EncodeJSON(object(r))
}

func (r Remember) check() error {
	var p problems
	if r.Scope != "" && r.Scope != RememberCall && r.Scope != RememberTool {
		p.add(Invalid("remember.scope", `must be "call" or "tool"`))
	}
	if r.ForMs < 0 || r.ForMs > MaxRememberFor.Milliseconds() {
		p.add(Invalid("remember.forMs", fmt.Sprintf("must be from 1 to %d, or left out for 24 hours", MaxRememberFor.Milliseconds())))
	}
	return p.err()
}

// RememberedDecision is a decision about a permission that counts for later calls,
// until ExpiresAt or until somebody revokes it. It is about one agent, one tool and
// one space (null for calls that no space shows), and about runs that nobody but
// Requesters are the cause of. ArgsHash and Args are those of the call that it was made for. EntityID is who
// decided, null for a key that acts as none.
type RememberedDecision struct {
	ID         RememberedID    `json:"id"`
	AgentID    EntityID        `json:"agentId"`
	ToolName   string          `json:"toolName"`
	SpaceID    *SpaceID        `json:"spaceId"`
	Requesters []EntityID      `json:"requesters"`
	Decision   string          `json:"decision"`
	Scope      string          `json:"scope"`
	ArgsHash   string          `json:"argsHash"`
	Args       json.RawMessage `json:"args"`
	EntityID   *EntityID       `json:"entityId"`
	CreatedAt  Time            `json:"createdAt"`
	ExpiresAt  Time            `json:"expiresAt"`
}
