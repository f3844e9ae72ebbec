package shoal

// SessionStatus is open or closed. A closed session can be read; nothing in it
// changes any more.
type SessionStatus string

// The states of a session.
const (
	SessionOpen SessionStatus = "open"
	SessionShut SessionStatus = "closed"
)

// Session is the isolation boundary: entities, spaces and keys belong to
// exactly one, and nothing crosses it.
type Session struct {
	ID        SessionID     `json:"id"`
	Name      string        `json:"name"`
	Status    SessionStatus `json:"status"`
	CreatedAt Time          `json:"createdAt"`
	ClosedAt  *Time         `json:"closedAt"`
}

// NewSession is what a caller hands in to create a session. An empty ID gets a
// generated one; an empty name is the id.
type NewSession struct {
	ID   SessionID `json:"id,omitempty"`
	Name string    `json:"name,omitempty"`
}

// Validate names every wrong field in one [InvalidArgument] error.
func (n NewSession) Validate() error {
	var p problems
	if n.ID != "" {
		p.add(CheckID("id", string(n.ID)))
	}
	p.add(checkLine("name", n.Name, MaxName, false))
	return p.err()
}
