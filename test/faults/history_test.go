package faults

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// history is what the clients saw, and what the server says now. Times count
// from the start of the test on a clock that never jumps.
type history struct {
	posts         []*post
	timeline      map[shoal.SpaceID][]seen
	inboxes       []*inbox
	streams       []*stream
	timelineReads []timelineRead
	// final says that the clients have come to rest: nothing is unknown but what
	// was abandoned, every inbox is empty, every stream has caught up.
	final bool
	// uncounted says that the disk was full meanwhile: what was delivered may carry
	// the number that it had before.
	uncounted bool
}

// seen is a message as somebody saw it, and its bytes.
type seen struct {
	shoal.Message
	bytes string
}

// stored returns the message without what only the answer to its sender says: of
// how the mentioned are reached nothing is kept.
func (m seen) stored() seen {
	kept := m.Message
	kept.Reach, kept.Runs, kept.SkippedAgents = nil, nil, nil
	return see(kept)
}

// see returns a message with its bytes: the JSON of all of its fields.
func see(m shoal.Message) seen {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // it was read from JSON
	}
	return seen{m, string(b)}
}

// keyOf returns the key that a message was sent under.
func keyOf(m seen) string {
	key, _, _ := strings.Cut(m.Text(), " ")
	return key
}

// post is a message that somebody wanted to post under one idempotency key. Its
// text begins with that key and a blank.
type post struct {
	key       string
	sender    shoal.EntityID
	space     shoal.SpaceID
	text      string
	mentions  []shoal.EntityID
	sent      time.Duration // just before the first try
	acked     time.Duration // just after the first answer; 0 while the outcome is unknown
	answers   []seen        // of every answered try, replays included
	abandoned bool          // nobody will try again
}

// inbox is what one entity saw of its inbox, by one key, one wait at a time.
type inbox struct {
	owner    shoal.EntityID
	kind     shoal.WaitKind
	spaces   []shoal.SpaceID
	implicit bool // it acknowledges a batch by waiting again
	waits    []wait
}

// wait is one call to wait.
type wait struct {
	life     int
	ack      int // the wait whose cursor it handed back, -1 for none
	sent     time.Duration
	ended    time.Duration // just after its answer
	answered bool          // otherwise nobody knows what it did
	batch    []delivered
}

type delivered struct {
	seen
	delivery int
}

// stream is what one reader saw, over all its connections.
type stream struct {
	name   string
	spaces []shoal.SpaceID
	events []event
}

// event is a snapshot of a space with its newest messages, or one message that
// was created.
type event struct {
	space    shoal.SpaceID
	snapshot bool
	lastSeq  int64 // of a snapshot
	messages []seen
}
