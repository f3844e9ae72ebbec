package crowd

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
)

// check returns the faults of a history, none if it is correct.
func check(h history) []string {
	c := checker{history: h, byID: map[shoal.MessageID]Seen{}, byKey: map[string][]Seen{}}
	c.timelines()
	c.fates()
	for _, space := range slices.Sorted(maps.Keys(h.timeline)) {
		c.order(space)
	}
	for _, box := range h.inboxes {
		(&inboxCheck{checker: &c, Inbox: box, entries: map[shoal.MessageID]*entry{}, newest: map[shoal.SpaceID]int64{}}).run()
	}
	for _, s := range h.streams {
		c.stream(s)
	}
	return c.faults
}

type checker struct {
	history
	byID   map[shoal.MessageID]Seen
	byKey  map[string][]Seen
	faults []string
}

func (c *checker) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// timelines checks that the seq numbers of every space are 1…n and that ids are unique.
func (c *checker) timelines() {
	for _, space := range slices.Sorted(maps.Keys(c.timeline)) {
		for i, m := range c.timeline[space] {
			if m.Seq != int64(i+1) {
				c.fault("gap: %s has seq %d at position %d", space, m.Seq, i+1)
			}
			if _, taken := c.byID[m.ID]; taken {
				c.fault("doubled: two messages have the id %s", m.ID)
			}
			c.byID[m.ID] = m
			c.byKey[keyOf(m)] = append(c.byKey[keyOf(m)], m)
		}
	}
}

// fates checks that every acknowledged post is stored once, as it was sent and returned,
// that every unknown post is stored at most once, and that nothing else is stored.
func (c *checker) fates() {
	sent := map[string]bool{}
	for _, p := range c.posts {
		sent[p.Key] = true
		found := c.byKey[p.Key]
		switch {
		case len(found) > 1:
			c.fault("doubled: %s is stored %d times, as %s and %s", p.Key, len(found), found[0].ID, found[1].ID)
		case len(found) == 0 && len(p.answers) > 0:
			c.fault("lost: %s was acknowledged as %s seq %d of %s and is not stored", p.Key, p.answers[0].ID, p.answers[0].Seq, p.Space)
		case len(found) == 1:
			c.same(p, found[0])
		}
		if c.final && len(p.answers) == 0 && !p.abandoned {
			c.fault("unresolved: the outcome of %s is still unknown after a retry", p.Key)
		}
	}
	for key, found := range c.byKey {
		if !sent[key] {
			c.fault("foreign: no client sent %s in %s", found[0].ID, found[0].SpaceID)
		}
	}
}

// same checks that a stored message equals the sent post and every response.
func (c *checker) same(p *Post, m Seen) {
	if m.SpaceID != p.Space || m.EntityID != p.sender || m.Text() != p.Text || !slices.Equal(m.Mentions, p.Mentions) {
		c.fault("changed: %s was sent to %s as %q and is stored as %s", p.Key, p.Space, p.Text, m.Bytes)
	}
	for _, a := range p.answers {
		switch {
		case a.ID != m.ID:
			c.fault("two ids: %s was returned as %s and is stored as %s", p.Key, a.ID, m.ID)
		case a.stored().Bytes != m.Bytes:
			c.fault("changed: %s was returned as %s and is stored as %s", p.Key, a.Bytes, m.Bytes)
		}
	}
}

// order checks that a post that was acknowledged before another was sent has the lower
// seq.
func (c *checker) order(space shoal.SpaceID) {
	fate := map[string]*Post{}
	for _, p := range c.posts {
		fate[p.Key] = p
	}
	earliest, whose := time.Duration(math.MaxInt64), ""
	for _, m := range slices.Backward(c.timeline[space]) {
		key := keyOf(m)
		p := fate[key]
		if p == nil {
			continue
		}
		if earliest < p.Sent {
			c.fault("reordered: in %s %s was acknowledged before %s was sent, but comes after it", space, whose, key)
		}
		if p.Acked > 0 && p.Acked < earliest {
			earliest, whose = p.Acked, key
		}
	}
}

// known checks that a message that a client received is in the timeline, byte for byte.
func (c *checker) known(who string, m Seen) {
	switch stored, ok := c.byID[m.ID]; {
	case !ok:
		c.fault("lost: %s received %s seq %d of %s, which is not stored", who, m.ID, m.Seq, m.SpaceID)
	case stored.Bytes != m.Bytes:
		c.fault("changed: %s received %s, stored is %s", who, m.Bytes, stored.Bytes)
	}
}

// Stream checks that after a snapshot every message arrives once and in order, and that a
// snapshot never moves back.
func (c *checker) stream(s *Stream) {
	at, last := map[shoal.SpaceID]int64{}, map[shoal.SpaceID]string{}
	for _, ev := range s.events {
		before, begun := at[ev.space]
		came := last[ev.space]
		last[ev.space] = ev.origin
		for _, m := range ev.messages {
			c.known(s.Name, m)
		}
		switch {
		case ev.snapshot:
			c.snapshot(s, ev, before)
			at[ev.space] = ev.lastSeq
			continue
		case !begun:
			c.fault("stream: %s got seq %d of %s before any snapshot of it", s.Name, ev.messages[0].Seq, ev.space)
		case ev.messages[0].Seq <= before:
			c.fault("stream twice: %s got seq %d of %s after %d", s.Name, ev.messages[0].Seq, ev.space, before)
		case ev.messages[0].Seq > before+1:
			c.fault("stream gap: %s got seq %d of %s after %d: %s after %s", s.Name, ev.messages[0].Seq, ev.space, before, ev.origin, came)
		}
		at[ev.space] = ev.messages[0].Seq
	}
	for _, space := range s.spaces {
		if n := int64(len(c.timeline[space])); c.final && at[space] != n {
			c.fault("stream gap: %s ended at seq %d of %s, which has %d", s.Name, at[space], space, n)
		}
	}
}

func (c *checker) snapshot(s *Stream, ev event, before int64) {
	if ev.lastSeq < before {
		c.fault("stream moved back: %s got a snapshot of %s at %d after %d", s.Name, ev.space, ev.lastSeq, before)
	}
	if want := min(ev.lastSeq, shoal.DefaultPage); int64(len(ev.messages)) != want {
		c.fault("stream gap: %s got a snapshot of %s at %d with %d messages, want %d", s.Name, ev.space, ev.lastSeq, len(ev.messages), want)
		return
	}
	for i, m := range ev.messages {
		if want := ev.lastSeq - int64(len(ev.messages)) + int64(i) + 1; m.Seq != want {
			c.fault("stream gap: %s got a snapshot of %s at %d with seq %d, want %d", s.Name, ev.space, ev.lastSeq, m.Seq, want)
		}
	}
}

// byAnswer compares posts by the time of their acknowledgement, unknown ones last.
func byAnswer(a, b *Post) int {
	last := func(p *Post) time.Duration {
		if p.Acked == 0 {
			return math.MaxInt64
		}
		return p.Acked
	}
	return cmp.Compare(last(a), last(b))
}
