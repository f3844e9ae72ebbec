package shoal

import (
	"encoding/json"
	"fmt"
)

// SpaceStatus is open or closed. A closed space keeps its history and refuses
// posts.
type SpaceStatus string

// The states of a space.
const (
	SpaceStatusOpen   SpaceStatus = "open"
	SpaceStatusClosed SpaceStatus = "closed"
)

// Space is a conversation: members and one timeline, ordered by seq 1, 2, 3 …
// without gaps. The MCP tools call it a thread. UnreadCount, MentionCount, FirstUnreadSeq
// and Muted are those of the reader: 0 and false for a reader that is not an entity, and in
// events. FirstUnreadSeq is the seq of the oldest unread message, 0 if all are read.
//
// OwnerID is the entity that created the space; nil where an admin key did that acts as no
// entity, and for spaces of servers that did not store it.
//
// MemberCount is the number of members. Members contains all of them, in the order of joining,
// unless there are more than [MaxListedMembers]. Then it contains that many: the reader, the
// admin agent, hosted agents, the latest senders, and then others in the order of joining.
//
// A member that has muted the space gets only messages that mention it into its inbox,
// so both counts are then the number of these.
type Space struct {
	ID                 SpaceID         `json:"id"`
	SessionID          SessionID       `json:"sessionId"`
	Name               string          `json:"name"`
	Status             SpaceStatus     `json:"status"`
	Summary            *string         `json:"summary"`
	OwnerID            *EntityID       `json:"ownerId"`
	AdminAgentID       *EntityID       `json:"adminAgentId"`
	ShowAgentReasoning bool            `json:"showAgentReasoning"`
	Metadata           json.RawMessage `json:"metadata"`
	Members            []Member        `json:"members"`
	MemberCount        int64           `json:"memberCount"`
	LastSeq            int64           `json:"lastSeq"`
	UnreadCount        int64           `json:"unreadCount"`
	MentionCount       int64           `json:"mentionCount"`
	FirstUnreadSeq     int64           `json:"firstUnreadSeq"`
	Muted              bool            `json:"muted"`
	CreatedAt          Time            `json:"createdAt"`
	ClosedAt           *Time           `json:"closedAt"`
}

// Member is an entity in a space. AddedBy is
// the entity that added it; nil for the creator of the space, for members that added
// themselves, and if an admin key without an acting entity did.
type Member struct {
	EntityID EntityID   `json:"entityId"`
	Kind     EntityKind `json:"kind"`
	Name     string     `json:"name"`
	JoinedAt Time       `json:"joinedAt"`
	AddedBy  *EntityID  `json:"addedBy"`
	// Muted means that the member has muted the space. Only the member itself sees it, as
	// [Space.Muted].
	Muted bool `json:"-"`
}

// Complete reports whether Members contains all members of the space. Events that were stored
// before there was a MemberCount lack it, and contain all.
func (s Space) Complete() bool { return int64(len(s.Members)) >= s.MemberCount }

// NewSpace is the input that creates a space. The acting entity becomes a member. An empty
// ID gets a generated one.
type NewSpace struct {
	ID                 SpaceID         `json:"id,omitempty"`
	Name               string          `json:"name"`
	Members            []EntityID      `json:"members,omitempty"`
	AdminAgentID       *EntityID       `json:"adminAgentId,omitempty"`
	ShowAgentReasoning bool            `json:"showAgentReasoning,omitempty"`
	Metadata           json.RawMessage `json:"metadata,omitempty"`
}

// Validate names every wrong field in one [InvalidArgument] error.
func (n NewSpace) Validate() error {
	var p problems
	if n.ID != "" {
		p.add(CheckID("id", string(n.ID)))
	}
	p.add(checkLine("name", n.Name, MaxName, true))
	if len(n.Members) > MaxNewMembers {
		p.add(Invalid("members", fmt.Sprintf("has %d entries; at most %d are allowed: create the space with these and add the others one by one", len(n.Members), MaxNewMembers)))
	}
	p.add(checkObject("metadata", n.Metadata, MaxMetadata))
	return p.err()
}

// SpaceChange is a partial change of a space: nil leaves a field as it is, an
// empty AdminAgentID unsets it.
type SpaceChange struct {
	Name               *string         `json:"name,omitempty"`
	AdminAgentID       *EntityID       `json:"adminAgentId,omitempty"`
	ShowAgentReasoning *bool           `json:"showAgentReasoning,omitempty"`
	Metadata           json.RawMessage `json:"metadata,omitempty"`
}

// Validate names every wrong field in one [InvalidArgument] error.
func (c SpaceChange) Validate() error {
	var p problems
	if c.Name != nil {
		p.add(checkLine("name", *c.Name, MaxName, true))
	}
	p.add(checkObject("metadata", c.Metadata, MaxMetadata))
	return p.err()
}

// CheckSummary checks the summary with which a caller closes a space.
func CheckSummary(summary string) error {
	if summary == "" {
		return Invalid("summary", "is missing: say in a sentence what came out of the conversation")
	}
	return checkText("summary", summary, MaxSummary)
}
