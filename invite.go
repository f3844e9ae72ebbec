package shoal

import (
	"fmt"
	"time"
)

// Limits of invitations.
const (
	// InviteLife is how long an invitation works if its creator does not choose.
	InviteLife = 72 * time.Hour
	// MaxInviteLife is how long an invitation works at most.
	MaxInviteLife = 30 * 24 * time.Hour
	// MaxInvites is the number of invitations of a session that work at once.
	MaxInvites = 100
	// MaxInviteSpaces is the number of spaces that an invitation can name.
	MaxInviteSpaces = 100
)

// Invite is an invitation to a session: a link that one person opens once, before it expires.
// URL is set only in the response that creates it.
type Invite struct {
	ID          InviteID    `json:"id"`
	URL         *string     `json:"url"`
	SessionID   SessionID   `json:"sessionId"`
	Name        string      `json:"name"`
	SessionRole SessionRole `json:"sessionRole"`
	Spaces      []SpaceID   `json:"spaces"`
	CreatedBy   *EntityID   `json:"createdBy"`
	CreatedAt   Time        `json:"createdAt"`
	ExpiresAt   Time        `json:"expiresAt"`
}

// NewInvite is the input that creates an invitation. Name is a note about whom it is for. An
// empty session role is member; the person becomes a member of Spaces.
type NewInvite struct {
	Name        string      `json:"name,omitempty"`
	SessionRole SessionRole `json:"sessionRole,omitempty"`
	Spaces      []SpaceID   `json:"spaces,omitempty"`
	ExpiresAt   *Time       `json:"expiresAt,omitempty"`
}

// Validate names every wrong field in one [InvalidArgument] error.
func (n NewInvite) Validate() error {
	var p problems
	p.add(checkLine("name", n.Name, MaxName, false))
	if n.SessionRole != "" {
		p.add(checkSessionRole(n.SessionRole))
	}
	if len(n.Spaces) > MaxInviteSpaces {
		p.add(Invalid("spaces", fmt.Sprintf("must have at most %d entries", MaxInviteSpaces)))
	}
	for i, id := range n.Spaces {
		p.add(CheckID(fmt.Sprintf("spaces[%d]", i), string(id)))
	}
	return p.err()
}

// Joining is the input with which a person accepts an invitation: the code of its link, and the
// name to be shown.
type Joining struct {
	Code string `json:"code"`
	Name string `json:"name"`
}

// Validate names every wrong field in one [InvalidArgument] error.
func (j Joining) Validate() error {
	var p problems
	p.add(checkLine("code", j.Code, MaxName, true))
	p.add(checkLine("name", j.Name, MaxName, true))
	return p.err()
}
