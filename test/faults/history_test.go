package faults

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// history is what the clients sent and received, and the current state of the server.
// Times count from the start of the test on a monotonic clock.
type history struct {
	posts         []*post
	timeline      map[shoal.SpaceID][]seen
	inboxes       []*inbox
	streams       []*stream
	timelineReads []timelineRead
	// final means that the clients have settled: only abandoned posts are unknown, every
	// inbox is empty, every stream is complete.
	final bool
	// uncounted means that the disk was full meanwhile: the delivery count of an entry
	// may not have risen.
	uncounted bool
}

// seen is a message as a client received it, and its bytes.
type seen struct {
	shoal.Message
	bytes string
}

// stored returns the message without the fields that only the response to its sender has:
// the reach of the mentioned agents is not stored.
func (m seen) stored() seen {
	kept := m.Message
	kept.Reach, kept.Runs, kept.SkippedAgents = nil, nil, nil
	return see(kept)
}

// see returns a message with its bytes: the JSON of all its fields.
func see(m shoal.Message) seen {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	return seen{m, string(b)}
}

// keyOf returns the idempotency key with which a message was sent.
func keyOf(m seen) string {
	key, _, _ := strings.Cut(m.Text(), " ")
	return key
}

// post is a message that a client posts with an idempotency key. Its text starts with
// that key and a space.
type post struct {
	key       string
	sender    shoal.EntityID
	space     shoal.SpaceID
	text      string
	mentions  []shoal.EntityID
	sent      time.Duration // just before the first attempt
	acked     time.Duration // just after the first response; 0 while the outcome is unknown
	answers   []seen        // the responses of all attempts, including replays
	abandoned bool          // the client will not retry
}

// inbox is what one entity received from its inbox, with one key and one wait at a time.
type inbox struct {
	owner    shoal.EntityID
	kind     shoal.WaitKind
	spaces   []shoal.SpaceID
	implicit bool // the entity acknowledges a batch by waiting again
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
	seen
	delivery int
}

// stream is what one reader received, over all its connections.
type stream struct {
	name   string
	spaces []shoal.SpaceID
	events []event
}

// event is a snapshot of a space with its newest messages, or one created message.
type event struct {
	space    shoal.SpaceID
	snapshot bool
	lastSeq  int64 // of a snapshot
	messages []seen
}
