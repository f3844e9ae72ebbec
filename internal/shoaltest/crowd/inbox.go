package crowd

import (
	"slices"

	"github.com/shoal-dev/shoal"
)

// inboxCheck checks the waits of one inbox in their order. It relies on the API contract:
// an inbox is ordered, a wait returns its first unacknowledged messages, and a cursor
// covers a batch and everything before it.
type inboxCheck struct {
	*checker
	*Inbox
	entries map[shoal.MessageID]*entry // everything that was delivered
	open    []*entry                   // those that may be unacknowledged
	newest  map[shoal.SpaceID]int64    // the largest seq that was delivered
	lost    int                        // the number of waits without a response so far
	due     []*Post                    // posts for the owner, by the time of their acknowledgement
}

// entry is a message that was delivered.
type entry struct {
	id     shoal.MessageID
	first  int // the first wait that delivered it
	last   int // the last wait that delivered it
	number int // the delivery count in that wait
	times  int // how many waits delivered it
	acked  bool
	doubt  bool // an acknowledgement of it got no response
}

func (c *inboxCheck) run() {
	for _, p := range c.posts {
		if c.concerns(p.Space, p.sender, p.Mentions) {
			c.due = append(c.due, p)
		}
	}
	slices.SortFunc(c.due, byAnswer)
	for i := range c.waits {
		c.acknowledge(i)
		if !c.waits[i].answered {
			c.lost++
			continue
		}
		c.receive(i)
		c.missing(i)
	}
	if !c.final {
		return
	}
	for _, space := range c.spaces {
		for _, m := range c.timeline[space] {
			if c.concerns(space, m.EntityID, m.Mentions) && c.entries[m.ID] == nil {
				c.fault("not delivered: %s never got %s seq %d of %s", c.owner, m.ID, m.Seq, space)
			}
		}
	}
}

// concerns reports whether a message matches the waits of the owner.
func (c *inboxCheck) concerns(space shoal.SpaceID, sender shoal.EntityID, mentions []shoal.EntityID) bool {
	return slices.Contains(c.spaces, space) && sender != c.owner &&
		(c.kind == shoal.WaitMessages || slices.Contains(mentions, c.owner))
}

// acknowledge applies the acknowledgement of wait i to earlier batches, as far as its
// outcome is known.
func (c *inboxCheck) acknowledge(i int) {
	w := c.waits[i]
	upTo := w.ack
	if c.Implicit {
		// The next wait acknowledges a batch, but a server does not know which batch
		// was delivered before a crash.
		if upTo = i - 1; upTo >= 0 && (!c.waits[upTo].answered || c.waits[upTo].life != w.life) {
			upTo = -1
		}
	}
	for _, e := range c.open {
		if e.first <= upTo {
			e.acked, e.doubt = e.acked || w.answered, !w.answered
		}
	}
	c.open = slices.DeleteFunc(c.open, func(e *entry) bool { return e.acked })
}

// receive processes the batch of wait i.
func (c *inboxCheck) receive(i int) {
	for _, m := range c.waits[i].batch {
		c.known(string(c.owner), m.Seen)
		e := c.entries[m.ID]
		if e == nil {
			c.fresh(i, m)
			continue
		}
		if e.acked {
			c.fault("redelivered after ack: %s got %s seq %d of %s again in wait %d, first in %d", c.owner, m.ID, m.Seq, m.SpaceID, i, e.first)
		}
		least := e.number
		if c.waits[e.last].life == c.waits[i].life && !c.uncounted {
			least++ // a crash may lose the count of the last delivery only
		}
		most := e.number + i - e.last
		if c.uncounted {
			// Deliveries of two servers can have one number, and all of them are counted later. A count
			// whose line was silent is stored when it carries data again.
			most = max(e.number, e.times) + i - e.last + c.lost
		}
		if m.delivery < least || m.delivery > most {
			c.fault("delivery number: %s got %s as delivery %d in wait %d, want %d…%d", c.owner, m.ID, m.delivery, i, least, most)
		}
		e.last, e.number, e.times = i, m.delivery, e.times+1
	}
}

func (c *inboxCheck) fresh(i int, m delivered) {
	e := &entry{id: m.ID, first: i, last: i, number: m.delivery, times: 1}
	c.entries[m.ID] = e
	c.open = append(c.open, e)
	switch {
	case !c.concerns(m.SpaceID, m.EntityID, m.Mentions):
		c.fault("foreign: %s got %s, which is not for it", c.owner, m.ID)
	case m.Seq <= c.newest[m.SpaceID]:
		c.fault("inbox moved back: %s got seq %d of %s for the first time after %d", c.owner, m.Seq, m.SpaceID, c.newest[m.SpaceID])
	case m.delivery < 1 || m.delivery > 1+c.lost:
		c.fault("delivery number: %s got %s for the first time as delivery %d", c.owner, m.ID, m.delivery)
	}
	c.newest[m.SpaceID] = max(c.newest[m.SpaceID], m.Seq)
}

// missing checks what wait i should have returned and did not: everything that was
// delivered and not acknowledged, and, if it returned nothing, everything that was unread
// when it started or arrived long before it ended.
func (c *inboxCheck) missing(i int) {
	got := map[shoal.MessageID]bool{}
	for _, m := range c.waits[i].batch {
		got[m.ID] = true
	}
	lastGone, firstKept := -1, len(c.waits)
	for _, e := range c.open {
		switch {
		case !e.doubt:
			if !got[e.id] {
				c.fault("not redelivered: %s got %s in wait %d, did not acknowledge it, and wait %d returned without it", c.owner, e.id, e.last, i)
			}
		case got[e.id]:
			firstKept = min(firstKept, e.first)
		default:
			e.acked = true
			lastGone = max(lastGone, e.first)
		}
		e.doubt = false
	}
	if lastGone >= firstKept {
		c.fault("acknowledged in part: only some messages of wait %d of %s were delivered again", firstKept, c.owner)
	}
	c.open = slices.DeleteFunc(c.open, func(e *entry) bool { return e.acked })
	if len(got) > 0 {
		return
	}
	there := max(c.waits[i].sent, c.waits[i].ended-WakeLimit)
	for len(c.due) > 0 && c.due[0].Acked > 0 && c.due[0].Acked < there {
		if m := c.due[0].answers[0]; c.entries[m.ID] == nil {
			c.fault("not delivered: wait %d of %s returned nothing, although %s was unread", i, c.owner, m.ID)
		}
		c.due = c.due[1:]
	}
}
