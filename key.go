package shoal

import (
	"fmt"
	"slices"
)

// Role is what a key allows in general.
type Role string

// The roles: everything; one session's programs; acting as one entity.
const (
	RoleAdmin   Role = "admin"
	RoleService Role = "service"
	RoleEntity  Role = "entity"
)

// Key describes a credential, also the sign-in of a browser, which alone has a Device. Secret is
// set only in the response that creates the key. Address is where it was last used from. Scopes
// limit what the role allows; without any, the key reaches all of it. ReplacedBy is the key that it
// was rotated to; RenewForMs is how long after each use it ends at the earliest.
type Key struct {
	ID         KeyID      `json:"id"`
	Secret     *string    `json:"key"`
	Role       Role       `json:"role"`
	SessionID  *SessionID `json:"sessionId"`
	EntityID   *EntityID  `json:"entityId"`
	Name       string     `json:"name"`
	CreatedAt  Time       `json:"createdAt"`
	ExpiresAt  *Time      `json:"expiresAt"`
	Scopes     []string   `json:"scopes"`
	RenewForMs *int64     `json:"renewForMs"`
	ReplacedBy *KeyID     `json:"replacedBy"`
	LastUsedAt *Time      `json:"lastUsedAt"`
	Address    *string    `json:"lastAddress"`
	Device     *string    `json:"device"`
}

// Door names the front end that a key is for.
type Door string

// The front ends whose keys act for a person.
const (
	DoorAGUI   Door = "agui"
	DoorOpenAI Door = "openai"
	DoorAISDK  Door = "ai-sdk"
	DoorInvite Door = "invite"
)

var doors = []Door{DoorAGUI, DoorOpenAI, DoorAISDK, DoorInvite}

// NewKey is the input that creates a key. A key of role service or
// entity without a session belongs to [DefaultSession]. An entity key creates
// its entity if it is new: of Kind if that is given, a human for a key with a Door, else
// an agent.
type NewKey struct {
	Role      Role       `json:"role"`
	SessionID SessionID  `json:"sessionId,omitempty"`
	EntityID  EntityID   `json:"entityId,omitempty"`
	Kind      EntityKind `json:"kind,omitempty"`
	Door      Door       `json:"door,omitempty"`
	Name      string     `json:"name,omitempty"`
	ExpiresAt *Time      `json:"expiresAt,omitempty"`
	Scopes    []string   `json:"scopes,omitempty"`
	// RenewForMs, if not 0, moves the end of the key to so long after each use, and after its creation.
	RenewForMs int64 `json:"renewForMs,omitempty"`
}

// KeyRotation is the input that replaces a key. The old one works for another OverlapMs, or 24 hours
// without it; the new one until ExpiresAt, or else for as long as the old one was created for.
type KeyRotation struct {
	OverlapMs *int64 `json:"overlapMs,omitempty"`
	ExpiresAt *Time  `json:"expiresAt,omitempty"`
}

// Validate names every wrong field in one [InvalidArgument] error.
func (n NewKey) Validate() error {
	var p problems
	switch n.Role {
	case RoleAdmin:
		if n.SessionID != "" {
			p.add(Invalid("sessionId", "must be left out: an admin key belongs to no session"))
		}
	case RoleService, RoleEntity:
		if n.SessionID != "" {
			p.add(CheckID("sessionId", string(n.SessionID)))
		}
	default:
		p.add(Invalid("role", `must be "admin", "service" or "entity"`))
	}
	if n.Role == RoleEntity {
		p.add(CheckID("entityId", string(n.EntityID)))
	} else if n.EntityID != "" {
		p.add(Invalid("entityId", fmt.Sprintf("must be left out: a key of role %q acts as no entity", n.Role)))
	}
	if n.Kind != "" && n.Kind != Human && n.Kind != Agent {
		p.add(Invalid("kind", `must be "human" or "agent"`))
	}
	switch {
	case n.Door == "":
	case !slices.Contains(doors, n.Door):
		p.add(Invalid("door", `must be "agui", "openai", "ai-sdk" or "invite"`))
	case n.Role != RoleEntity:
		p.add(Invalid("door", fmt.Sprintf("must be left out: a key of role %q acts as no entity", n.Role)))
	case n.Kind == Agent:
		p.add(Invalid("door", "is for people: leave kind out, or leave door out for the key of an agent"))
	}
	p.add(checkLine("name", n.Name, MaxName, false))
	return p.err()
}

// Principal is the caller of an operation, as its key proves. SessionID is empty for an
// admin. EntityID is the acting entity: the key's own, or the one that an admin
// names; empty without an acting entity. SessionRole is that of the key's entity; empty for
// other keys and, which means member, if nobody has looked it up. Scopes are those of the key,
// separated by spaces.
type Principal struct {
	KeyID       KeyID
	SignIn      KeyID // of a browser that acts with a pasted key: its own key, which ends with the sign-in
	Role        Role
	SessionID   SessionID
	EntityID    EntityID
	SessionRole SessionRole
	Scopes      string
}

// Admin reports whether p may do everything.
func (p Principal) Admin() bool { return p.Role == RoleAdmin }

// Caller describes the caller to itself. EntityID is the acting entity, SignInID the sign-in of a
// browser that acts with a key, Acts what its role and the scopes of the key allow, by the names in
// docs/roles.md.
type Caller struct {
	KeyID     KeyID      `json:"keyId"`
	Role      Role       `json:"role"`
	SessionID *SessionID `json:"sessionId"`
	EntityID  *EntityID  `json:"entityId"`
	Scopes    []string   `json:"scopes"`
	SignInID  *KeyID     `json:"signInId"`
	Acts      []string   `json:"acts"`
}

// SignedURL is an address that its holder reads without a key, with the rights of
// the principal that requested it, until ExpiresAt. ExpiresAt is nil if the address needs
// no key.
type SignedURL struct {
	URL       string `json:"url"`
	ExpiresAt *Time  `json:"expiresAt"`
}

// ConsoleLink opens the console. ExpiresAt is nil if the link does not expire.
type ConsoleLink SignedURL
