package shoal

import (
	"encoding/json"
	"slices"
)

// EntityKind distinguishes people from agents.
type EntityKind string

// The kinds of an entity.
const (
	Human EntityKind = "human"
	Agent EntityKind = "agent"
)

// State is what an entity is doing now: the first of the states below that applies.
type State string

// The states of an entity: an open wait; a run under way; an open stream or a
// call within the last [PresenceWindow]; none of them.
const (
	Waiting   State = "waiting"
	Running   State = "running"
	Connected State = "connected"
	Offline   State = "offline"
)

// SessionRole says what an entity may do in its session beyond being a member of
// spaces.
type SessionRole string

// The roles of an entity in its session. An owner may do there what an admin may;
// the rights of each operation state how the others differ.
const (
	SessionOwner   SessionRole = "owner"
	SessionAdmin   SessionRole = "admin"
	SessionMember  SessionRole = "member"
	SessionGuest   SessionRole = "guest"
	SessionAuditor SessionRole = "auditor"
)

// sessionRoles are the roles that exist.
var sessionRoles = []SessionRole{SessionOwner, SessionAdmin, SessionMember, SessionGuest, SessionAuditor}

func checkSessionRole(r SessionRole) error {
	if slices.Contains(sessionRoles, r) {
		return nil
	}
	return Invalid("sessionRole", `must be "owner", "admin", "member", "guest" or "auditor"`)
}

// Entity is a participant of a session. OwnerID is the entity that answers for an
// agent: it created the agent's key or applied its configuration; nil if unknown. State,
// WaitEndsAt, LastSeenAt and Wake are live and filled when the entity is read. Wake is how a mention
// reaches an agent, nil for a human.
//
// LastFailure is the last failed run of a hosted agent, null once a later run succeeds.
// StalledSince is the time of the last activity of its stalled run, null if no run is stalled.
type Entity struct {
	ID           EntityID        `json:"id"`
	SessionID    SessionID       `json:"sessionId"`
	Kind         EntityKind      `json:"kind"`
	SessionRole  SessionRole     `json:"sessionRole"`
	OwnerID      *EntityID       `json:"ownerId"`
	Hosted       bool            `json:"hosted"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	ExternalID   *string         `json:"externalId"`
	State        State           `json:"state"`
	WaitEndsAt   *Time           `json:"waitEndsAt"`
	LastSeenAt   *Time           `json:"lastSeenAt"`
	LastFailure  *Failure        `json:"lastFailure"`
	StalledSince *Time           `json:"stalledSince"`
	Wake         *Wake           `json:"wake"`
	Metadata     json.RawMessage `json:"metadata"`
	CreatedAt    Time            `json:"createdAt"`
	// Remote is set for a hosted agent whose runs a program executes, and AtWork while one has leased
	// a run of it. Wake says what follows from them.
	Remote bool `json:"-"`
	AtWork bool `json:"-"`
	// WakeProof is stored; Wake has it.
	WakeProof *WakeProof `json:"-"`
}

// Failure states why the last run of an agent failed. Code is that of a [RunError].
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	RunID   RunID  `json:"runId"`
	At      Time   `json:"at"`
	// MessageID is the system message that reports the failure; it is not shown to entities that may
	// not be in its space.
	MessageID MessageID `json:"-"`
}

// NewEntity is the input that creates an entity. An empty kind is
// agent, an empty session role is member, an empty name is the id.
type NewEntity struct {
	ID          EntityID        `json:"id"`
	Kind        EntityKind      `json:"kind,omitempty"`
	SessionRole SessionRole     `json:"sessionRole,omitempty"`
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	ExternalID  *string         `json:"externalId,omitempty"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
}

// Validate names every wrong field in one [InvalidArgument] error.
func (n NewEntity) Validate() error {
	var p problems
	p.add(CheckID("id", string(n.ID)))
	if n.Kind != "" && n.Kind != Human && n.Kind != Agent {
		p.add(Invalid("kind", `must be "human" or "agent"`))
	}
	if n.SessionRole != "" {
		p.add(checkSessionRole(n.SessionRole))
	}
	p.add(EntityChange{Name: &n.Name, Description: &n.Description, ExternalID: n.ExternalID, Metadata: n.Metadata}.Validate())
	return p.err()
}

// EntityChange is a partial change of an entity: nil leaves a field as it is.
// An empty name becomes the id, an empty owner removes the owner. An entity changes
// its own name, description and metadata; the other fields are for admins and the
// session's owners.
type EntityChange struct {
	Kind        *EntityKind     `json:"kind,omitempty"`
	SessionRole *SessionRole    `json:"sessionRole,omitempty"`
	OwnerID     *EntityID       `json:"ownerId,omitempty"`
	Name        *string         `json:"name,omitempty"`
	Description *string         `json:"description,omitempty"`
	ExternalID  *string         `json:"externalId,omitempty"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
}

// Validate names every wrong field in one [InvalidArgument] error.
func (c EntityChange) Validate() error {
	var p problems
	if c.Kind != nil && *c.Kind != Human && *c.Kind != Agent {
		p.add(Invalid("kind", `must be "human" or "agent"`))
	}
	if c.SessionRole != nil {
		p.add(checkSessionRole(*c.SessionRole))
	}
	if c.OwnerID != nil && *c.OwnerID != "" {
		p.add(CheckID("ownerId", string(*c.OwnerID)))
	}
	if c.Name != nil {
		p.add(checkLine("name", *c.Name, MaxName, false))
	}
	if c.Description != nil {
		p.add(checkText("description", *c.Description, MaxDescription))
	}
	if c.ExternalID != nil {
		p.add(checkLine("externalId", *c.ExternalID, MaxName, true))
	}
	p.add(checkObject("metadata", c.Metadata, MaxMetadata))
	return p.err()
}

// Restricted reports whether the change touches what only an admin or an owner of
// the session may set, and names the first such field.
func (c EntityChange) Restricted() (field string, restricted bool) {
	for _, f := range []struct {
		name string
		set  bool
	}{{"kind", c.Kind != nil}, {"sessionRole", c.SessionRole != nil}, {"ownerId", c.OwnerID != nil}, {"externalId", c.ExternalID != nil}} {
		if f.set {
			return f.name, true
		}
	}
	return "", false
}
