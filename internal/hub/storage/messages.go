package storage

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/search"
)

// MessageTx stores timelines.
type MessageTx interface {
	// InsertMessage stores m at m.Seq, which must be the space's LastSeq plus one, and
	// advances LastSeq. post may be the zero value.
	InsertMessage(m shoal.Message, post PostKey) error
	// PostMessage is InsertMessage for a posted message, which is complete from the start.
	// It also appends the message.created event. The data of that event, a
	// [shoal.MessageData], is built from the current message whenever the event is read.
	PostMessage(m shoal.Message, post PostKey) error
	// MessageByKey returns the message that was posted under a key and the hash that it
	// was posted with; NotFound when there is no such message.
	MessageByKey(session shoal.SessionID, scope, key string) (shoal.Message, string, error)
	// Messages returns a page of the timeline in ascending order.
	Messages(session shoal.SessionID, space shoal.SpaceID, page Page) ([]shoal.Message, error)
	// Search finds messages that match a query, the newest first. It does not find
	// messages in progress. It finds every other message from the transaction on that
	// stored or completed it.
	Search(session shoal.SessionID, query SearchQuery) (SearchResult, error)
}

// PostKey is the idempotency key of a message. Scope identifies the principal, Hash is a
// hash of the content.
type PostKey struct{ Scope, Key, Hash string }

// Page selects messages by seq: with Before the last Limit messages below it, with After
// the first Limit messages above it, with neither the newest Limit messages. Before and
// After must not both be set.
type Page struct {
	Before, After int64
	Limit         int
}

// SearchQuery selects messages.
type SearchQuery struct {
	// Query must match the message as Reader may see it. It must not contain the name
	// "me".
	Query search.Query
	// Reader, if set, limits the search to spaces that this entity is in.
	Reader shoal.EntityID
	// Before, if set, limits the search to messages before this position.
	Before int64
	Limit  int
}

// SearchResult contains the messages that a search found, the most recently committed
// first. Next is the position before which there may be more matches, 0 if there are no
// more. To limit its duration, a search may stop before it has found Limit messages.
type SearchResult struct {
	Found []SearchHit
	Next  int64
}

// SearchHit is a complete message that matches a search, with its space and its position
// among all messages.
type SearchHit struct {
	Space    shoal.SpaceRef
	Message  shoal.Message
	Position int64
}

// ComposedTx stores composite messages.
type ComposedTx interface {
	// Message fails with NotFound for a message that does not exist in that space.
	Message(session shoal.SessionID, space shoal.SpaceID, id shoal.MessageID) (shoal.Message, error)
	// UpdateMessage stores status, mentions, parts and updatedAt of a composite message,
	// and the state of its composer, which is opaque to the hub.
	UpdateMessage(m shoal.Message, state json.RawMessage) error
	// Composed returns the messages of a run with the states of their composers, in the
	// order in which they were opened.
	Composed(session shoal.SessionID, run shoal.RunID) ([]ComposedMessage, error)
	// Streaming returns the messages in progress of a space, or of all spaces if space is
	// empty.
	Streaming(session shoal.SessionID, space shoal.SpaceID) ([]shoal.Message, error)
	// Cause returns the cause that InsertCause stored for a message, or the zero value.
	Cause(session shoal.SessionID, id shoal.MessageID) (Cause, error)
	InsertCause(session shoal.SessionID, id shoal.MessageID, c Cause) error
}

// ComposedMessage is a composite message with the state of its composer.
type ComposedMessage struct {
	shoal.Message
	State json.RawMessage
}

// Cause is the position of a message in a chain of agents. A message without a cause has
// depth 0 and is its own root.
type Cause struct {
	Root   string
	Depth  int
	Linked bool // the chain passes a connected agent
	// ActingFor are the entities at the roots of the chain, see [shoal.Run]; empty for
	// messages from before this was recorded.
	ActingFor []shoal.EntityID
}
