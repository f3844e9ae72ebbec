package shoaltest

import (
	"time"

	"github.com/shoal-dev/shoal"
)

// holdLease holds or renews a wake lease and prints how a mention reaches the agent.
func holdLease(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	id := shoal.EntityID(c.word())
	ttl, err := c.duration("ttl", 0)
	if err != nil {
		return err
	}
	w, err := s.hub.Entities.HoldWakeLease(ctx, caller, session, id, shoal.WakeLease{
		Via: c.word(), Runner: c.option("runner"), SessionRef: c.option("session"), TTLMs: ttl.Milliseconds(), Busy: c.flag("busy"),
	})
	if err == nil {
		s.printWake(id, w)
	}
	return err
}

func releaseLease(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	return s.hub.Entities.ReleaseWakeLease(ctx, caller, session, shoal.EntityID(c.word()), c.option("session"))
}

// printWakes prints how a mention reaches each of the named agents.
func printWakes(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	for id := c.word(); id != ""; id = c.word() {
		e, err := s.hub.Entities.Get(ctx, caller, session, shoal.EntityID(id))
		if err != nil {
			return err
		}
		if e.Wake == nil {
			s.say("%s has none", id)
		} else {
			s.printWake(e.ID, *e.Wake)
		}
	}
	return nil
}

func (s *stage) printWake(id shoal.EntityID, w shoal.Wake) {
	out := string(id) + " " + string(w.State)
	for _, t := range []struct {
		word string
		at   *shoal.Time
	}{{"since", w.Since}, {"until", w.Until}, {"seen", w.LastSeenAt}} {
		if t.at != nil {
			out += " " + t.word + " " + s.since(t.at.Truncate(time.Millisecond))
		}
	}
	s.say("%s: %s", out, w.Text)
}
