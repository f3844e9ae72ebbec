package shoaltest

import (
	"encoding/json"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// edited is a message that says something else from a time on.
func edited(m shoal.Message, text string, at int, mentions ...shoal.EntityID) shoal.Message {
	part := shoal.Text(text)
	part.ID, part.Status = "prt_1", shoal.PartDone
	m.Parts, m.Mentions = []shoal.Part{part}, append([]shoal.EntityID{}, mentions...)
	m.UpdatedAt, m.EditedAt = storeTime(at), ref(storeTime(at))
	return m
}

// messageIn is the data of an event about a message.
func messageIn(c *storeCase, e hub.StoredEvent) (d shoal.MessageData) {
	c.Helper()
	if err := json.Unmarshal(e.Data, &d); err != nil {
		c.Fatalf("the event is %s: %v", e.Data, err)
	}
	return d
}

// editTests say what an edit changes and what it keeps.
var editTests = map[string]func(*storeCase){
	"every read shows what it says now": func(c *storeCase) {
		c.entities("ann", "bob", "eve")
		c.space("shop", "ann", "bob", "eve")
		m := c.message("shop", "ann", "green tea", "bob", "eve")
		m.Seq = 1
		key := hub.PostKey{Scope: "entity:ann", Key: "k1", Hash: "h1"}
		c.update(func(tx hub.Tx) error {
			if err := tx.PostMessage(m, key); err != nil {
				return err
			}
			_, err := tx.Deliver(m)
			return err
		})
		feedIndex(c)
		now := edited(m, "black coffee", 50, "bob")
		c.update(func(tx hub.Tx) error { return tx.EditMessage(now) })
		same(c, "the message", seen(c, func(tx hub.Tx) (shoal.Message, error) { return tx.MessageByID(c.session, m.ID) }), now)
		same(c, "the timeline", seen(c, func(tx hub.Tx) ([]shoal.Message, error) { return tx.Messages(c.session, "shop", hub.Page{Limit: 9}) }), []shoal.Message{now})
		same(c, "under its key", seen(c, func(tx hub.Tx) (shoal.Message, error) {
			found, _, err := tx.MessageByKey(c.session, "entity:ann", "k1")
			return found, err
		}), now)
		for _, who := range []struct {
			id     shoal.EntityID
			reason shoal.Reason
		}{{"bob", shoal.ReasonMention}, {"eve", shoal.ReasonMessage}} {
			unread := seen(c, func(tx hub.Tx) ([]hub.InboxEntry, error) {
				return tx.Unread(c.session, who.id, hub.InboxFilter{Kind: shoal.WaitMessages}, 9)
			})
			if len(unread) != 1 || unread[0].Reason != who.reason || unread[0].Message.Text() != "black coffee" {
				c.Errorf("unread of %s is %+v", who.id, unread)
			}
		}
		for query, want := range map[string]int{"green": 0, "tea": 0, "black": 1, "coffee": 1} {
			if found := findAll(c, hub.SearchQuery{Query: Words(query), Limit: 9}); len(found) != want {
				c.Errorf("a search for %q finds %+v", query, found)
			}
		}
		feedIndex(c)
		if found := findAll(c, hub.SearchQuery{Query: Words("coffee"), Limit: 9}); len(found) != 1 {
			c.Errorf("once it is indexed, a search finds %+v", found)
		}
	},

	"events show it as it is when they are read": func(c *storeCase) {
		c.entities("ann")
		c.space("shop", "ann")
		m := c.say("shop", "ann", "one")
		for i, text := range []string{"two", "three"} {
			c.update(func(tx hub.Tx) error {
				if err := tx.EditMessage(edited(m, text, 50+i)); err != nil {
					return err
				}
				_, err := tx.AppendEvent(hub.StoredEvent{
					Session: c.session, Space: "shop", Type: shoal.EventMessageUpdated, Message: m.ID,
					Data: []byte(fmt.Sprintf(`{"type":"message.updated","spaceId":"shop","runId":null,"at":%q}`, storeTime(50+i))),
				})
				return err
			})
		}
		events := seen(c, func(tx hub.Tx) ([]hub.StoredEvent, error) {
			return tx.Events(c.session, hub.EventFilter{Space: "shop"}, 0, 9)
		})
		if len(events) != 3 {
			c.Fatalf("the events are %+v", events)
		}
		for i, e := range events {
			d := messageIn(c, e)
			if d.Message.Text() != "three" || d.Type != e.Type || *d.SpaceID != "shop" {
				c.Errorf("event %d is %s", i, e.Data)
			}
		}
		c.update(func(tx hub.Tx) error { return tx.EraseMessage(c.session, m.ID, storeTime(60)) })
		for _, e := range seen(c, func(tx hub.Tx) ([]hub.StoredEvent, error) {
			return tx.Events(c.session, hub.EventFilter{Space: "shop"}, 0, 9)
		}) {
			if d := messageIn(c, e); d.Message.DeletedAt == nil {
				c.Errorf("after the deletion an event is %s", e.Data)
			}
		}
	},

	"its versions are kept until it is deleted": func(c *storeCase) {
		c.entities("ann", "bob")
		c.space("shop", "ann", "bob")
		m := c.message("shop", "ann", "v1", "bob")
		m.Seq = 1
		c.update(func(tx hub.Tx) error { return tx.PostMessage(m, hub.PostKey{}) })
		versions := func(before int64, limit int) []shoal.MessageVersion {
			return seen(c, func(tx hub.Tx) ([]shoal.MessageVersion, error) {
				return tx.MessageVersions(c.session, m.ID, before, limit)
			})
		}
		same(c, "the versions of one that was not edited", versions(0, 9), []shoal.MessageVersion{})
		for i := 2; i <= shoal.MaxVersions+3; i++ {
			c.update(func(tx hub.Tx) error { return tx.EditMessage(edited(m, fmt.Sprintf("v%d", i), 50+i)) })
		}
		all := versions(0, 2*shoal.MaxVersions)
		if len(all) != shoal.MaxVersions {
			c.Errorf("%d versions are kept", len(all))
		}
		newest, oldest := all[0], all[len(all)-1]
		if newest.Version != shoal.MaxVersions+2 || (shoal.Message{Parts: newest.Parts}).Text() != fmt.Sprintf("v%d", newest.Version) || newest.At != storeTime(50+shoal.MaxVersions+2) {
			c.Errorf("the newest version is %+v", newest)
		}
		same(c, "the first version", oldest, shoal.MessageVersion{
			Version: 1, At: m.CreatedAt, Mentions: []shoal.EntityID{"bob"}, DroppedMentions: []shoal.EntityID{}, Parts: m.Parts,
		})
		same(c, "a page", versions(all[2].Version, 2), all[3:5])
		c.update(func(tx hub.Tx) error { return tx.EraseMessage(c.session, m.ID, storeTime(200)) })
		same(c, "the versions of a deleted one", versions(0, 9), []shoal.MessageVersion{})
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.EditMessage(edited(m, "again", 201)) })
	},

	"reactions stay through an edit and go with the message": func(c *storeCase) {
		c.entities("ann")
		c.space("shop", "ann")
		m := c.say("shop", "ann", "tea?")
		m.Reactions = []shoal.Reaction{{Emoji: "👍🏽", EntityIDs: []shoal.EntityID{"ann", "bob"}}, {Emoji: "❤️", EntityIDs: []shoal.EntityID{"bob"}}}
		read := func() shoal.Message {
			return seen(c, func(tx hub.Tx) (shoal.Message, error) { return tx.MessageByID(c.session, m.ID) })
		}
		c.update(func(tx hub.Tx) error { return tx.SetReactions(c.session, m.ID, m.Reactions) })
		same(c, "the message", read(), m)
		c.update(func(tx hub.Tx) error { return tx.EditMessage(edited(m, "coffee?", 50)) })
		same(c, "the reactions", read().Reactions, m.Reactions)
		c.update(func(tx hub.Tx) error { return tx.SetReactions(c.session, m.ID, nil) })
		same(c, "without", read().Reactions, []shoal.Reaction{})
		c.update(func(tx hub.Tx) error {
			if err := tx.SetReactions(c.session, m.ID, m.Reactions); err != nil {
				return err
			}
			return tx.EraseMessage(c.session, m.ID, storeTime(60))
		})
		same(c, "those of a deleted message", read().Reactions, []shoal.Reaction{})
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.SetReactions(c.session, "msg_none", m.Reactions) })
	},

	"a reply keeps what it replies to": func(c *storeCase) {
		c.entities("ann")
		c.space("shop", "ann")
		m := c.say("shop", "ann", "tea?")
		reply := c.message("shop", "ann", "yes")
		reply.ReplyTo = &m.ID
		reply = c.post(reply)
		c.update(func(tx hub.Tx) error { return tx.EraseMessage(c.session, m.ID, storeTime(50)) })
		same(c, "the reply", seen(c, func(tx hub.Tx) (shoal.Message, error) { return tx.MessageByID(c.session, reply.ID) }), reply)
		if got := seen(c, func(tx hub.Tx) (shoal.Message, error) { return tx.MessageByID(c.session, m.ID) }); got.ReplyTo != nil {
			c.Errorf("the first message is a reply to %s", *got.ReplyTo)
		}
	},

	"only posted messages are edited": func(c *storeCase) {
		c.space("shop")
		composed := c.wrote("shop", "r1")
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.EditMessage(edited(composed, "else", 50)) })
		missing := composed
		missing.ID = "msg_none"
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.EditMessage(edited(missing, "else", 50)) })
	},
}
