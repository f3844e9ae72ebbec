package shoaltest

import (
	"time"

	"github.com/shoal-dev/shoal"
)

func editMessage(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	id, err := s.messageNamed(session, c.word())
	if err != nil {
		return err
	}
	e := shoal.MessageEdit{Parts: []shoal.Part{shoal.Text(c.word())}}
	if c.has("mentions") {
		e.Mentions = append([]shoal.EntityID{}, c.ids("mentions")...)
	}
	if c.has("read") {
		ago, err := c.duration("read", 0)
		if err != nil {
			return err
		}
		at := shoal.At(time.Now().Add(-ago))
		e.UpdatedAt = &at
	}
	m, err := s.hub.Messages.Edit(ctx, caller, session, id, e)
	if err == nil {
		s.say("%s %s", s.name(m.ID), line(m))
	}
	return err
}

func reactTo(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	id, err := s.messageNamed(session, c.word())
	if err != nil {
		return err
	}
	apply, emoji := s.hub.Messages.React, c.word()
	if c.flag("remove") {
		apply = s.hub.Messages.Unreact
	}
	m, err := apply(ctx, caller, session, id, emoji)
	if err == nil {
		s.say("%s %s", s.name(m.ID), line(m))
	}
	return err
}

func messageHistory(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	id, err := s.messageNamed(session, c.word())
	if err != nil {
		return err
	}
	before, err := s.hub.Messages.Versions(ctx, caller, session, id, 0, shoal.MaxVersions)
	for _, v := range before {
		s.say("  %d %q since %s%s", v.Version, shoal.Message{Parts: v.Parts}.Text(), s.since(v.At.Time), mentionsOf(v.Mentions))
	}
	if err == nil && len(before) == 0 {
		s.say("  no versions")
	}
	return err
}

func mentionsOf(ids []shoal.EntityID) string {
	if len(ids) == 0 {
		return ""
	}
	return " mentions=" + join(ids)
}
