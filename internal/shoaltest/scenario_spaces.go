package shoaltest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/spaces"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

func newSpace(s *stage, c *command) error {
	id, by := c.word(), c.word()
	if by != "by" {
		return fmt.Errorf("usage: space ID by ACTOR")
	}
	caller, session := s.actor(c, c.word())
	n := shoal.NewSpace{ID: shoal.SpaceID(id), Name: id, Members: c.ids("members")}
	if admin := shoal.EntityID(c.option("admin")); admin != "" {
		n.AdminAgentID = &admin
	}
	return s.printSpace(s.hub.Spaces.Create(ctx, caller, session, n, c.option("once")))
}

// printSpace prints a space, or returns the error.
func (s *stage) printSpace(p shoal.Space, err error) error {
	if err == nil {
		s.say("%s", space(p))
	}
	return err
}

func listSpaces(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	all, err := s.hub.Spaces.List(ctx, caller, session, storage.SpaceFilter{})
	for _, p := range all {
		s.say("%s", space(p))
	}
	if err == nil && len(all) == 0 {
		s.say("none")
	}
	return err
}

func getSpace(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	return s.printSpace(s.hub.Spaces.Get(ctx, caller, session, shoal.SpaceID(c.word())))
}

func setSpace(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	var change shoal.SpaceChange
	if c.has("name") {
		name := c.option("name")
		change.Name = &name
	}
	if c.has("admin") {
		admin := shoal.EntityID(c.option("admin"))
		change.AdminAgentID = &admin
	}
	return s.printSpace(s.hub.Spaces.Update(ctx, caller, session, shoal.SpaceID(c.word()), change))
}

func joinSpace(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	return s.printSpace(s.hub.Spaces.Join(ctx, caller, session, shoal.SpaceID(c.word()), shoal.EntityID(c.word())))
}

func leaveSpace(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	return s.printSpace(s.hub.Spaces.Leave(ctx, caller, session, shoal.SpaceID(c.word()), shoal.EntityID(c.word())))
}

func muteSpace(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	off := c.flag("off")
	return s.printSpace(s.hub.Spaces.Mute(ctx, caller, session, shoal.SpaceID(c.word()), !off))
}

func deleteSpace(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	return s.hub.Spaces.Delete(ctx, caller, session, shoal.SpaceID(c.word()))
}

func listMembers(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	all, err := s.hub.Spaces.Members(ctx, caller, session, shoal.SpaceID(c.word()), spaces.MemberFilter{Limit: shoal.MaxPage})
	for _, m := range all {
		by := ""
		if m.AddedBy != nil {
			by = " added by " + string(*m.AddedBy)
		}
		s.say("%s%s", m.EntityID, by)
	}
	return err
}

func closeSpace(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	return s.printSpace(s.hub.Spaces.Close(ctx, caller, session, shoal.SpaceID(c.word()), c.word()))
}

func post(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	to := shoal.SpaceID(c.word())
	d := shoal.Draft{Parts: []shoal.Part{shoal.Text(c.word())}, Mentions: c.ids("mentions")}
	if c.has("reply") {
		id, err := s.messageNamed(session, c.option("reply"))
		if err != nil {
			return err
		}
		d.ReplyTo = id
	}
	if c.flag("quiet") {
		d.TriggerAgents = new(bool)
	}
	once := c.option("once")
	times, err := c.number("times")
	if err != nil {
		return err
	}
	node := s.hub
	if c.flag("elsewhere") {
		node = hub.New(hub.Options{Store: s.store, Bus: s.bus}) // not started: it only posts
	}
	var m shoal.Message
	for range max(times, 1) {
		if m, err = node.Messages.Post(ctx, caller, session, to, d, once); err != nil {
			return err
		}
	}
	skipped := ""
	if len(m.SkippedAgents) > 0 {
		skipped = " skipped=" + join(m.SkippedAgents)
	}
	s.say("%s %s%s", s.name(m.ID), line(m), skipped)
	if c.flag("reach") {
		s.printReach(m)
	}
	return nil
}

var runIDs = regexp.MustCompile(shoal.PrefixRun + `\w+`)

// printReach formats the reach of a posted message and the runs that it starts.
func (s *stage) printReach(m shoal.Message) {
	for _, r := range m.Reach {
		text := fmt.Sprintf("  %s is %s", r.EntityID, r.State)
		if r.Via != nil {
			text += " via " + *r.Via
		}
		if r.LastSeenAt != nil {
			text += " seen " + s.since(r.LastSeenAt.Time)
		}
		if r.Text != "" {
			text += ": " + runIDs.ReplaceAllStringFunc(r.Text, func(id string) string { return s.runName(shoal.RunID(id)) })
		}
		s.say("%s", text)
	}
	for _, r := range m.Runs {
		s.say("  starts %s of %s", s.runName(r.RunID), r.AgentID)
	}
}

func read(s *stage, c *command) (err error) {
	caller, session := s.actor(c, c.word())
	page := storage.Page{}
	limit, err := c.number("limit")
	if err != nil {
		return err
	}
	page.Limit = shoal.PageLimit(int(limit), shoal.DefaultPage)
	if page.Before, err = c.number("before"); err != nil {
		return err
	}
	if page.After, err = c.number("after"); err != nil {
		return err
	}
	messages, err := s.hub.Messages.Read(ctx, caller, session, shoal.SpaceID(c.word()), page)
	for _, m := range messages {
		s.say("%s", line(m))
	}
	if err == nil && len(messages) == 0 {
		s.say("nothing")
	}
	return err
}

func markRead(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	in := shoal.SpaceID(c.word())
	seq, err := strconv.ParseInt(c.word(), 10, 64)
	if err != nil {
		return err
	}
	return s.printSpace(s.hub.Inbox.MarkRead(ctx, caller, session, in, seq))
}

func markUnread(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	in := shoal.SpaceID(c.word())
	seq, err := strconv.ParseInt(c.word(), 10, 64)
	if err != nil {
		return err
	}
	return s.printSpace(s.hub.Inbox.MarkUnread(ctx, caller, session, in, seq))
}

func findMessages(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	page, err := s.hub.Messages.Search(ctx, caller, session, spaces.Search{
		Query: c.word(), Space: shoal.SpaceID(c.option("space")), Sort: spaces.SearchSort(c.option("sort")), Limit: shoal.DefaultPage,
	})
	for _, h := range page.Hits {
		marked := ""
		for _, m := range h.Matches {
			marked += fmt.Sprintf(" [%s]", h.Highlight[m[0]:m[1]])
		}
		s.say("%s%s", line(h.Message), marked)
	}
	if err == nil && len(page.Hits) == 0 {
		s.say("nothing")
	}
	return err
}

func deleteMessage(s *stage, c *command) error {
	caller, session := s.actor(c, c.word())
	id, err := s.messageNamed(session, c.word())
	if err != nil {
		return err
	}
	return s.hub.Messages.Delete(ctx, caller, session, id)
}

// messageNamed returns the message that was shown under a name, or that is at SPACE#SEQ.
func (s *stage) messageNamed(session shoal.SessionID, name string) (shoal.MessageID, error) {
	for id, is := range s.messages {
		if is == name {
			return id, nil
		}
	}
	space, seq, ok := strings.Cut(name, "#")
	if !ok {
		return shoal.MessageID(name), nil
	}
	after, err := strconv.ParseInt(seq, 10, 64)
	if err != nil {
		return "", err
	}
	found, err := s.hub.Messages.Read(ctx, admin, session, shoal.SpaceID(space), storage.Page{After: after - 1, Limit: 1})
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0].ID, nil
}
