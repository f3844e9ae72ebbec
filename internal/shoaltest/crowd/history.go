package crowd

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// history is what the clients sent and received, and the current state of the server.
// Times count from the start of the test on a monotonic clock.
type history struct {
	posts         []*Post
	timeline      map[shoal.SpaceID][]Seen
	inboxes       []*Inbox
	streams       []*Stream
	timelineReads []timelineRead
	// final means that the clients have settled: only abandoned posts are unknown, every
	// inbox is empty, every stream is complete.
	final bool
	// uncounted means that the disk was full or the database out of reach meanwhile: the
	// delivery count of an entry may not have risen, or has risen later for a wait without
	// a response.
	uncounted bool
}

// Seen is a message as a client received it, and its bytes.
type Seen struct {
	shoal.Message
	Bytes string
}

// stored returns the message without the fields that only the response to its sender has:
// the reach of the mentioned agents is not stored.
func (m Seen) stored() Seen {
	kept := m.Message
	kept.Reach, kept.Runs, kept.SkippedAgents = nil, nil, nil
	return See(kept)
}

// See returns a message with its bytes: the JSON of all its fields.
func See(m shoal.Message) Seen {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	return Seen{m, string(b)}
}

// keyOf returns the idempotency key with which a message was sent.
func keyOf(m Seen) string {
	key, _, _ := strings.Cut(m.Text(), " ")
	return key
}

// Post is a message that a client posts with an idempotency key. Its text starts with
// that key and a space.
type Post struct {
	Key       string
	sender    shoal.EntityID
	Space     shoal.SpaceID
	Text      string
	Mentions  []shoal.EntityID
	Sent      time.Duration // just before the first attempt
	Acked     time.Duration // just after the first response; 0 while the outcome is unknown
	answers   []Seen        // the responses of all attempts, including replays
	abandoned bool          // the client will not retry
}

// Inbox is what one entity received from its inbox, with one key and one wait at a time.
type Inbox struct {
	owner    shoal.EntityID
	kind     shoal.WaitKind
	spaces   []shoal.SpaceID
	Implicit bool // the entity acknowledges a batch by waiting again
	waits    []wait
}

// wait is one wait call.
type wait struct {
	life     int
	ack      int // the index of the wait whose cursor it sent, -1 for none
	sent     time.Duration
	ended    time.Duration // just after its response
	answered bool          // if false, its effect is unknown
	batch    []delivered
}

type delivered struct {
	Seen
	delivery int
}

// Stream is what one reader received, over all its connections.
type Stream struct {
	Name   string
	spaces []shoal.SpaceID
	events []event
}

// event is a snapshot of a space with its newest messages, or one created message.
type event struct {
	space    shoal.SpaceID
	snapshot bool
	lastSeq  int64 // of a snapshot
	messages []Seen
	origin   string // the cursor and the time of its arrival, for people
}
