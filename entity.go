package shoal

import "encoding/json"

// EntityKind tells people from agents.
type EntityKind string

// The kinds of an entity.
const (
	Human EntityKind = "human"
	Agent EntityKind = "agent"
)

// State is what an entity is doing now, the first of these that holds.
type State string

// The states of an entity: an open wait; a run under way; an open stream or a
// call within the last [ConnectedFor]; none of them.
const (
	Waiting   State = "waiting"
	Running   State = "running"
	Connected State = "connected"
	Offline   State = "offline"
)

// Entity is a participant of a session. State, WaitEndsAt and LastSeenAt are
// live and filled when the entity is read.
type Entity struct {
	ID          EntityID        `json:"id"`
	SessionID   SessionID       `json:"sessionId"`
	Kind        EntityKind      `json:"kind"`
	Hosted      bool            `json:"hosted"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	ExternalID  *string         `json:"externalId"`
	State       State           `json:"state"`
	WaitEndsAt  *Time           `json:"waitEndsAt"`
	LastSeenAt  *Time           `json:"lastSeenAt"`
	Metadata    json.RawMessage `json:"metadata"`
	CreatedAt   Time            `json:"createdAt"`
}

// NewEntity is what a caller hands in to create an entity. An empty kind is
// agent, an empty name is the id.
type NewEntity struct {
	ID          EntityID        `json:"id"`
	Kind        EntityKind      `json:"kind,omitempty"`
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
	p.add(EntityChange{Name: &n.Name, Description: &n.Description, ExternalID: n.ExternalID, Metadata: n.Metadata}.Validate())
	return p.err()
}

// EntityChange is a partial change of an entity: nil leaves a field as it is.
// An empty name becomes the id.
type EntityChange struct {
	Name        *string         `json:"name,omitempty"`
	Description *string         `json:"description,omitempty"`
	ExternalID  *string         `json:"externalId,omitempty"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
}

// Validate names every wrong field in one [InvalidArgument] error.
func (c EntityChange) Validate() error {
	var p problems
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
