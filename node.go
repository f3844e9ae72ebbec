package shoal

// NodeID identifies one start of one server.
type NodeID string

// Node is a server that runs on a database, possibly next to others.
type Node struct {
	ID NodeID `json:"id"`
	// Name is what the operator calls the server, or a random word.
	Name    string `json:"name"`
	Version string `json:"version"`
	// Bus is why the server does not hear the others, as a clause, or empty if it does.
	Bus       string `json:"bus,omitempty"`
	StartedAt Time   `json:"startedAt"`
	// SeenAt is when the server last recorded that it is alive, which it does every two
	// seconds, by the clock of the database.
	SeenAt Time `json:"seenAt"`
}
